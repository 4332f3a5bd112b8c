"""Page of a reproduced paper: the figures of all its studies, published beside simulated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hostnet.report.html import Child, element, section, table
from hostnet.report.page import page
from hostnet.report.study_page import charts_of_parts, leading_charts


def paper_page(title: str, source: str, studies: Sequence[dict[str, Any]]) -> str:
    """Returns the page. `studies` are the summaries of the studies, whose run directories are beside the page."""
    counts = [Counter(row["verdict"] for row in study["rows"]) for study in studies]
    passed, failed = (sum(count[verdict] for count in counts) for verdict in ("pass", "fail"))
    head = element(
        "header",
        element("p", f"Published and simulated: {source}", class_="eyebrow"),
        element("h1", title),
        element("p", f"{passed} of {passed + failed} published values are met within their tolerance.", class_="lead"),
    )
    rows = [study_row(study, count) for study, count in zip(studies, counts, strict=True)]
    columns = ["Study", "Within tolerance", "Mean error on target", "Published in"]
    charts: list[Child] = []
    for study in studies:
        heading = section(study["study"]["title"]) if len(studies) > 1 else None
        charts += [heading, *leading_charts(study), *charts_of_parts(study)]
    return page(f"{title}: hostnet", head, section("Studies", table(columns, rows, label="Studies")), *charts)


def study_row(study: dict[str, Any], count: Counter[str]) -> list[Child]:
    """Returns the row of a study, with a link to its report."""
    about, groups = study["study"], study["groups"]
    return [
        element("a", about["title"], href=f"{about['name']}/report.html"),
        f"{count['pass']} of {count['pass'] + count['fail']}",
        f"{sum(group['on_target'] for group in groups)} of {len(groups)}",
        about["source"],
    ]

"""Section on the page of a comparison with the most important results of both runs side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.comparison.differences import HEADLINES, INTERVALS, subject_text
from hostnet.comparison.words import column_words
from hostnet.report.charts import WIDTH_OF_WIDE
from hostnet.report.html import Html, element, section
from hostnet.report.numbers import MISSING, number, with_ci95
from hostnet.report.point_charts import bar_swatch, point_legend
from hostnet.report.rows import Bar, BarGroup, bar_rows
from hostnet.report.svg import WIDTH
from hostnet.tables import rows_by_key
from hostnet.units import readable_unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostnet.comparison.compare_runs import Comparison

    Row = dict[str, Any]
    Pair = tuple[Row, Row]

LIMITS = {"workloads": "limited_by", "limits": "limit"}
"""Columns that name a limit, by table."""

TEXTS = {"limited_by"}
"""Headline columns that are text."""

FEW = 2
"""Largest number of charts that are drawn large."""

ROW = 4
"""Largest number of charts that share the width of the page."""

GROUPS_MAX = 10
"""Maximum number of subjects in a chart."""


def headline_section(found: Comparison) -> Html | None:
    """Creates a chart for each important metric, and a line for each limit; None without any."""
    metrics = [
        (table, column)
        for table, columns in HEADLINES.items()
        for column in sorted(
            columns - TEXTS, key=lambda column: (column not in INTERVALS, column.endswith("ns"), column)
        )
        if any(row.get(column) for _, pair in pairs_of(found, table) for row in pair)
    ]
    few = len(metrics) <= FEW
    cards = [metric_card(found, *metric, WIDTH_OF_WIDE if few else WIDTH) for metric in metrics]
    limits = [element("li", text) for text in limit_texts(found)]
    if not cards and not limits:
        return None
    legend = point_legend("", ["A", "B"], bar_swatch)
    grid = "pair" if few else "many row" if len(cards) <= ROW else "many"
    charts = (legend, element("div", *cards, class_=grid)) if cards else ()
    return section("Side by side", *charts, element("ul", *limits, class_="notes") if limits else None)


def pairs_of(found: Comparison, table: str) -> Iterator[tuple[str, Pair]]:
    """Yields the rows of a table in both runs by subject; a row that one run lacks is empty. Parts are left out."""
    rows = [rows_by_key(table, side.tables.get(table, ())) for side in (found.a, found.b)]
    for key in {**rows[0], **rows[1]}:
        pair = rows[0].get(key, {}), rows[1].get(key, {})
        row = pair[0] or pair[1]
        if row.get("part", "all") == "all":
            yield subject_text(table, row, key), pair


def metric_card(found: Comparison, table: str, column: str, width: int) -> Html:
    """Creates the chart of a metric."""
    named, unit = column_words(column)
    pairs = [(name, pair) for name, pair in pairs_of(found, table) if any(row.get(column) for row in pair)]
    shown = pairs[:GROUPS_MAX]
    largest = max(abs(row[column]) for _, pair in shown for row in pair if row.get(column))
    unit, factor = readable_unit(unit, largest)
    groups = [BarGroup(name, tuple(bars_of(name, pair, column, unit, factor))) for name, pair in shown]
    title = ", ".join(filter(None, (f"{named[:1].upper()}{named[1:]}", unit)))
    return element(
        "figure", element("figcaption", element("b", title)), bar_rows(title, groups, width=width), class_="card"
    )


def bars_of(name: str, pair: Pair, column: str, unit: str, factor: float) -> Iterator[Bar]:
    """Yields the bars of both runs."""
    for run, kind, row in zip("AB", "ab", pair, strict=True):
        value, ci95 = (row.get(key) for key in (column, INTERVALS.get(column, "")))
        if value is None:
            yield Bar(kind, None, MISSING, "")
            continue
        half = None if ci95 is None else ci95 * factor
        text = f"{run}: {name}\n{with_ci95(value * factor, half)} {unit}".rstrip()
        yield Bar(kind, value * factor, number(value * factor), text, half)


def limit_texts(found: Comparison) -> Iterator[str]:
    """Yields a sentence for each subject whose limit is known in both runs."""
    for table, column in LIMITS.items():
        for name, (a, b) in pairs_of(found, table):
            before, after = a.get(column), b.get(column)
            if before and after:
                same = f"{name} is limited by {before} in both runs."
                yield same if before == after else f"{name} is limited by {before} in A and by {after} in B."

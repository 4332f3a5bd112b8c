"""Results in one line, and as the tables that notebooks show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.cluster_view import limit_reasons, reason_text, request_view, traffic_view
from hostnet.pools import with_directions
from hostnet.report.html import Html, element, join
from hostnet.report.numbers import MISSING, number, percent, time_from_ns, with_ci95
from hostnet.report.subjects import SUBJECTS, subject_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hostnet.view import View

    Row = Mapping[str, Any]

NAMED_MAX = 4
"""Maximum number of workloads or classes in a line, which counts the others."""

ROWS_MAX = 40
"""Maximum number of rows of a sweep that are shown."""

WORKLOADS = ("workload", "GB/s", "latency ns", "P50", "P99", "limited by")


def one_line(kind: str, summary: Row) -> str:
    """Returns the most important results in one line, for `repr`."""
    if "classes" in summary:
        texts = [f"{row['class']} {number(row['goodput_gbps'])} Gbps" for row in summary["classes"]]
    else:
        texts = [f"{row['workload']} {number(row['throughput_gb_per_s'])} GB/s" for row in summary["workloads"]]
    if len(texts) > NAMED_MAX:
        texts = [*texts[:NAMED_MAX], f"{len(texts) - NAMED_MAX} more"]
    return f"<{kind} {summary['name']}{_provenance(summary)}: {', '.join(texts)}>"


def run_html(summary: Row, notes: Sequence[str]) -> str:
    """Returns the results of a run: tables, limits and notes."""
    if "classes" in summary:
        tables = [
            _view_table(make(summary[name])) for make, name in ((traffic_view, "classes"), (request_view, "latencies"))
        ]
        limits = [reason_text(*reason) for reason in limit_reasons(summary)]
    else:
        tables, limits = (
            [_table(WORKLOADS, map(_workload_cells, summary["workloads"]))],
            [*map(with_directions, summary["limits"])],
        )
    heading = element("p", element("b", summary["name"]), f"{_provenance(summary)}{_length(summary)}")
    return _block(heading, *tables, _list(limits), _list(notes))


def sweep_html(headline: str, paths: Sequence[str], rows: Sequence[Row], total: int, notes: Sequence[str]) -> str:
    """Returns the results of a sweep. `rows` are the first of `total` rows."""
    subject = subject_of(rows[0] if rows else ())
    if subject == "workload":
        columns = [*paths, *WORKLOADS]
        cells = [[*(row[path] for path in paths), *_workload_cells(row)] for row in rows]
    else:
        columns = [*paths, subject, *SUBJECTS[subject]]
        shown = SUBJECTS[subject].values()
        cells = [[*(row[path] for path in paths), row[subject], *(number(row[one]) for one in shown)] for row in rows]
    hidden = [f"{total - len(rows)} more rows are in the table"] if total > len(rows) else []
    return _block(element("p", headline), _table(columns, cells), _list([*notes, *hidden]))


def _provenance(summary: Row) -> str:
    """Describes the engine and seed of a run, and says if it was stopped."""
    how = ", predicted" if summary["engine"] == "predict" else f", seed {summary['seed']}"
    return how if summary["complete"] else f"{how}, stopped"


def _length(summary: Row) -> str:
    """Describes the length of the measurement, or the error of a prediction."""
    if "uncertainty" in summary:
        return (
            f": throughput is off by less than {percent(summary['uncertainty']['throughput_95'])} in 95 of 100 servers"
        )
    window, warm_up = (time_from_ns(summary[name]) for name in ("window_ns", "warm_up_ns"))
    return f", {window} measured after {warm_up} of warm-up"


def _workload_cells(row: Row) -> list[str]:
    """Formats the cells of a workload."""
    return [
        row["workload"],
        with_ci95(row["throughput_gb_per_s"], row["throughput_ci95"]),
        with_ci95(row["latency_mean_ns"], row["latency_ci95"]),
        number(row["latency_p50_ns"]),
        number(row["latency_p99_ns"]),
        row["limited_by"] or MISSING,
    ]


def _view_table(view: View) -> Html | None:
    """Creates the table of a view, unless it is empty."""
    shown = view.without_empty()
    cells = [[cell if isinstance(cell, str) else number(cell) for cell in row] for row in shown.cells()]
    return _table([column.heading for column in shown.columns], cells) if cells else None


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Html:
    """Creates a table."""
    heads = element("tr", *(element("th", column) for column in columns))
    body = [element("tr", *(element("td", str(cell)) for cell in row)) for row in rows]
    return element("table", element("thead", heads), element("tbody", *body))


def _list(lines: Sequence[str]) -> Html | None:
    """Creates a list, unless it is empty."""
    return element("ul", *(element("li", line) for line in lines)) if lines else None


def _block(*content: Html | None) -> str:
    """Wraps content in a block."""
    return str(element("div", join(content)))

"""Results in a line, and as what a notebook shows of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.cluster_view import reason_text, reasons, requests, traffic
from hostnet.pools import with_directions
from hostnet.report.html import Html, element, join
from hostnet.report.numbers import MISSING, number, percent, time_from_ns, with_ci95
from hostnet.report.subjects import SUBJECTS, subject_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hostnet.view import View

    Row = Mapping[str, Any]

NAMED_MAX = 4
"""Workloads or classes of traffic that stand in a line; it counts the rest."""

ROWS_MAX = 40
"""Rows of a sweep that are shown."""

WORKLOADS = ("workload", "GB/s", "latency ns", "P50", "P99", "limited by")


def in_a_line(kind: str, summary: Row) -> str:
    """The numbers that are asked for first, for `repr`."""
    if "classes" in summary:
        told = [f"{row['class']} {number(row['goodput_gbps'])} Gbps" for row in summary["classes"]]
    else:
        told = [f"{row['workload']} {number(row['throughput_gb_per_s'])} GB/s" for row in summary["workloads"]]
    if len(told) > NAMED_MAX:
        told = [*told[:NAMED_MAX], f"{len(told) - NAMED_MAX} more"]
    return f"<{kind} {summary['name']}{_made(summary)}: {', '.join(told)}>"


def run_html(summary: Row, notes: Sequence[str]) -> str:
    """What was run, what came of it, what limits it, and what to know before trusting it."""
    if "classes" in summary:
        tables = [_view_table(make(summary[name])) for make, name in ((traffic, "classes"), (requests, "latencies"))]
        limits = [reason_text(*reason) for reason in reasons(summary)]
    else:
        tables, limits = (
            [_table(WORKLOADS, map(_workload_cells, summary["workloads"]))],
            [*map(with_directions, summary["limits"])],
        )
    heading = element("p", element("b", summary["name"]), f"{_made(summary)}{_length(summary)}")
    return _block(heading, *tables, _list(limits), _list(notes))


def sweep_html(headline: str, paths: Sequence[str], rows: Sequence[Row], total: int, notes: Sequence[str]) -> str:
    """What was swept, and what each workload had of it. Of `total` rows, `rows` has the first."""
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


def _made(summary: Row) -> str:
    """How it was made: predicted, or simulated with a seed, and perhaps stopped."""
    how = ", predicted" if summary["engine"] == "predict" else f", seed {summary['seed']}"
    return how if summary["complete"] else f"{how}, stopped"


def _length(summary: Row) -> str:
    """How long was measured; how far off a prediction may be."""
    if "uncertainty" in summary:
        return (
            f": throughput is off by less than {percent(summary['uncertainty']['throughput_95'])} in 95 of 100 servers"
        )
    window, warm_up = (time_from_ns(summary[name]) for name in ("window_ns", "warm_up_ns"))
    return f", {window} measured after {warm_up} of warm-up"


def _workload_cells(row: Row) -> list[str]:
    return [
        row["workload"],
        with_ci95(row["throughput_gb_per_s"], row["throughput_ci95"]),
        with_ci95(row["latency_mean_ns"], row["latency_ci95"]),
        number(row["latency_p50_ns"]),
        number(row["latency_p99_ns"]),
        row["limited_by"] or MISSING,
    ]


def _view_table(view: View) -> Html | None:
    shown = view.without_empty()
    cells = [[cell if isinstance(cell, str) else number(cell) for cell in row] for row in shown.cells()]
    return _table([column.heading for column in shown.columns], cells) if cells else None


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Html:
    heads = element("tr", *(element("th", column) for column in columns))
    body = [element("tr", *(element("td", str(cell)) for cell in row)) for row in rows]
    return element("table", element("thead", heads), element("tbody", *body))


def _list(lines: Sequence[str]) -> Html | None:
    return element("ul", *(element("li", line) for line in lines)) if lines else None


def _block(*content: Html | None) -> str:
    return str(element("div", join(content)))

"""Results of a run or a prediction as the output of a cell."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from hostnet.cluster_view import request_view, traffic_view
from hostnet.notes import notes_of
from hostnet.report.brief import provenance
from hostnet.report.cluster_page import about
from hostnet.report.clusters.inside import inside_section
from hostnet.report.clusters.jobs import job_sections
from hostnet.report.clusters.network_section import network_section
from hostnet.report.html import Cell, details, element
from hostnet.report.notebook.block import block, headline, notes_list, small_table
from hostnet.report.numbers import MISSING, number, percent, time_from_ns, with_ci95
from hostnet.report.server import markup, server_report

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from hostnet.report.html import Html
    from hostnet.report.load import RunFiles
    from hostnet.view import View

    Row = Mapping[str, Any]

WORKLOADS = ("workload", "GB/s", "latency ns", "P50", "P99", "limited by")
"""Headings of the cells of `workload_cells`."""

PICTURES_MAX = 4
"""Maximum number of servers of a cluster whose picture is shown."""


def run_block(run: RunFiles, servers: Mapping[str, RunFiles], page: Path | None = None) -> str:
    """Returns the output of a cell. `servers` are those of a cluster that are simulated line by line, by host."""
    summary = run.summary
    content = cluster_parts(run, servers) if run.is_cluster else server_parts(run)
    facts = f"{provenance(summary).removeprefix(', ')}{length_text(summary)}"
    return block(headline(str(summary["name"]), facts), *content, notes_list(notes_of(summary)), page=page)


def server_parts(run: RunFiles) -> Iterator[Html | None]:
    """Yields the parts of the output for a server: limits, the picture of the host, and the table of workloads."""
    report = server_report(run)
    yield element("p", report.description, class_="sub")
    yield markup(report.results)
    yield host_picture(run, "The host network")
    yield small_table(WORKLOADS, [workload_cells(row) for row in run.summary["workloads"]])


def cluster_parts(run: RunFiles, servers: Mapping[str, RunFiles]) -> Iterator[Html | None]:
    """Yields the parts of the output for hosts on a network: jobs, network and limits, tables, pictures of servers."""
    yield element("p", about(run.summary), class_="sub")
    yield from job_sections(run)
    yield network_section(run)
    for view in (traffic_view(run.summary["classes"]), request_view(run.summary["latencies"])):
        yield view_table(view)
    inside = inside_section(run)
    yield None if inside is None else details("Inside the servers", inside)
    for host, server in islice(servers.items(), PICTURES_MAX):
        yield host_picture(server, f"The host network of {host}", folded=len(servers) > 1)


def host_picture(run: RunFiles, title: str, *, folded: bool = False) -> Html | None:
    """Creates the picture of a server, as its page has it; that of several sockets is folded, as it is long."""
    picture = markup(server_report(run).picture)
    several = ((run.manifest.get("config") or {}).get("server") or {}).get("sockets", 1) > 1
    return details(title, picture) if folded or several else picture


def view_table(view: View) -> Html | None:
    """Creates the table of a view, unless it is empty."""
    shown = view.without_empty()
    cells = [[cell if isinstance(cell, str) else number(cell) for cell in row] for row in shown.cells()]
    texts = sum(column.text for column in shown.columns)
    headings = [Cell(column.heading, about=view.definition(column)) for column in shown.columns]
    return small_table(headings, cells, texts=texts)


def length_text(summary: Row) -> str:
    """Describes the length of the measurement, or the error of a prediction."""
    if "uncertainty" in summary:
        return (
            f", throughput is off by less than {percent(summary['uncertainty']['throughput_95'])} in 95 of 100 servers"
        )
    window, warm_up = (time_from_ns(summary[name]) for name in ("window_ns", "warm_up_ns"))
    return f", {window} measured after {warm_up} of warm-up"


def workload_cells(row: Row) -> list[str]:
    """Formats the cells of a workload."""
    return [
        row["workload"],
        with_ci95(row["throughput_gb_per_s"], row["throughput_ci95"]),
        with_ci95(row["latency_mean_ns"], row["latency_ci95"]),
        number(row["latency_p50_ns"]),
        number(row["latency_p99_ns"]),
        row["limited_by"] or MISSING,
    ]

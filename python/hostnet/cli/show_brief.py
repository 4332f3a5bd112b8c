"""Output of `hostnet run --brief`: throughput and limit of each workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from hostnet.cli.show import (
    NOTHING,
    buffered_console,
    headline,
    new_table,
    number,
    print_notes,
    print_path,
    print_tables,
    rate,
    with_interval,
)
from hostnet.limit_names import limit_notes
from hostnet.notes import notes_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from hostnet.terminal.layout import WideTable

    Row = dict[str, Any]


def print_brief(summary: Row, path: Path) -> None:
    """Prints a single table of a run and its notes; the last line is the path of its directory."""
    with buffered_console() as console:
        console.print(Text(headline(summary), style="bold"))
        print_tables(console, class_table(summary) if "classes" in summary else workload_table(summary))
        limits = limit_notes(row.get("limited_by") for row in summary.get("workloads", ()))
        print_notes(console, [*limits, *notes_of(summary)])
        print_path(console, path)


def workload_table(summary: Row) -> WideTable:
    """Creates the table of throughput, latency and limit by workload."""
    table = new_table("workload", "GB/s", "latency ns", "limited by", left=(0, 3))
    for row in summary["workloads"]:
        table.add_row(
            row["workload"],
            rate(row, "throughput_gb_per_s", "throughput_ci95"),
            with_interval(row["latency_mean_ns"], row["latency_ci95"]),
            row["limited_by"] or NOTHING,
        )
    return table


def class_table(summary: Row) -> WideTable:
    """Creates the table of goodput, tail latency, iteration time and limit by traffic class."""
    from hostnet.cluster_view import percentiles

    tails = {row["class"]: percentiles(row).get("p99_us") for row in summary["latencies"]}
    iterations = {row["job"]: row["iteration_us"] for row in summary.get("jobs", ())}
    limits = {row["class"]: row for row in summary["limits"]}
    columns: dict[str, Mapping[str, Any]] = {"P99 µs": tails, "iteration µs": iterations}
    shown = {heading: values for heading, values in columns.items() if any(values.values())}
    table = new_table("class", "Gbps", *shown, "limited by", left=(0, 2 + len(shown)))
    for row in summary["classes"]:
        name = row["class"]
        limit = limits.get(name, {})
        table.add_row(
            name,
            rate(row, "goodput_gbps", "goodput_ci95"),
            *(number(values.get(name)) for values in shown.values()),
            ", ".join(filter(None, (limit.get("limit"), limit.get("place")))) or NOTHING,
        )
    return table

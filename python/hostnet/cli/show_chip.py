"""Output of `hostnet run` for chips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from hostnet.cli.show import (
    NOTHING,
    buffered_console,
    new_table,
    percent,
    print_notes,
    print_path,
    print_tables,
    time_text,
)
from hostnet.report.chip_descriptions import chip_headline, chip_notes, chip_reason, chip_workload
from hostnet.units import format_count

if TYPE_CHECKING:
    from pathlib import Path

    from hostnet.chips import ChipResults

    Summary = dict[str, Any]

LINKS = 6
"""Number of links that are shown; all of them are in summary.json."""

CHIPS = 16
"""Number of chips of a rack that are shown: of more, those with the smallest and the largest payload."""


def print_chip(results: ChipResults, path: Path) -> None:
    """Prints the results of a chip; the last line is the path of its directory."""
    summary = results.summary
    with buffered_console() as console:
        console.print(Text(chip_headline(summary), style="bold"))
        console.print(Text(chip_workload(summary)))
        console.print(Text(measured_time_text(results)))
        print_tables(console, latency_table(summary), bandwidth_table(summary))
        if summary["operations"]:
            print_tables(console, breakdown_table(summary))
        print_tables(console, link_table(summary))
        if "rack" in summary:
            print_tables(console, rack_table(summary["chips"]))
        console.print()
        console.print(Text(chip_reason(summary)))
        print_notes(console, chip_notes(summary))
        print_path(console, path)


def measured_time_text(results: ChipResults) -> str:
    """Describes the simulated time."""
    summary = results.summary
    window = f"{summary['operations']} operations in a window of {time_text(summary['window_ns'])}"
    pace = format_count(results.native.cycles / max(results.wall_s, 1e-9), "cycles/s")
    return f"{window}, after {time_text(summary['simulated_ns'] - summary['window_ns'])}; {pace}"


def fixed_point(value: float | None, digits: int = 1) -> str:
    """Formats a value with a fixed number of decimals."""
    return NOTHING if value is None else f"{value:.{digits}f}"


def latency_table(summary: Summary) -> Table:
    """Creates the table of latencies of operations, and of requests from the other chip."""
    table = new_table("latency", "mean", "P50", "P99", "max", "mean ns", left=(0,))
    for name, key in (("operation, cycles", "latency"), ("remote request here (RRPP), cycles", "rrpp")):
        row = summary[key] or {}
        cycles = (fixed_point(row.get(f"{what}_cycles")) for what in ("mean", "p50", "p99", "max"))
        table.add_row(name, *cycles, fixed_point(row.get("mean_ns")))
    return table


def bandwidth_table(summary: Summary) -> Table:
    """Creates the table of payload bandwidth and of the traffic that it causes on the chip."""
    rates, noc = summary["bandwidth"], summary["noc"]
    table = new_table("GB/s", "payload", "in", "out", "on the NoC", "flits per line", left=(0,))
    table.add_row(
        "bandwidth",
        fixed_point(rates["application_gb_per_s"]),
        fixed_point(rates["in_gb_per_s"]),
        fixed_point(rates["out_gb_per_s"]),
        fixed_point(noc["gb_per_s"]),
        fixed_point(noc["flits_per_line"]),
    )
    return table


def breakdown_table(summary: Summary) -> Table:
    """Creates the table of the parts of the mean latency; the shown values add up to the shown total."""
    breakdown = summary["breakdown"]
    table = new_table("part of an operation", "cycles", "ns", "share", left=(0,))
    per_ns = summary["clock_ghz"]
    tenths = round_to_sum([row["mean_cycles"] for row in breakdown["parts"]])
    for row, cycles in zip(breakdown["parts"], tenths, strict=True):
        table.add_row(row["title"], fixed_point(cycles), fixed_point(cycles / per_ns, 2), percent(row["share"]))
    total = sum(round(10 * cycles) for cycles in tenths) / 10
    table.add_section()
    table.add_row("total", fixed_point(total), fixed_point(total / per_ns, 2), percent(1.0))
    return table


def round_to_sum(values: list[float]) -> list[float]:
    """Rounds values to tenths that add up to their rounded sum, by the largest-remainder method."""
    whole = [int(10 * value) for value in values]
    missing = round(10 * sum(values)) - sum(whole)
    order = sorted(range(len(values)), key=lambda index: whole[index] - 10 * values[index])
    for index in order[:missing]:
        whole[index] += 1
    return [tenths / 10 for tenths in whole]


def rack_table(chips: list[Summary]) -> Table:
    """Creates the table of the chips of a rack."""
    table = new_table("chip", "at", "operations", "cycles", "payload GB/s", "fullest link", "busy", left=(0, 5))
    order = sorted(chips, key=lambda row: float(row["bandwidth"]["application_gb_per_s"]))
    shown = chips if len(chips) <= CHIPS else [*order[: CHIPS // 2], *order[-CHIPS // 2 :]]
    for row in shown:
        latency = row["latency"] or {}
        table.add_row(
            str(row["chip"]),
            ", ".join(map(str, row["at"])),
            str(row["operations"]),
            fixed_point(latency.get("mean_cycles")),
            fixed_point(row["bandwidth"]["application_gb_per_s"]),
            row["link"],
            percent(row["share"]),
        )
    return table


def link_table(summary: Summary) -> Table:
    """Creates the table of the most loaded links."""
    table = new_table("fullest links: column, row", "busy", "GB/s", left=(0,))
    for row in summary["noc"]["links"][:LINKS]:
        table.add_row(row["link"], percent(row["share"]), fixed_point(row["share"] * summary["noc"]["link_gb_per_s"]))
    return table

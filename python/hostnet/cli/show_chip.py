"""The page that `hostnet run` prints of a chip."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from hostnet.cli.show import NOTHING, new_table, page, percent, print_notes, print_path, print_tables, time_text
from hostnet.report.chip_words import chip_headline, chip_notes, chip_reason, chip_workload
from hostnet.units import format_count

if TYPE_CHECKING:
    from pathlib import Path

    from hostnet.chips import ChipResults

    Summary = dict[str, Any]

LINKS = 6
"""Links that are shown; all of them are in summary.json."""

CHIPS = 16
"""Chips of a rack that are shown: if there are more, those with the least payload and those with the most."""


def print_chip(results: ChipResults, path: Path) -> None:
    """Prints what a run of a chip measured; the last line is the path of its directory."""
    summary = results.summary
    with page() as console:
        console.print(Text(chip_headline(summary), style="bold"))
        console.print(Text(chip_workload(summary)))
        console.print(Text(measured(results)))
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


def measured(results: ChipResults) -> str:
    """How long was simulated."""
    summary = results.summary
    window = f"{summary['operations']} operations in a window of {time_text(summary['window_ns'])}"
    pace = format_count(results.native.cycles / max(results.wall_s, 1e-9), "cycles/s")
    return f"{window}, after {time_text(summary['simulated_ns'] - summary['window_ns'])}; {pace}"


def fixed(value: float | None, digits: int = 1) -> str:
    """A value with so many digits after the point."""
    return NOTHING if value is None else f"{value:.{digits}f}"


def latency_table(summary: Summary) -> Table:
    """Latencies of operations, and of requests of the other chip."""
    table = new_table("latency", "mean", "P50", "P99", "max", "mean ns", left=(0,))
    for name, key in (("operation, cycles", "latency"), ("remote request here (RRPP), cycles", "rrpp")):
        row = summary[key] or {}
        cycles = (fixed(row.get(f"{what}_cycles")) for what in ("mean", "p50", "p99", "max"))
        table.add_row(name, *cycles, fixed(row.get("mean_ns")))
    return table


def bandwidth_table(summary: Summary) -> Table:
    """Payload, and what it took on the chip."""
    rates, noc = summary["bandwidth"], summary["noc"]
    table = new_table("GB/s", "payload", "in", "out", "on the NoC", "flits per line", left=(0,))
    table.add_row(
        "bandwidth",
        fixed(rates["application_gb_per_s"]),
        fixed(rates["in_gb_per_s"]),
        fixed(rates["out_gb_per_s"]),
        fixed(noc["gb_per_s"]),
        fixed(noc["flits_per_line"]),
    )
    return table


def breakdown_table(summary: Summary) -> Table:
    """The parts of the mean latency; what is shown adds up to the total that is shown."""
    breakdown = summary["breakdown"]
    table = new_table("part of an operation", "cycles", "ns", "share", left=(0,))
    per_ns = summary["clock_ghz"]
    tenths = rounded([row["mean_cycles"] for row in breakdown["parts"]])
    for row, cycles in zip(breakdown["parts"], tenths, strict=True):
        table.add_row(row["title"], fixed(cycles), fixed(cycles / per_ns, 2), percent(row["share"]))
    total = sum(round(10 * cycles) for cycles in tenths) / 10
    table.add_section()
    table.add_row("total", fixed(total), fixed(total / per_ns, 2), percent(1.0))
    return table


def rounded(values: list[float]) -> list[float]:
    """The values in tenths such that they add up to their sum in tenths: the largest remainders are rounded up."""
    whole = [int(10 * value) for value in values]
    missing = round(10 * sum(values)) - sum(whole)
    order = sorted(range(len(values)), key=lambda index: whole[index] - 10 * values[index])
    for index in order[:missing]:
        whole[index] += 1
    return [tenths / 10 for tenths in whole]


def rack_table(chips: list[Summary]) -> Table:
    """The chips of a rack."""
    table = new_table("chip", "at", "operations", "cycles", "payload GB/s", "fullest link", "busy", left=(0, 5))
    order = sorted(chips, key=lambda row: float(row["bandwidth"]["application_gb_per_s"]))
    shown = chips if len(chips) <= CHIPS else [*order[: CHIPS // 2], *order[-CHIPS // 2 :]]
    for row in shown:
        latency = row["latency"] or {}
        table.add_row(
            str(row["chip"]),
            ", ".join(map(str, row["at"])),
            str(row["operations"]),
            fixed(latency.get("mean_cycles")),
            fixed(row["bandwidth"]["application_gb_per_s"]),
            row["link"],
            percent(row["share"]),
        )
    return table


def link_table(summary: Summary) -> Table:
    """The fullest links."""
    table = new_table("fullest links: column, row", "busy", "GB/s", left=(0,))
    for row in summary["noc"]["links"][:LINKS]:
        table.add_row(row["link"], percent(row["share"]), fixed(row["share"] * summary["noc"]["link_gb_per_s"]))
    return table

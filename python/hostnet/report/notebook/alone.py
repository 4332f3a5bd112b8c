"""Results of parts that are simulated alone, and of chips, as the output of a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.report.chip_descriptions import chip_headline, chip_notes, chip_reason, chip_workload
from hostnet.report.chip_page import parts_section, pictures, rack_section
from hostnet.report.html import details, element
from hostnet.report.noc_curves import NocRun
from hostnet.report.noc_page import header as noc_header
from hostnet.report.noc_page import pictures as noc_pictures
from hostnet.report.notebook.block import block, headline, notes_list, small_table
from hostnet.report.numbers import number, percent
from hostnet.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Summary = dict[str, Any]

LATENCIES = {
    "read_from_arrival": "read, from arrival",
    "read_from_acceptance": "read, from acceptance",
    "write_residence": "write in the queue",
}
"""Latencies of a memory system, and their names."""


def noc_block(summary: Summary) -> str:
    """Returns the output of a cell for a network on a chip: rates, latencies, the map of links and the distribution."""
    runs = [NocRun("", "", summary)]
    return block(noc_header(runs), *noc_pictures(runs if summary["cycles"]["measured"] else []))


def memory_block(summary: Summary) -> str:
    """Returns the output of a cell for a memory system: bandwidth, latencies, and rows."""
    memory, bandwidth, rows = summary["memory"], summary["bandwidth"], summary["rows"]
    peak = f"{number(bandwidth['gb_per_s'])} of {number(memory['peak_gb_per_s'])} GB/s"
    latencies = [
        [name, *(number(summary["latency"][key][f"{what}_ns"]) for what in ("mean", "p50", "p99", "max"))]
        for key, name in LATENCIES.items()
        if (summary["latency"][key] or {}).get("count")
    ]
    counts = {"hit": rows["hits"], "miss": rows["misses"], "conflict": rows["conflicts"]}
    shares = [[name, number(count), percent(rows[f"{name}_share"])] for name, count in counts.items()]
    return block(
        headline(f"{memory['channels']} x {memory['device'] or 'DRAM'}", peak),
        small_table(["latency ns", "mean", "P50", "P99", "max"], latencies),
        small_table(["rows", "requests", "share"], shares),
    )


def chip_block(summary: Summary) -> str:
    """Returns the output of a cell for a chip: its limit, the parts of an operation, and the map of the links."""
    rates, latency, parts = summary["bandwidth"], summary["latency"], parts_section(summary)
    cycles = "" if latency is None else f"{latency['mean_cycles']:.1f} cycles, "
    return block(
        headline(str(summary["name"]), f"{cycles}{rates['application_gb_per_s']:.1f} GB/s in and out"),
        element("p", f"{chip_headline(summary)}. {chip_workload(summary)}", class_="sub"),
        element("p", chip_reason(summary), class_="verdict"),
        *pictures(summary),
        None if parts is None else details("Every part", parts),
        rack_section(summary),
        notes_list(chip_notes(summary)),
    )


def trials_block(name: str, now: str, verdict: str, trials: Sequence[Mapping[str, Any]], untried: Sequence[str]) -> str:
    """Returns the output of a cell for an explained chip: the gain of each change alone."""
    notes = [f"not tried, as no chip can have more: {', '.join(untried)}"] if untried else []
    cells = [
        [trial["what"], trial["before"], trial["after"], number(trial["value"]), format_percent(trial["gain"], 1, "+")]
        for trial in trials
    ]
    return block(
        headline(name, now),
        element("p", verdict, class_="verdict"),
        small_table(["each change alone", "now", "tried", "result", "gain"], cells, texts=3),
        notes_list(notes),
    )

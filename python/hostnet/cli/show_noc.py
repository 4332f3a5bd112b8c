"""Output of `hostnet noc`."""

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
    rate,
    time_text,
)
from hostnet.notes import STOPPED
from hostnet.report.noc_descriptions import network_text, packets_text, saturation_text
from hostnet.units import format_count

if TYPE_CHECKING:
    from pathlib import Path

    from hostnet.noc_alone import NocResult

    Row = dict[str, Any]

LINKS_MAX = 5
"""Maximum number of links that are shown; the JSON has all."""

COLUMNS_MAX = 11
ROWS_MAX = 16
"""Largest map that is drawn, which must fit on a screen."""


def print_noc(result: NocResult, html: Path | None) -> None:
    """Prints the results of a network on a chip; the last line is the path of its page, if any."""
    summary = result.summary
    with buffered_console() as console:
        console.print(Text(network_text(summary), style="bold"))
        console.print(Text(headline(summary)))
        print_tables(console, rate_table(summary), latency_table(summary))
        if summary["cycles"]["measured"]:
            print_tables(console, link_table(summary))
        drawn = link_map(summary)
        if drawn:
            console.print(Text("\nhow busy links are, the fuller direction of two, in percent"))
            for line in drawn:
                console.print(Text(f"  {line}"), soft_wrap=True)
        console.print()
        console.print(Text(saturation_text(summary)))
        console.print(Text(speed_text(result)))
        print_notes(console, notes(summary))
        if html is not None:
            print_path(console, html)


def headline(summary: Row) -> str:
    """Describes the packets and the measured time."""
    cycles = summary["cycles"]
    measured = cycles["measured"]
    time = time_text(measured * summary["noc"]["clock_ns"])
    count = summary["packets"]["measured"]
    return (
        f"{packets_text(summary)}; {count} packet{'' if count == 1 else 's'} in {measured} cycles ({time}) "
        f"after {cycles['warm_up']} of warm-up"
    )


def rate_table(summary: Row) -> Table:
    """Creates the table of offered and accepted load."""
    rates, bound = summary["rate"], summary["bound"]
    table = new_table(
        "flits/node/cycle", "offered", "accepted", "least node", "GB/s in all", "a link full at", left=(0,)
    )
    table.add_row(
        "rate",
        fixed_point(rates["offered"], 4),
        fixed_point(rates["accepted"], 4),
        fixed_point(rates["accepted_least"], 4),
        rate(rates, "accepted_gb_per_s"),
        NOTHING if bound is None else fixed_point(bound["rate"], 4),
    )
    return table


def latency_table(summary: Row) -> Table:
    """Creates the table of packet latencies, in cycles and in ns."""
    latency = summary["latency"]
    table = new_table("latency", "mean", "P50", "P90", "P99", "max", "packets", left=(0,))
    for name, row, unit in (
        ("packet, cycles", latency["packet"], "cycles"),
        ("packet, ns", latency["packet"], "ns"),
        ("in the network, cycles", latency["network"], "cycles"),
    ):
        digits = 1 if unit == "ns" else 0
        values = (fixed_point(row[f"{which}_{unit}"], digits) for which in ("p50", "p90", "p99", "max"))
        table.add_row(name, fixed_point(row[f"mean_{unit}"], 2), *values, str(row["count"]))
    alone = latency["zero_load"]["mean_cycles"]
    table.add_row("the same packets alone", fixed_point(alone, 2), *[NOTHING] * 5)
    return table


def link_table(summary: Row) -> Table:
    """Creates the table of the most loaded links, with the load that their routes predict."""
    table = new_table("fullest links", "busy", "by routes", "flits", left=(0,))
    offered = summary["rate"]["offered"]
    fullest_first = sorted(summary["links"], key=lambda row: -row["flits"])
    for row in fullest_first[:LINKS_MAX]:
        expected = NOTHING if row["load"] is None else percent(row["load"] * offered)
        table.add_row(row["link"], percent(row["busy_share"]), expected, str(row["flits"]))
    return table


def link_map(summary: Row) -> list[str]:
    """Draws a mesh with the busy share of the busier direction of each link, in percent."""
    noc = summary["noc"]
    columns, rows = noc["columns"], noc["rows"]
    if noc["topology"] != "mesh" or columns > COLUMNS_MAX or rows > ROWS_MAX or not summary["cycles"]["measured"]:
        return []
    busy: dict[tuple[tuple[int, int], ...], float] = {}
    for row in summary["links"]:
        if not row["to_node"]:
            ends = tuple(sorted((tuple(row["from"]), tuple(row["to"]))))
            busy[ends] = max(busy.get(ends, 0.0), row["busy_share"])

    def cell(*ends: tuple[int, int]) -> str:
        return f"{100 * busy.get(ends, 0.0):.0f}"

    lines = []
    for y in range(rows):
        lines.append("o" + "".join(f"{cell((x - 1, y), (x, y)):-^6}o" for x in range(1, columns)))
        if y + 1 < rows:
            lines.append("".join(f"{cell((x, y), (x, y + 1)):<7}" for x in range(columns)).rstrip())
    return lines


def fixed_point(value: float | None, digits: int) -> str:
    """Formats a value with a fixed number of decimals, so that rows can be compared."""
    return NOTHING if value is None else f"{value:.{digits}f}"


def yes_or_no(value: bool | None) -> str:
    """Formats a boolean, or None."""
    return NOTHING if value is None else "yes" if value else "no"


def speed_text(result: NocResult) -> str:
    """Describes the speed of the simulation and the hash of its results."""
    found = result.to_dict()["speed"]
    hops = format_count(found["flit_hops_per_s"], "flit hops/s")
    cpu = format_count(found["flit_hops_per_cpu_s"], "per CPU second")
    return f"{hops}, {cpu}; result {result.result_hash[:16]}"


def notes(summary: Row) -> list[str]:
    """Returns notes on the validity of the results."""
    packets = summary["packets"]
    lines = []
    if not summary["complete"]:
        lines.append(STOPPED)
    missing = packets["measured"] - packets["arrived"]
    if missing:
        lines.append(f"{missing} packets had not arrived when the run ended: the latency covers the others")
    return lines

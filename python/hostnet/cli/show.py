"""Tables of `hostnet run`."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from hostnet.notes import notes_of
from hostnet.pools import (
    fold_idle_links,
    fold_idle_pools,
    nonzero_sources,
    partial_pool_rows,
    row_label,
    rows_by_place,
    with_directions,
)
from hostnet.terminal.console import Screen
from hostnet.terminal.layout import WideTable, wrapped_text
from hostnet.terminal.screen import screen_width
from hostnet.units import format_percent, format_rate, format_time, is_small_rate, unit_of_rate, without_negative_zero

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from rich.console import Console

    Row = dict[str, Any]

MESH_ROWS_MAX = 12
"""Maximum number of legs over a mesh that are shown: those with most messages."""

DECIMALS_MAX = 2
"""Maximum number of digits after the decimal point."""

ACTIVATIONS = "ACTs/read"
"""Heading of the row miss ratio: activations per read exceed 1 if rows are closed before they are read."""

NOTHING = "-"
"""Placeholder for a missing value."""


@contextmanager
def buffered_console() -> Iterator[Console]:
    """Yields a console whose text is written to stdout at the end: coloured on a terminal, else plain."""
    console = Screen() if sys.stdout.isatty() else Screen(color_system=None)
    console.width = screen_width()
    with console.capture() as capture:
        yield console
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def print_run(
    summary: Row, path: Path | None, predicted: Row | None = None, queues: Mapping[str, int] | None = None
) -> None:
    """Prints the summary of a run, and its prediction if given; the last line is the path, if given.

    `queues` has the number of commands that each storage workload starts with.
    """
    rows = summary["workloads"]
    with buffered_console() as console:
        console.print(Text(headline(summary), style="bold"))
        print_tables(console, workload_table(rows))
        if any(row["kind"] == "fio" for row in rows):
            from hostnet.cli.show_storage import io_table, recommended_windows

            print_tables(console, io_table(rows))
            print_items(console, "*", recommended_windows(rows, summary["window_ns"] or 0.0, queues or {}))
        if any(row["kind"] == "app" for row in rows):
            print_tables(console, application_table(rows))
        if "caches" in summary:
            print_tables(console, *cache_tables(summary))
        print_tables(
            console,
            domain_table([*rows_by_place(summary), *partial_pool_rows(summary)]),
            channel_table(summary["channels"], summary.get("channels_of_sockets") or ()),
        )
        if "upi" in summary:
            print_tables(console, link_table(summary["upi"]))
        if "dies" in summary:
            print_tables(console, mesh_table(summary["mesh_ways"]))
            console.print(fullest_mesh_link(summary["mesh"]))
        if "energy" in summary:
            from hostnet.cli.show_cluster import view_table
            from hostnet.energy_view import efficiency_view, energy_view

            views = (energy_view(summary["energy"]), efficiency_view(summary["efficiency"]))
            print_tables(console, *(view_table(view.without_empty()) for view in views))
        if "power" in summary:
            from hostnet.cli.show_cluster import view_table
            from hostnet.power_view import power_view

            print_tables(console, view_table(power_view(summary).without_empty()))
        print_items(console, "*", [with_directions(limit) for limit in summary["limits"]])
        print_notes(console, notes_of(summary))
        if predicted is not None:
            from hostnet.cli.predict import print_disagreement

            print_disagreement(console, summary, predicted)
        if path is not None:
            print_path(console, path)


def headline(summary: Row) -> str:
    """Returns the name, seed and duration of a run."""
    parts = [
        str(summary["name"]),
        f"seed {summary['seed']}",
        f"{time_text(summary['window_ns'])} measured after {time_text(summary['warm_up_ns'])} of warm-up",
    ]
    return ", ".join(parts)


def workload_table(rows: Sequence[Row]) -> Table:
    """Creates the table of throughput and latency by workload."""
    table = new_table("workload", "GB/s", "DRAM read", "write", "latency ns", "P50", "P99", left=(0, 7))
    table.add_column("limited by")
    for row in rows:
        table.add_row(
            row["workload"],
            rate(row, "throughput_gb_per_s", "throughput_ci95"),
            rate(row, "read_gb_per_s"),
            rate(row, "write_gb_per_s"),
            with_interval(row["latency_mean_ns"], row["latency_ci95"]),
            number(row["latency_p50_ns"]),
            number(row["latency_p99_ns"]),
            row["limited_by"] or NOTHING,
        )
    return table


def application_table(rows: Sequence[Row]) -> Table:
    """Creates the table of the performance of applications."""
    table = new_table("application", "operations/s", "latency us", "P50", "P99", "execution time", left=(0,))
    for row in rows:
        if row["kind"] == "app":
            latencies = (row.get(f"operation_latency_{name}_ns") for name in ("mean", "p50", "p99"))
            seconds = row.get("execution_time_s")
            table.add_row(
                row["workload"],
                rate_with_separators(row.get("operations_per_s"), row.get("operations_ci95")),
                *(number(None if latency is None else latency / 1000) for latency in latencies),
                NOTHING if seconds is None else f"{number(seconds)} s",
            )
    return table.without_columns_of(NOTHING)


def rate_with_separators(value: float | None, half_width: float | None) -> str:
    """Formats a rate with its confidence interval, with thousands separators if it is large."""
    if value is None or value < 1000:
        return with_interval(value, half_width)
    return f"{value:,.0f}" + ("" if half_width is None else f" ±{half_width:,.0f}")


def cache_tables(summary: Row) -> Iterator[Table]:
    """Yields the tables of cache accesses of cores and of devices, by workload."""
    rows = [row for row in summary["caches"] if row["workload"] != "all" or len(summary["caches"]) > 2]
    sockets = summary["llc"].get("sockets") or []
    # With several sockets, the total capacity of the LLCs says nothing about the one that is full.
    whole = ["" if sockets else f" of {number(summary['llc'][name])}" for name in ("mib", "ddio_mib")]
    cores = new_table("caches", "L2 misses", "prefetched", "used", "LLC misses", "in the LLC, MiB", left=(0,))
    for row in (row for row in rows if row["l2_lookups"] or row["workload"] == "all"):
        used = min(row["prefetch_used"] / row["prefetch_filled"], 1.0) if row["prefetch_filled"] else None
        filled = row["prefetch_filled"] / row["l2_lookups"] if row["l2_lookups"] else None
        cores.add_row(
            row["workload"],
            *(percent(share) for share in (row["l2_miss_ratio"], filled, used, row["llc_miss_ratio"])),
            number(row["llc_mib_core"] + row["llc_mib_io"]) + ("" if cores.row_count else whole[0]),
        )
    yield cores.without_columns_of(NOTHING)
    devices = new_table("DDIO", "lines written", "hits", "leaks", "in the LLC, MiB", "reads that hit", left=(0,))
    for row in (row for row in rows if row["ddio_hit_ratio"] is not None or row["io_reads"]):
        devices.add_row(
            row["workload"],
            f"{row['ddio_updates'] + row['ddio_allocations']:,}",
            *(percent(row[name]) for name in ("ddio_hit_ratio", "ddio_leak_ratio")),
            number(row["llc_mib_io"]) + ("" if devices.row_count else whole[1]),
            percent(row["io_read_hits"] / row["io_reads"] if row["io_reads"] else None),
        )
    if devices.row_count:
        yield devices.without_columns_of(NOTHING)
    if sockets:
        yield llc_table(sockets)


def llc_table(sockets: Sequence[Row]) -> Table:
    """Creates the table of the occupancy and misses of the LLC of each socket."""
    table = new_table("LLC", "of cores, MiB", "of devices", "of", "misses", left=(0,))
    for index, row in enumerate(sockets):
        held = (row["core_mib"], row["io_mib"], row["mib"])
        misses = row["misses"] / row["lookups"] if row["lookups"] else None
        table.add_row(f"socket {index}", *map(number, held), percent(misses))
    return table


def domain_table(rows: Sequence[Row]) -> Table:
    """Creates the table of credits, latency and throughput by domain."""
    table = new_table("domain", "credits in use", "latency ns", "P99", "GB/s", "full", left=(0,))
    table.add_column("shares credits with")
    for row in fold_idle_pools(row for row in rows if row["workload"] == "all"):
        if row.get("idle"):
            table.add_row(row["domain"], "idle", *("" for _ in table.columns[2:]))
            continue
        table.add_row(
            row_label(row),
            f"{number(row['in_use_mean'])} of {row['capacity']}",
            with_interval(row["latency_mean_ns"], row["latency_ci95"]),
            number(row["latency_p99_ns"]),
            rate(row, "throughput_gb_per_s"),
            percent(row["full_share"]),
            row["shares_capacity_with"] or "",
        )
    return table


def channel_table(rows: Sequence[Row], sockets: Sequence[Row] = ()) -> Table:
    """Creates the table of memory channels, followed by the totals per socket, or of all with one socket."""
    table = new_table("channel", "read GB/s", "write", "bus", ACTIVATIONS, "RPQ", "WPQ", "write mode", left=(0,))
    table.add_column("by source, GB/s")
    for row in busy_channels(rows, sockets):
        if row["idle"]:
            table.add_row(row["idle"], *("" for _ in table.columns[2:]), "idle")
            continue
        table.add_row(
            row["name"],
            rate(row, "read_gb_per_s"),
            rate(row, "write_gb_per_s"),
            percent(row["bus_busy_share"]),
            number(row["row_miss_ratio"]),
            number(row["rpq_mean"]),
            number(row["wpq_mean"]),
            percent(row["write_mode_share"]),
            nonzero_sources(row["sources"]),
        )
    return table


def busy_channels(rows: Sequence[Row], sockets: Sequence[Row] = ()) -> Iterator[Row]:
    """Yields the rows of channels in order, then those of whole sockets; adjacent idle channels share a row."""
    idle: list[int] = []
    for row in sorted((row for row in rows if row["channel"] >= 0), key=lambda row: row["channel"]):
        if is_idle(row):
            idle.append(row["channel"])
            continue
        if idle:
            yield idle_channels(idle)
            idle = []
        yield {"idle": "", "name": str(row["channel"]), **row}
    if idle:
        yield idle_channels(idle)
    for row in sockets:
        yield {"idle": f"socket {row['socket']}" if is_idle(row) else "", "name": f"socket {row['socket']}", **row}
    if not sockets:
        yield from ({"idle": "", "name": "all", **row} for row in rows if row["channel"] < 0)


def is_idle(row: Row) -> bool:
    """Returns True if the channels of a row moved nothing."""
    return not row["read_gb_per_s"] and not row["write_gb_per_s"]


def idle_channels(numbers: Sequence[int]) -> Row:
    """Returns the row of adjacent idle channels."""
    return {"idle": str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}"}


def link_table(rows: Sequence[Row]) -> Table:
    """Creates the table of UPI traffic by direction."""
    table = new_table("UPI", "busy", "on the wire GB/s", "lines GB/s", left=(0,))
    for row in fold_idle_links(rows):
        if row["idle"]:
            table.add_row(row["direction"], "idle", "", "")
            continue
        table.add_row(
            row["direction"],
            percent(row["busy_share"]),
            rate(row, "gb_per_s"),
            rate(row, "line_gb_per_s"),
        )
    return table


def mesh_table(rows: Sequence[Row]) -> Table:
    """Creates the table of the distances and waiting times of messages on the mesh, by workload."""
    several = len({row["socket"] for row in rows}) > 1
    table = new_table("mesh", "leg", "way ns", "mean of the die", "lost to others ns", left=(0, 1))
    for row in sorted(rows, key=lambda row: -row["messages"])[:MESH_ROWS_MAX]:
        whose = f"{row['workload']}, socket {row['socket']}" if several else row["workload"]
        ways = (row["way_ns"], row["mean_way_ns"], row["waited_ns"])
        table.add_row(whose, row["leg"], *(f"{way:.2f}" for way in ways))
    return table


def fullest_mesh_link(rows: Sequence[Row]) -> str:
    """Describes the most loaded link of the meshes."""
    rings = ("lines", "requests", "acknowledgements")
    shares = [(row[f"{ring}_busy_share"], ring, row) for row in rows for ring in rings]
    share, ring, row = max(shares, key=lambda found: found[0], default=(0.0, "lines", None))
    if row is None:
        return "nothing went over the mesh"
    where = f"column {row['column']} row {row['row']} {row['side']}"
    return f"fullest link of the mesh: {ring}, {where}, busy {percent(share)}"


def new_table(*headings: str, left: Sequence[int], names: int = 1) -> WideTable:
    """Creates a table of numbers; the columns in `left` are text, and the first `names` columns identify a row."""
    table = WideTable(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1), header_style="bold", show_edge=False)
    table.names = names
    for index, heading in enumerate(headings):
        table.add_column(heading.replace("µ", "u"), justify="left" if index in left else "right")
    return table


def print_tables(console: Console, *tables: Table) -> None:
    """Prints tables with an empty line before each."""
    for table in tables:
        for part in table.fitted(console.width) if isinstance(table, WideTable) else [table]:
            console.print()
            console.print(part)


def print_items(console: Console, mark: str, lines: Sequence[str], style: str = "") -> None:
    """Prints paragraphs with a mark and a hanging indent, after an empty line."""
    if not lines:
        return
    grid = Table.grid(padding=(0, 1, 0, 0))
    room = console.width - len(mark) - 1
    for line in lines:
        grid.add_row(Text(mark, style=style), Text(wrapped_text(line, room), style=style))
    console.print()
    console.print(grid)


def print_notes(console: Console, lines: Sequence[str]) -> None:
    """Prints notes on the validity of the results."""
    print_items(console, "note:", lines, "yellow")


def print_path(console: Console, path: Path) -> None:
    """Prints a path on a line of its own, without breaking it."""
    console.print()
    console.print(str(path), soft_wrap=True)


def number(value: float | None, least: int = 0) -> str:
    """Formats a value with at least three digits, `least` of them after the decimal point."""
    if value is None:
        return NOTHING
    return "0" if value == 0 else without_negative_zero(f"{value:.{max(decimals(value), least)}f}")


def decimals(value: float) -> int:
    """Returns the number of digits after the decimal point for a value of this size."""
    magnitude = abs(value)
    return 0 if magnitude >= 100 else 1 if magnitude >= 10 else DECIMALS_MAX


def with_interval(value: float | None, half_width: float | None, least: int = 0) -> str:
    """Formats a mean and the half-width of its 95 % confidence interval, with at least `least` decimals."""
    if value is None or half_width is None:
        return number(value, least)
    digits = max(decimals(value), least)
    if 0 < half_width < 10.0**-digits:
        digits = max(digits, min(digits + 1, DECIMALS_MAX))
    return f"{without_negative_zero(f'{value:.{digits}f}')} ±{half_width:.{digits}f}"


def rate(row: Row, column: str, interval: str | None = None) -> str:
    """Formats a rate with its confidence interval, in the unit of its column, or in a smaller one if it is small."""
    value, half_width = row[column], None if interval is None else row[interval]
    unit = unit_of_rate(column)
    if unit is not None and is_small_rate(value, unit):
        return format_rate(value, unit, half_width)
    return with_interval(value, half_width)


def percent(share: float | None) -> str:
    """Formats a fraction in percent."""
    return NOTHING if share is None else format_percent(share, 1)


def change_text(change: float | None) -> str:
    """Formats a relative change with its sign."""
    return NOTHING if change is None else format_percent(change, 1, "+")


def time_text(time_ns: float) -> str:
    """Formats a simulated time."""
    return format_time(time_ns * 1000)

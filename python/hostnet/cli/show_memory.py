"""Output of `hostnet memory`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from hostnet.cli.show import (
    NOTHING,
    buffered_console,
    new_table,
    number,
    percent,
    print_notes,
    print_path,
    print_tables,
    time_text,
)
from hostnet.notes import STOPPED
from hostnet.units import format_count, format_rate, is_small_rate

if TYPE_CHECKING:
    from pathlib import Path

    from hostnet.memory_alone import MemoryResult

    Row = dict[str, Any]

ROWS_MAX = 16
"""Maximum number of channels and sources that are shown; the JSON has all."""


def print_memory(result: MemoryResult, commands: Path | None) -> None:
    """Prints the results of a memory system; the last line is the path of the command file, if any."""
    summary = result.summary
    with buffered_console() as console:
        console.print(Text(headline(summary), style="bold"))
        console.print(Text(requests_text(summary)))
        print_tables(
            console, bandwidth_table(summary), latency_table(summary), facts_grid(summary), queue_table(summary)
        )
        if len(summary["channels"]) > 1:
            print_tables(console, channel_table(summary))
        if len(summary["sources"]) > 1:
            print_tables(console, source_table(summary))
        console.print()
        console.print(Text(speed_text(result)))
        print_notes(console, notes(summary))
        if commands is not None:
            print_path(console, commands)


def headline(summary: Row) -> str:
    """Describes the memory system in one line."""
    memory = summary["memory"]
    controller = summary["config"]["memory"]["controller"]
    channels = memory["channels"]
    shape = f"{channels} channel{'s' if channels > 1 else ''}"
    if memory["controllers"] > channels:
        shape += f" of {memory['controllers'] // channels}"
    where = memory["map"] if isinstance(memory["map"], str) else "given by bits"
    queues = f"queues {controller['rpq']['entries']} + {controller['wpq']['entries']}"
    if controller["shared_queue"]:
        queues = f"one queue of {controller['rpq']['entries']}"
    return ", ".join(
        (memory["device"] or "own device", shape, f"map {where}", f"profile {memory['profile'] or 'own'}", queues)
    )


def requests_text(summary: Row) -> str:
    """Describes the requests and the measured time."""
    config, requests = summary["config"], summary["requests"]
    if "trace" in config:
        parts = [f"trace {config['trace']['path']}"]
    else:
        traffic = config["traffic"]
        load = f"load {100 * traffic['load']:.4g} %" if "load" in traffic else "saturating"
        parts = [traffic["pattern"], f"{100 * traffic['reads']:.4g} % reads", load, f"seed {traffic['seed']}"]
    if config["run"]["outstanding"]:
        parts.append(f"{config['run']['outstanding']} reads in flight")
    elapsed = time_text(summary["time"]["elapsed_ns"])
    parts.append(f"{requests['measured']} requests in {elapsed} after {requests['warm_up']} of warm-up")
    return ", ".join(parts)


def bandwidth_table(summary: Row) -> Table:
    """Creates the table of accepted bandwidth and DRAM traffic."""
    rates = summary["bandwidth"]
    table = new_table("GB/s", "accepted", "of peak", "offered", "peak", "DRAM read", "DRAM write", left=(0,))
    table.add_row(
        "bandwidth",
        rate_text(rates["gb_per_s"]),
        percent(rates["share_of_peak"]),
        rate_text(rates["offered_gb_per_s"]),
        fixed_point(summary["memory"]["peak_gb_per_s"], 2),
        rate_text(rates["read_gb_per_s"]),
        rate_text(rates["write_gb_per_s"]),
    )
    return table


def rate_text(gb_per_s: float | None) -> str:
    """Formats a rate given in GB/s, in a smaller unit if it is small."""
    if gb_per_s is not None and is_small_rate(gb_per_s, "GB/s"):
        return format_rate(gb_per_s, "GB/s")
    return fixed_point(gb_per_s, 2)


def latency_table(summary: Row) -> Table:
    """Creates the table of read latencies and of the residence time of writes."""
    latency = summary["latency"]
    table = new_table("latency, ns", "mean", "P50", "P99", "max", "requests", left=(0,))
    for name, key in (
        ("read, from arrival", "read_from_arrival"),
        ("read, from acceptance", "read_from_acceptance"),
        ("write, in the WPQ", "write_residence"),
    ):
        row = latency[key]
        if row is None:
            table.add_row(name, *[NOTHING] * 5)
        else:
            times = (fixed_point(row[f"{what}_ns"], 1) for what in ("mean", "p50", "p99", "max"))
            table.add_row(name, *times, str(row["count"]))
    return table


def facts_grid(summary: Row) -> Table:
    """Creates the grid of row, command and time statistics."""
    rows, time, requests = summary["rows"], summary["time"], summary["requests"]
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_row(
        "rows",
        list_values(hit=percent(rows["hit_share"]), miss=percent(rows["miss_share"]))
        + f", conflict {percent(rows['conflict_share'])}; "
        f"{fixed_point(rows['activations_per_request'], 4)} ACT per request",
    )
    table.add_row("commands", ", ".join(f"{name} {times}" for name, times in summary["commands"].items() if times))
    table.add_row(
        "time",
        f"read mode {percent(time['read_mode_share'])}, write mode {percent(time['write_mode_share'])} "
        f"({time['write_modes']} times), idle {percent(time['idle_share'])}; "
        f"refresh {percent(time['refresh_share'])} of a rank",
    )
    table.add_row(
        "requests",
        list_values(
            reads=requests["reads"],
            writes=requests["writes"],
            forwarded=requests["forwarded"],
            merged=requests["merged"],
        ),
    )
    return table


def fixed_point(value: float | None, digits: int) -> str:
    """Formats a value with a fixed number of decimals, so that rows can be compared."""
    return NOTHING if value is None else f"{value:.{digits}f}"


def list_values(**values: Any) -> str:
    """Lists names with their values."""
    return ", ".join(f"{name} {value}" for name, value in values.items())


def queue_table(summary: Row) -> Table:
    """Creates the table of the queues, which are domains."""
    table = new_table("queue", "in use", "of", "max", "full", "latency ns", "by Little's law", "P99", left=(0,))
    for row in summary["domains"]:
        table.add_row(
            row["domain"],
            number(row["in_use_mean"]),
            str(row["capacity"]),
            str(row["in_use_max"]),
            percent(row["full_share"]),
            fixed_point(row["latency_mean_ns"], 1),
            fixed_point(row["latency_little_ns"], 1),
            fixed_point(row["latency_p99_ns"], 1),
        )
    return table


def channel_table(summary: Row) -> Table:
    """Creates the table of channels or subchannels."""
    table = new_table(
        "channel", "read GB/s", "write", "bus busy", "row hit", "ACT/req", "RPQ", "WPQ", "write mode", left=(0,)
    )
    several = summary["memory"]["controllers"] > summary["memory"]["channels"]
    for row in summary["channels"][:ROWS_MAX]:
        table.add_row(
            f"{row['channel']}.{row['subchannel']}" if several else str(row["channel"]),
            fixed_point(row["read_gb_per_s"], 2),
            fixed_point(row["write_gb_per_s"], 2),
            percent(row["busy_share"]),
            percent(row["rows"]["hit_share"]),
            fixed_point(row["rows"]["activations_per_request"], 4),
            number(row["rpq_in_use_mean"]),
            number(row["wpq_in_use_mean"]),
            percent(row["write_mode_share"]),
        )
    return table


def source_table(summary: Row) -> Table:
    """Creates the table of the share of each stream."""
    table = new_table("stream", "share", "reads", "writes", "MB", "RPQ ns", "WPQ ns", left=(0,))
    for row in summary["sources"][:ROWS_MAX]:
        table.add_row(
            str(row["source"]),
            percent(row["share"]),
            str(row["reads"]),
            str(row["writes"]),
            number(row["bytes"] / 1e6),
            number(row["rpq_latency_mean_ns"]),
            number(row["wpq_latency_mean_ns"]),
        )
    return table


def speed_text(result: MemoryResult) -> str:
    """Describes the speed of the simulation and the hash of its results."""
    wall = format_count(result.requests_per_s, "requests/s")
    cpu = format_count(result.requests_per_cpu_s, "per CPU second")
    return f"{wall}, {cpu}; result {result.result_hash[:16]}"


def is_overloaded(summary: Row) -> bool:
    """Returns True if fewer requests are accepted than offered, by more than random gaps explain."""
    rates, count = summary["bandwidth"], summary["requests"]["measured"]
    offered, taken = rates["offered_gb_per_s"], rates["gb_per_s"]
    # The relative standard error of the mean of n random gaps is 1 / sqrt(n); 4 of them exclude chance.
    return None not in (offered, taken) and taken < offered * (1 - 4 / max(count, 1) ** 0.5)


def notes(summary: Row) -> list[str]:
    """Returns notes on the validity of the results."""
    lines = [] if summary["complete"] else [STOPPED]
    if (summary["bandwidth"]["share_of_peak"] or 0) > 1:
        lines.append("so few requests that the queues absorbed them: the bandwidth is not that of DRAM")
    if is_overloaded(summary):
        rates = summary["bandwidth"]
        more = rates["offered_gb_per_s"] - rates["gb_per_s"]
        lines.append(
            f"{more:.3g} GB/s more are offered than accepted: queues keep growing, and latencies from arrival grow "
            "with the length of the run"
        )
    if summary["latency"]["read_from_arrival"] is None and summary["requests"]["reads"]:
        lines.append("requests arrive as fast as they are accepted, so there is no latency from arrival")
    if summary["requests"]["unserved"] and summary["complete"]:
        lines.append(f"{summary['requests']['unserved']} writes remain in the queues: the controller waits for more")
    hidden = max(len(summary["channels"]), len(summary["sources"])) - ROWS_MAX
    if hidden > 0:
        lines.append("not all rows are shown; --json has them")
    return [*lines, *summary["ignored"]]

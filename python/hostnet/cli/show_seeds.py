"""The tables that `hostnet run --seeds` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from rich.text import Text

from hostnet.cli.show import (
    ACTIVATIONS,
    NOTHING,
    new_table,
    number,
    page,
    print_notes,
    print_path,
    print_tables,
    with_interval,
)
from hostnet.cli.show_cluster import ROWS_MAX
from hostnet.limit_names import notes_on
from hostnet.notes import notes_of
from hostnet.units import format_rate, is_small_rate, unit_of_rate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from rich.table import Table

    from hostnet.terminal.layout import WideTable

    Row = dict[str, Any]
    Shown: TypeAlias = tuple[tuple[str, ...], dict[str, tuple[str, float]]]


NO_MEAN: Row = {"mean": None, "ci95": None}
"""Stands for what no run told."""


MEASURED: dict[str, Shown] = {
    "completions": (
        ("class", "size"),
        {
            "ended": ("completed", 1.0),
            "mean us": ("mean_us", 1.0),
            "P50": ("p50_us", 1.0),
            "P99": ("p99_us", 1.0),
            "slowdown P99": ("slowdown_p99", 1.0),
        },
    ),
    "jobs": (
        ("job",),
        {"done us": ("done_us", 1.0), "us each": ("iteration_us", 1.0), "messages %": ("communication_share", 100.0)},
    ),
    "services": (
        ("class", "host"),
        {
            "answered/s": ("answered_per_s", 1.0),
            "wait us": ("wait_mean_us", 1.0),
            "P95 latency us": ("p95_us", 1.0),
            "uJ per request": ("energy_uj_per_request", 1.0),
        },
    ),
    "hosts": (
        ("host",),
        {
            "IIO lines": ("iio_write_occupancy", 1.0),
            "IIO Gbps": ("iio_write_gbps", 1.0),
            "NIC buffer kB": ("nic_buffer_mean_bytes", 1e-3),
            "waits for credits %": ("nic_credit_wait_share", 100.0),
        },
    ),
}
"""What is shown of tables of hosts on a network that have rows: the keys of a row, and its columns."""

METERED: dict[str, Shown] = {
    "power": (
        ("host", "core"),
        {"W": ("power_w", 1.0), "GHz": ("ghz_mean", 1.0), "works %": ("running_share", 100.0)}
        | {"asleep %": ("asleep_share", 100.0)},
    ),
    "energy": (
        ("host", "part"),
        {"W": ("power_w", 1.0), "from": ("power_low_w", 1.0), "to": ("power_high_w", 1.0), "%": ("share", 100.0)},
    ),
    "efficiency": (
        ("host", "name"),
        {"pJ per byte": ("pj_per_byte", 1.0), "nJ per operation": ("nj_per_operation", 1.0)},
    ),
}
"""The same of tables of power and energy, which servers have too."""


def print_means(combined: Row, path: Path, *, brief: bool = False) -> None:
    """Prints the means over all seeds, or the first table of them; the last line is the path of their directory."""
    seeds = combined["seeds"]
    with page() as console:
        title = f"{combined['name']}, {len(seeds)} seeds from {seeds[0]}, mean ± its 95 % confidence interval"
        console.print(Text(title, style="bold"))
        print_tables(console, *tables_of(combined)[: 1 if brief else None])
        limits = notes_on(row.get("limited_by") for row in combined.get("workloads", ()))
        print_notes(console, [*limits, *notes_of(combined)])
        print_path(console, path)


def tables_of(combined: Row) -> list[Table]:
    """The tables of a server, or of hosts on a network."""
    if "classes" in combined:
        return [
            class_means(combined["classes"], combined.get("latencies", [])),
            *tables_with_rows(combined, MEASURED | METERED),
        ]
    return [
        workload_means(combined["workloads"]),
        *application_means(combined["workloads"]),
        domain_means(combined["domains"]),
        channel_means(combined["channels"]),
        *tables_with_rows(combined, METERED),
    ]


def tables_with_rows(combined: Row, shown: Mapping[str, Shown]) -> Iterator[Table]:
    """The tables that any run has, of long ones the first rows, without columns that no row has."""
    for name, (keys, columns) in shown.items():
        rows = combined.get(name) or []
        told = {
            heading: (column, scale)
            for heading, (column, scale) in columns.items()
            if any(row.get(column, NO_MEAN)["mean"] is not None for row in rows)
        }
        if told:
            table = measured_means(rows[:ROWS_MAX], tuple(key for key in keys if key in rows[0]), told)
            if len(rows) > ROWS_MAX:
                table.hide_rows(f'{len(rows) - ROWS_MAX} more rows of "{name}"')
            yield table


def class_means(rows: list[Row], latencies: list[Row]) -> Table:
    """Goodput of each class of traffic, what was lost, and what its requests took, where there are any."""
    columns = {
        "Gbps": "goodput_gbps",
        "marked": "marked_segments",
        "NIC drops %": "nic_drop_percent",
        "timeouts": "timeouts",
        "mean us": "mean_us",
        "P99": "p99_us",
    }
    waits = {row["class"]: row for row in latencies}
    rows = [{**waits.get(row["class"], {}), **row} for row in rows]
    told = {
        heading: (column, 1.0)
        for heading, column in columns.items()
        if any(row.get(column, NO_MEAN)["mean"] is not None for row in rows)
    }
    return measured_means(rows, ("class",), told)


def measured_means(rows: list[Row], keys: tuple[str, ...], columns: dict[str, tuple[str, float]]) -> WideTable:
    """The columns of a table by their headings, each a column of the results and a factor; `keys` name a row."""
    table = new_table(*keys, *columns, left=range(len(keys)), names=len(keys))
    for row in rows:
        names = (str(row[key]) for key in keys)
        table.add_row(
            *names, *(mean(row.get(column, NO_MEAN), scale, unit_of_rate(column)) for column, scale in columns.values())
        )
    return table


def workload_means(rows: list[Row]) -> Table:
    """Throughput and latency of each workload."""
    table = new_table("workload", "GB/s", "latency ns", "P50", "P99", left=(0,))
    table.add_column("limited by")
    for row in rows:
        columns = ("throughput_gb_per_s", "latency_mean_ns", "latency_p50_ns", "latency_p99_ns")
        table.add_row(
            row["workload"],
            *(mean(row[column], 1.0, unit_of_rate(column)) for column in columns),
            row["limited_by"] or NOTHING,
        )
    return table


def application_means(rows: list[Row]) -> list[Table]:
    """What the users of the applications see; no table without any."""
    applications = [row for row in rows if row["kind"] == "app"]
    if not applications:
        return []
    table = new_table("application", "operations/s", "latency us", "P99", "execution time s", left=(0,))
    columns = (("operations_per_s", 1.0), ("operation_latency_mean_ns", 1e-3), ("operation_latency_p99_ns", 1e-3))
    for row in applications:
        table.add_row(
            row["workload"],
            *(mean(row.get(column, NO_MEAN), scale) for column, scale in columns),
            mean(row.get("execution_time_s", NO_MEAN)),
        )
    return [table]


def domain_means(rows: list[Row]) -> Table:
    """Credits, latency and throughput of each domain."""
    table = new_table("domain", "credits in use", "of", "latency ns", "GB/s", "full %", left=(0,))
    for row in rows:
        if row["workload"] == row["part"] == "all":
            table.add_row(
                row["domain"],
                mean(row["in_use_mean"]),
                str(row["capacity"]),
                mean(row["latency_mean_ns"]),
                mean(row["throughput_gb_per_s"], 1.0, "GB/s"),
                mean(row["full_share"], 100),
            )
    return table


def channel_means(rows: list[Row]) -> Table:
    """Bandwidth and queues of all memory channels together."""
    table = new_table("channels", "read GB/s", "write GB/s", ACTIVATIONS, "RPQ", "WPQ", "write mode %", left=(0,))
    for row in rows:
        if row["channel"] < 0:
            table.add_row(
                "all",
                mean(row["read_gb_per_s"], 1.0, "GB/s"),
                mean(row["write_gb_per_s"], 1.0, "GB/s"),
                mean(row["row_miss_ratio"]),
                mean(row["rpq_mean"]),
                mean(row["wpq_mean"]),
                mean(row["write_mode_share"], 100),
            )
    return table


def mean(value: Row, scale: float = 1, unit: str | None = None) -> str:
    """A mean over the seeds with its confidence interval; `unit` is that of a rate."""
    if value["mean"] is None:
        return number(None)
    if unit is not None and is_small_rate(value["mean"], unit):
        return format_rate(value["mean"], unit, value["ci95"])
    return with_interval(scale * value["mean"], None if value["ci95"] is None else scale * value["ci95"])

"""Tables of `hostnet run --seeds`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from rich.text import Text

from hostnet.cli.show import (
    NOTHING,
    buffered_console,
    new_table,
    number,
    print_notes,
    print_path,
    print_tables,
    with_interval,
)
from hostnet.cli.show_cluster import ROWS_MAX
from hostnet.limit_names import limit_notes
from hostnet.notes import notes_of
from hostnet.server_columns import ACTIVATIONS
from hostnet.units import format_rate, is_small_rate, unit_of_rate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from rich.table import Table

    from hostnet.terminal.layout import WideTable

    Row = dict[str, Any]
    Shown: TypeAlias = tuple[tuple[str, ...], dict[str, tuple[str, float]]]


NO_MEAN: Row = {"mean": None, "ci95": None}
"""Mean of a value that no run has."""


MEASURED: dict[str, Shown] = {
    "completions": (
        ("class", "size"),
        {
            "ended": ("completed", 1.0),
            "mean µs": ("mean_us", 1.0),
            "P50": ("p50_us", 1.0),
            "P99": ("p99_us", 1.0),
            "slowdown P99": ("slowdown_p99", 1.0),
        },
    ),
    "jobs": (
        ("job",),
        {"done µs": ("done_us", 1.0), "µs each": ("iteration_us", 1.0), "messages %": ("communication_share", 100.0)},
    ),
    "services": (
        ("class", "host"),
        {
            "answered/s": ("answered_per_s", 1.0),
            "wait µs": ("wait_mean_us", 1.0),
            "P95 latency µs": ("p95_us", 1.0),
            "µJ per request": ("energy_uj_per_request", 1.0),
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
"""Tables of hosts on a network: the key columns of a row, and its shown columns with their scale."""

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
"""Tables of power and energy, which servers have as well, in the form of `MEASURED`."""


def print_means(combined: Row, path: Path, *, brief: bool = False) -> None:
    """Prints the means over all seeds, or the first table of them; the last line is the path of their folder."""
    seeds = combined["seeds"]
    with buffered_console() as console:
        title = f"{combined['name']}, {len(seeds)} seeds from {seeds[0]}, mean ± its 95 % confidence interval"
        console.print(Text(title, style="bold"))
        print_tables(console, *tables_of(combined)[: 1 if brief else None])
        limits = limit_notes(row.get("limited_by") for row in combined.get("workloads", ()))
        print_notes(console, [*limits, *notes_of(combined)])
        print_path(console, path)


def tables_of(combined: Row) -> list[Table]:
    """Returns the tables of a server, or of hosts on a network."""
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
    """Yields the tables that a run has: the first rows of long ones, without empty columns."""
    for name, (keys, columns) in shown.items():
        rows = combined.get(name) or []
        columns_with_values = {
            heading: (column, scale)
            for heading, (column, scale) in columns.items()
            if any(row.get(column, NO_MEAN)["mean"] is not None for row in rows)
        }
        if columns_with_values:
            table = measured_means(rows[:ROWS_MAX], tuple(key for key in keys if key in rows[0]), columns_with_values)
            if len(rows) > ROWS_MAX:
                table.hide_rows(f'{len(rows) - ROWS_MAX} more rows of "{name}"')
            yield table


def class_means(rows: list[Row], latencies: list[Row]) -> Table:
    """Creates the table of goodput, losses and request latencies by traffic class."""
    columns = {
        "Gbps": "goodput_gbps",
        "marked": "marked_segments",
        "NIC drops %": "nic_drop_percent",
        "timeouts": "timeouts",
        "mean µs": "mean_us",
        "P99": "p99_us",
    }
    waits = {row["class"]: row for row in latencies}
    rows = [{**waits.get(row["class"], {}), **row} for row in rows]
    shown = {
        heading: (column, 1.0)
        for heading, column in columns.items()
        if any(row.get(column, NO_MEAN)["mean"] is not None for row in rows)
    }
    return measured_means(rows, ("class",), shown)


def measured_means(rows: list[Row], keys: tuple[str, ...], columns: dict[str, tuple[str, float]]) -> WideTable:
    """Creates a table with a heading, result column and scale for each of its columns; `keys` identify a row."""
    table = new_table(*keys, *columns, left=range(len(keys)), names=len(keys))
    for row in rows:
        names = (str(row[key]) for key in keys)
        table.add_row(
            *names,
            *(mean_text(row.get(column, NO_MEAN), scale, unit_of_rate(column)) for column, scale in columns.values()),
        )
    return table


def workload_means(rows: list[Row]) -> Table:
    """Creates the table of throughput and latency by workload."""
    table = new_table("workload", "GB/s", "latency ns", "P50", "P99", left=(0,))
    table.add_column("limited by")
    for row in rows:
        columns = ("throughput_gb_per_s", "latency_mean_ns", "latency_p50_ns", "latency_p99_ns")
        table.add_row(
            row["workload"],
            *(mean_text(row[column], 1.0, unit_of_rate(column)) for column in columns),
            row["limited_by"] or NOTHING,
        )
    return table


def application_means(rows: list[Row]) -> list[Table]:
    """Returns the table of the performance of applications, if there are any."""
    applications = [row for row in rows if row["kind"] == "app"]
    if not applications:
        return []
    table = new_table("application", "operations/s", "latency µs", "P99", "execution time s", left=(0,))
    columns = (("operations_per_s", 1.0), ("operation_latency_mean_ns", 1e-3), ("operation_latency_p99_ns", 1e-3))
    for row in applications:
        table.add_row(
            row["workload"],
            *(mean_text(row.get(column, NO_MEAN), scale) for column, scale in columns),
            mean_text(row.get("execution_time_s", NO_MEAN)),
        )
    return [table]


def domain_means(rows: list[Row]) -> Table:
    """Creates the table of credits, latency and throughput by domain."""
    table = new_table("domain", "credits in use", "of", "latency ns", "GB/s", "full %", left=(0,))
    for row in rows:
        if row["workload"] == row["part"] == "all":
            table.add_row(
                row["domain"],
                mean_text(row["in_use_mean"]),
                str(row["capacity"]),
                mean_text(row["latency_mean_ns"]),
                mean_text(row["throughput_gb_per_s"], 1.0, "GB/s"),
                mean_text(row["full_share"], 100),
            )
    return table


def channel_means(rows: list[Row]) -> Table:
    """Creates the table of the totals of all memory channels."""
    table = new_table("channels", "read GB/s", "write GB/s", ACTIVATIONS, "RPQ", "WPQ", "write mode %", left=(0,))
    for row in rows:
        if row["channel"] < 0:
            table.add_row(
                "all",
                mean_text(row["read_gb_per_s"], 1.0, "GB/s"),
                mean_text(row["write_gb_per_s"], 1.0, "GB/s"),
                mean_text(row["row_miss_ratio"]),
                mean_text(row["rpq_mean"]),
                mean_text(row["wpq_mean"]),
                mean_text(row["write_mode_share"], 100),
            )
    return table


def mean_text(value: Row, scale: float = 1, unit: str | None = None) -> str:
    """Formats a mean over the seeds with its confidence interval; `unit` is that of a rate."""
    if value["mean"] is None:
        return number(None)
    if unit is not None and is_small_rate(value["mean"], unit):
        return format_rate(value["mean"], unit, value["ci95"])
    return with_interval(scale * value["mean"], None if value["ci95"] is None else scale * value["ci95"])

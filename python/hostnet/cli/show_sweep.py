"""The table that `hostnet sweep` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from hostnet.cli.show import NOTHING, new_table, number, page, print_notes, print_path, print_tables
from hostnet.sweeps.outcome import headline

if TYPE_CHECKING:
    from pathlib import Path

    from rich.table import Table

    Row = dict[str, Any]

ROWS_MAX = 40
"""More rows are not printed."""


def print_sweep(manifest: Row, path: Path) -> None:
    """Prints the rows of a sweep; the last line is the path of its directory."""
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path / "sweep.parquet")
    rows = next(file.iter_batches(ROWS_MAX)).to_pylist()
    hidden = file.metadata.num_rows - len(rows)
    notes = [*manifest["notes"], *([f"{hidden} more rows are in sweep.parquet"] if hidden else [])]
    with page() as console:
        console.print(Text(headline(manifest), style="bold"))
        print_tables(console, sweep_table(manifest, rows))
        print_notes(console, notes)
        print_path(console, path)


OF_SERVERS = {"GB/s": "throughput_gb_per_s", "latency ns": "latency_mean_ns", "p99": "latency_p99_ns"}
"""Headings and columns of workloads."""

OF_HOSTS = {"Gbps": "goodput_gbps", "NIC drops %": "nic_drop_percent", "mean us": "mean_us", "p99": "p99_us"}
"""Headings and columns of classes of traffic."""


def sweep_table(manifest: Row, rows: list[Row]) -> Table:
    """What was swept, and what each workload or class of traffic had of it."""
    paths = [axis["path"] for axis in manifest["over"]]
    seed = ["seed"] if manifest["seeds"] else []
    server = not rows or "workload" in rows[0]
    subject, columns = ("workload", OF_SERVERS) if server else ("class", OF_HOSTS)
    table = new_table(*paths, *seed, subject, *columns, left=(len(paths) + len(seed),))
    if server:
        table.add_column("limited by")
    for row in rows:
        limit = [row["limited_by"] or NOTHING] if server else []
        table.add_row(
            *(str(row[name]) for name in (*paths, *seed, subject)),
            *(number(row[column]) for column in columns.values()),
            *limit,
        )
    return table

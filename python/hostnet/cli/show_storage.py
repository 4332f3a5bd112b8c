"""The table of storage I/O that `hostnet run` prints, and the windows that would fill it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hostnet.cli.show import NOTHING, new_table, number, rate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    Row = dict[str, Any]

COMPLETED_MIN = 100
"""I/Os that have to complete before their latency is told."""

SPARE = 1.1
"""The factor on the shortest window that would do."""


def io_table(rows: Sequence[Row]) -> Table:
    """Lists the workloads that make I/Os; their latency is told once enough of them have completed."""
    table = new_table("storage I/O", "GB/s", "completed", "latency us", "P50", "P99", left=(0,))
    for row in storage_of(rows):
        latencies = (row[f"io_latency_{name}_ns"] for name in ("mean", "p50", "p99"))
        table.add_row(
            row["workload"],
            rate(row, "app_gb_per_s"),
            str(row["io_completed"] or 0),
            *(NOTHING if latency is None else number(latency / 1000) for latency in latencies),
        )
    return table


def windows_wanted(rows: Sequence[Row], window_ns: float) -> list[str]:
    """Says which window would tell the latency of each workload that completes too few I/Os for it."""
    untold = [row for row in storage_of(rows) if row["io_latency_mean_ns"] is None]
    return [f"{row['workload']}: {window_wanted(row['io_completed'] or 0, window_ns)}" for row in untold]


def window_wanted(completed: int, window_ns: float) -> str:
    """Says which window completes enough I/Os."""
    if completed == 0:
        return "no I/O completes within run.duration; a longer one tells its latency"
    # The queue that a job begins with completes first: it may be as long as all that has completed.
    needed = COMPLETED_MIN if completed < COMPLETED_MIN else 2 * completed
    needed_ms = math.ceil(needed / completed * window_ns / 1e5 * SPARE) / 10
    return f'{COMPLETED_MIN} I/Os behind a full queue have to complete: run.duration = "{needed_ms:g} ms"'


def storage_of(rows: Sequence[Row]) -> list[Row]:
    """Finds the rows of workloads that make I/Os."""
    return [row for row in rows if row["kind"] == "fio"]

"""The table of storage I/O that `hostnet run` prints, and the windows that would fill it."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from hostnet.cli.show import NOTHING, new_table, number, rate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.table import Table

    from hostnet._core import Plan

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


def queues_of(plan: Plan) -> dict[str, int]:
    """Returns the number of commands that each storage workload of a server begins with."""
    config = json.loads(plan.effective_json())
    fio = {name: table["jobs"] for name, table in config.get("workload", {}).items() if table["kind"] == "fio"}
    return {name: sum(job["iodepth"] for job in jobs) for name, jobs in fio.items()}


def windows_wanted(rows: Sequence[Row], window_ns: float, queues: Mapping[str, int]) -> list[str]:
    """Says which window would tell the latency of each workload that completes too few I/Os for it."""
    untold = [row for row in storage_of(rows) if row["io_latency_mean_ns"] is None]
    wanted = (
        (name, window_wanted(row["io_completed"] or 0, queues.get(name, 0), window_ns))
        for row in untold
        for name in (str(row["workload"]),)
    )
    return [f"{name}: {text}" for name, text in wanted]


def window_wanted(completed: int, queue: int, window_ns: float) -> str:
    """Says which window completes enough I/Os behind the queue that the workload begins with."""
    if completed == 0:
        return "no I/O completes within run.duration; a longer one tells its latency"
    # Commands of the first queue waited behind a shorter one and do not count: all of them may be among the completed.
    needed = COMPLETED_MIN + max(queue, completed - COMPLETED_MIN)
    needed_ms = math.ceil(needed / completed * window_ns / 1e5 * SPARE) / 10
    return f'{COMPLETED_MIN} I/Os behind a full queue have to complete: run.duration = "{needed_ms:g} ms"'


def storage_of(rows: Sequence[Row]) -> list[Row]:
    """Finds the rows of workloads that make I/Os."""
    return [row for row in rows if row["kind"] == "fio"]

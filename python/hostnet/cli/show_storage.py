"""Window that `hostnet run` needs to measure storage I/O."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostnet._core import Plan

    Row = dict[str, Any]

COMPLETED_MIN = 100
"""Minimum number of completed I/Os for which a latency is shown."""

SPARE = 1.1
"""Safety factor on the shortest sufficient window."""


def queues_of(plan: Plan) -> dict[str, int]:
    """Returns the number of commands that each storage workload of a server starts with."""
    config = json.loads(plan.effective_json())
    fio = {name: table["jobs"] for name, table in config.get("workload", {}).items() if table["kind"] == "fio"}
    return {name: sum(job["iodepth"] for job in jobs) for name, jobs in fio.items()}


def recommended_windows(rows: Sequence[Row], window_ns: float, queues: Mapping[str, int]) -> list[str]:
    """Recommends a window for each storage workload with too few completed I/Os for a latency."""
    unmeasured = [row for row in storage_of(rows) if row["io_latency_mean_ns"] is None]
    wanted = (
        (name, recommended_window(row["io_completed"] or 0, queues.get(name, 0), window_ns))
        for row in unmeasured
        for name in (str(row["workload"]),)
    )
    return [f"{name}: {text}" for name, text in wanted]


def recommended_window(completed: int, queue: int, window_ns: float) -> str:
    """Recommends a window in which enough I/Os complete behind the initial queue of the workload."""
    if completed == 0:
        return "no I/O completes within run.duration; increase it to measure the latency"
    # Commands of the initial queue waited behind a shorter one and do not count. All of them may have completed.
    needed = COMPLETED_MIN + max(queue, completed - COMPLETED_MIN)
    needed_ms = math.ceil(needed / completed * window_ns / 1e5 * SPARE) / 10
    needs = f"its I/O latency needs {COMPLETED_MIN} I/Os that complete behind a full queue"
    return f'{needs}: set run.duration = "{needed_ms:g} ms"'


def storage_of(rows: Sequence[Row]) -> list[Row]:
    """Returns the rows of storage workloads."""
    return [row for row in rows if row["kind"] == "fio"]

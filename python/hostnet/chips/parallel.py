"""Runs several chips concurrently, one per processor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event
from typing import Any

from hostnet import _core
from hostnet.chips.run import run_chip_plan
from hostnet.processes.usable import usable_processors

Progress = Callable[[dict[str, Any]], bool | None]

POLL_EVERY_S = 0.1
"""Interval between two reports of the progress, in s."""


def run_chips(plans: Sequence[_core.ChipPlan], progress: Progress | None = None) -> list[dict[str, Any]]:
    """Runs the plans and returns their summaries in the same order.

    Raises:
        KeyboardInterrupt: The progress callback stopped the runs.
    """
    stopping = Event()
    statuses: list[dict[str, Any]] = [{"simulated_ps": 0, "events": 0, "progress": 0.0} for _ in plans]

    def run(index: int) -> dict[str, Any]:
        def hear(status: dict[str, Any]) -> bool:
            statuses[index] = status
            return not stopping.is_set()

        summary = run_chip_plan(plans[index], progress=hear).summary
        statuses[index] = {**statuses[index], "progress": 1.0}
        return summary

    with ThreadPoolExecutor(usable_processors()) as pool:
        pending = {pool.submit(run, index): index for index in range(len(plans))}
        try:
            waiting = set(pending)
            while waiting:
                _, waiting = wait(waiting, POLL_EVERY_S)
                if progress and progress(combine_status(statuses)) is False:
                    raise KeyboardInterrupt
        except BaseException:
            stopping.set()
            pool.shutdown(cancel_futures=True)
            raise
        return [future.result() for future in pending]


def combine_status(statuses: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Combines the status of all runs into one."""
    done = sum(status["progress"] for status in statuses)
    return {
        "phase": f"{len(statuses)} chips",
        "simulated_ps": max(status["simulated_ps"] for status in statuses),
        "events": sum(status["events"] for status in statuses),
        "progress": done / len(statuses),
    }

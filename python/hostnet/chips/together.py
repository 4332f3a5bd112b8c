"""Several chips at once, one on every processor."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event
from typing import Any

from hostnet import _core
from hostnet.chips.run import run_chip_plan

Progress = Callable[[dict[str, Any]], bool | None]

LOOK_EVERY_S = 0.1
"""How often the progress of all is told."""


def run_chips(plans: Sequence[_core.ChipPlan], progress: Progress | None = None) -> list[dict[str, Any]]:
    """The summary of each plan, in their order.

    Raises:
        KeyboardInterrupt: The progress callback stopped them.
    """
    stopping = Event()
    heard: list[dict[str, Any]] = [{"simulated_ps": 0, "events": 0, "progress": 0.0} for _ in plans]

    def run(index: int) -> dict[str, Any]:
        def hear(status: dict[str, Any]) -> bool:
            heard[index] = status
            return not stopping.is_set()

        summary = run_chip_plan(plans[index], progress=hear).summary
        heard[index] = {**heard[index], "progress": 1.0}
        return summary

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        pending = {pool.submit(run, index): index for index in range(len(plans))}
        try:
            waiting = set(pending)
            while waiting:
                _, waiting = wait(waiting, LOOK_EVERY_S)
                if progress and progress(together(heard)) is False:
                    raise KeyboardInterrupt
        except BaseException:
            stopping.set()
            pool.shutdown(cancel_futures=True)
            raise
        return [future.result() for future in pending]


def together(heard: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """How all of them stand."""
    done = sum(status["progress"] for status in heard)
    return {
        "phase": f"{len(heard)} chips",
        "simulated_ps": max(status["simulated_ps"] for status in heard),
        "events": sum(status["events"] for status in heard),
        "progress": done / len(heard),
    }

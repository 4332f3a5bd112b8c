"""Runs of the memory alone, several at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from hostnet import _core

Progress = Callable[[dict[str, Any]], bool | None]

LOOK_EVERY_S = 0.1
"""Time between two calls of the progress callback."""


class Desk:
    """How far each run is, and whether all shall stop."""

    def __init__(self, requests: Sequence[int]) -> None:
        """`requests` is what each run will serve."""
        self.requests = requests
        self.served = [0] * len(requests)
        self.simulated_ps = [0] * len(requests)
        self.stopped = False

    def run(self, index: int, plan: _core.MemoryPlan) -> _core.MemoryRunResult | None:
        """Runs a plan, or not if all shall stop. A run uses a core without the interpreter."""
        if self.stopped:
            return None

        def tell(status: dict[str, Any]) -> bool:
            self.served[index], self.simulated_ps[index] = status["requests"], status["simulated_ps"]
            return not self.stopped

        result = _core.run_memory(plan, progress=tell)
        self.served[index], self.simulated_ps[index] = result.requests, result.simulated_ps
        return result

    def status(self, futures: Sequence[Future[_core.MemoryRunResult | None]]) -> dict[str, Any]:
        """The state of all runs, as a progress callback wants it."""
        return {
            "done": sum(future.done() for future in futures),
            "total": len(futures),
            "simulated_ps": sum(self.simulated_ps),
            "requests": sum(self.served),
            "progress": sum(self.served) / max(sum(self.requests), 1),
        }


def run_pool(
    plans: Sequence[_core.MemoryPlan], requests: Sequence[int], threads: int, progress: Progress | None
) -> list[_core.MemoryRunResult]:
    """Runs plans on `threads` threads (0: all cores) and returns their results in the same order.

    Raises:
        KeyboardInterrupt: The progress callback, or Ctrl-C, stopped the runs.
    """
    desk = Desk(requests)
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        futures = [pool.submit(desk.run, index, plan) for index, plan in enumerate(plans)]
        pending = set(futures)
        try:
            while pending:
                pending = wait(pending, LOOK_EVERY_S).not_done
                if progress is not None and progress(desk.status(futures)) is False:
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            desk.stopped = True
            raise
    results = [future.result() for future in futures]
    return [result for result in results if result is not None]

"""Computes points on the threads of this machine."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import TYPE_CHECKING, Any

from hostnet.sweeps.chunks import split_into_chunks
from hostnet.sweeps.outcome import outcome_of, types_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hostnet.sweeps.chips import AnyResults
    from hostnet.sweeps.job import Job, Keep, Report
    from hostnet.sweeps.outcome import Outcome, Types

    Done = tuple[list[Outcome], Types]

POLL_EVERY_S = 0.1
"""Longest interval between two calls of the progress callback, in s."""

POINTS_PER_TASK = {"run": 1, "predict": 64}
"""Points per task: a run is stored as soon as it ends, while predictions are too short for a task each."""


class LocalWorkers:
    """Computes points in threads of this process."""

    def __init__(self, job: Job) -> None:
        """Starts without any points."""
        self.job = job
        self.stopped = False
        self.shares: dict[int, float] = {}

    def work(self, points: list[int]) -> Done:
        """Computes points, or fewer if it is stopped meanwhile. A run does not hold the interpreter lock."""
        outcomes: list[Outcome] = []
        types: Types = {}
        for point in points:
            results = self._compute(point)
            if results is None or not results.complete:
                break
            outcomes.append(outcome_of(point, results))
            types = types or types_of(results)
        return outcomes, types

    @property
    def share(self) -> float:
        """Progress of the points being computed, in points."""
        return sum(list(self.shares.values()))

    def _compute(self, point: int) -> AnyResults | None:
        """Computes a point; None if it was stopped."""

        def report(status: dict[str, Any]) -> bool:
            self.shares[point] = status["progress"]
            return not self.stopped

        try:
            return None if self.stopped else self.job.compute(point, report)
        finally:
            self.shares.pop(point, None)


def compute_locally(job: Job, points: Iterable[int], threads: int, keep: Keep, report: Report) -> None:
    """Computes points, `threads` at a time, and passes each to `keep` when it is finished.

    Raises:
        KeyboardInterrupt: `report` returned False, or Ctrl-C; finished points are kept.
        ConfigError: A file that the configuration names has changed since the check.
        SimulationError: One of the runs failed; finished points are kept.
    """
    workers = LocalWorkers(job)
    parts = split_into_chunks(points, POINTS_PER_TASK[job.engine])
    done: set[Future[Done]] = set()
    pending: set[Future[Done]] = set()
    with ThreadPoolExecutor(threads) as pool:
        try:
            while True:
                pending.update(pool.submit(workers.work, part) for part in islice(parts, 2 * threads - len(pending)))
                if not pending:
                    break
                done, pending = wait(pending, POLL_EVERY_S, FIRST_COMPLETED)
                for future in done:
                    keep(*future.result())
                if not report(workers.share):
                    raise KeyboardInterrupt
        except BaseException:
            workers.stopped = True
            _keep_finished(done | pending, keep)
            raise


def _keep_finished(futures: set[Future[Done]], keep: Keep) -> None:
    """Keeps the points that are finished, or still finish after the others were stopped."""
    for future in futures:
        future.cancel()
    for future in wait(futures).done:
        if not future.cancelled() and future.exception() is None:
            keep(*future.result())

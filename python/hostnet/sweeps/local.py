"""Computes points on the threads of this machine."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import TYPE_CHECKING, Any

from hostnet.sweeps.cut import cut
from hostnet.sweeps.outcome import outcome_of, types_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hostnet.sweeps.chips import AnyResults
    from hostnet.sweeps.job import Job, Keep, Tell
    from hostnet.sweeps.outcome import Outcome, Types

    Done = tuple[list[Outcome], Types]

LOOK_EVERY_S = 0.1
"""Time between two calls of the progress callback at most."""

TOGETHER = {"run": 1, "predict": 64}
"""Points that are handed over at once: a run is kept as soon as it ends, predictions are too short for that."""


class Crew:
    """The points that are being computed."""

    def __init__(self, job: Job) -> None:
        """Nothing is being computed yet."""
        self.job = job
        self.stopped = False
        self.shares: dict[int, float] = {}

    def work(self, points: list[int]) -> Done:
        """Computes some points, fewer if the crew is stopped meanwhile. A run uses a core without the interpreter."""
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
        """How much of the points in work is done, in points."""
        return sum(list(self.shares.values()))

    def _compute(self, point: int) -> AnyResults | None:
        def tell(status: dict[str, Any]) -> bool:
            self.shares[point] = status["progress"]
            return not self.stopped

        try:
            return None if self.stopped else self.job.compute(point, tell)
        finally:
            self.shares.pop(point, None)


def compute_here(job: Job, points: Iterable[int], threads: int, keep: Keep, tell: Tell) -> None:
    """Computes points, `threads` at a time, and hands over what is done as it is done.

    Raises:
        KeyboardInterrupt: `tell` returned False, or Ctrl-C; what was done is kept.
        ConfigError: A file that the configuration names has changed since the check.
        SimulationError: One of the runs could not go on; what was done is kept.
    """
    crew = Crew(job)
    parts = cut(points, TOGETHER[job.engine])
    done: set[Future[Done]] = set()
    pending: set[Future[Done]] = set()
    with ThreadPoolExecutor(threads) as pool:
        try:
            while True:
                pending.update(pool.submit(crew.work, part) for part in islice(parts, 2 * threads - len(pending)))
                if not pending:
                    break
                done, pending = wait(pending, LOOK_EVERY_S, FIRST_COMPLETED)
                for future in done:
                    keep(*future.result())
                if not tell(crew.share):
                    raise KeyboardInterrupt
        except BaseException:
            crew.stopped = True
            _rescue(done | pending, keep)
            raise


def _rescue(futures: set[Future[Done]], keep: Keep) -> None:
    """Keeps what has come to its end, or still does although the others were stopped."""
    for future in futures:
        future.cancel()
    for future in wait(futures).done:
        if not future.cancelled() and future.exception() is None:
            keep(*future.result())

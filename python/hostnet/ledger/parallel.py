"""Executes single-threaded runs in parallel."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from hostnet import _core
from hostnet.processes.usable import usable_processors

Status = dict[str, Any]
Progress = Callable[[Status], bool | None]
Result = TypeVar("Result")

POLL_EVERY_S = 0.1
"""Interval between two calls of the progress callback, in s."""


@dataclass(frozen=True)
class Job(Generic[Result]):
    """A run: a function of its progress callback, and the final value of its status.

    `weight` is the cost of one unit of that status, relative to other jobs.
    """

    run: Callable[[Progress], Result]
    size: int
    weight: float = 1.0

    @property
    def work(self) -> float:
        """Cost of the job."""
        return self.size * self.weight


class JobTracker(Generic[Result]):
    """Status of all runs.

    `measure` is the status value that grows up to the size of a job, and `unit` the unit of the work.
    """

    def __init__(self, jobs: Sequence[Job[Result]], measure: str, unit: str) -> None:
        """Starts without any run."""
        self.jobs = jobs
        self.measure = measure
        self.unit = unit
        self.last: list[Status] = [{} for _ in jobs]
        self.stopped = False

    def run(self, index: int) -> Result | None:
        """Executes a job, unless all runs are to stop. A run does not hold the interpreter lock."""
        if self.stopped:
            return None

        def report(status: Status) -> bool:
            self.last[index] = status
            return not self.stopped

        return self.jobs[index].run(report)

    def status(self, futures: Sequence[Future[Result | None]]) -> Status:
        """Returns the combined status of all runs for a progress callback."""
        sizes = [job.size for job in self.jobs]
        ended = [future.done() for future in futures]
        come = [
            size if done else min(int(status.get(self.measure, 0)), size)
            for size, done, status in zip(sizes, ended, self.last, strict=True)
        ]
        return {
            "done": sum(ended),
            "total": len(futures),
            "simulated_ps": sum(int(status.get("simulated_ps", 0)) for status in self.last),
            # A short run may end before its first status.
            self.unit: sum(come)
            if self.unit == self.measure
            else sum(int(status.get(self.unit, 0)) for status in self.last),
            "progress": sum(part * job.weight for part, job in zip(come, self.jobs, strict=True))
            / max(sum(job.work for job in self.jobs), 1),
        }


def run_jobs(
    jobs: Sequence[Job[Result]], measure: str, unit: str, threads: int, progress: Progress | None
) -> list[Result]:
    """Executes jobs on `threads` threads (0: all cores) and returns their results in the same order.

    Raises:
        KeyboardInterrupt: The progress callback, or Ctrl-C, stopped the runs.
    """
    desk = JobTracker(jobs, measure, unit)
    with ThreadPoolExecutor(threads or usable_processors()) as pool:
        futures = [pool.submit(desk.run, index) for index in range(len(jobs))]
        pending = set(futures)
        try:
            while pending:
                pending = wait(pending, POLL_EVERY_S).not_done
                if progress is not None and progress(desk.status(futures)) is False:
                    raise KeyboardInterrupt
                failed = next((future for future in futures if future.done() and future.exception()), None)
                if failed is not None:
                    failed.result()
        except BaseException:
            desk.stopped = True
            raise
    results = [future.result() for future in futures]
    return [result for result in results if result is not None]


def run_pool(
    plans: Sequence[_core.MemoryPlan], requests: Sequence[int], threads: int, progress: Progress | None
) -> list[_core.MemoryRunResult]:
    """Runs plans of the memory alone, each with the given number of requests.

    Raises:
        KeyboardInterrupt: The progress callback, or Ctrl-C, stopped the runs.
    """

    def job(plan: _core.MemoryPlan, size: int) -> Job[_core.MemoryRunResult]:
        return Job(lambda report: _core.run_memory(plan, progress=report), size)

    jobs = [job(plan, size) for plan, size in zip(plans, requests, strict=True)]
    return run_jobs(jobs, "requests", "requests", threads, progress)


def run_nocs(plans: Sequence[_core.NocPlan], threads: int, progress: Progress | None) -> list[_core.NocRunResult]:
    """Runs plans of the network alone.

    Raises:
        KeyboardInterrupt: The progress callback, or Ctrl-C, stopped the runs.
    """

    def job(plan: _core.NocPlan) -> Job[_core.NocRunResult]:
        run = json.loads(plan.effective_json())["run"]
        return Job(lambda report: _core.run_noc(plan, progress=report), run["warmup"] + run.get("measure", 1))

    return run_jobs([job(plan) for plan in plans], "cycles", "packets", threads, progress)

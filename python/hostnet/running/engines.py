"""Computes results with one of two engines: the simulator or the predictor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.running import simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hostnet._core import Plan
    from hostnet.running.results import Results, Source

    Progress = Callable[[dict[str, Any]], bool | None]

ENGINES = ("run", "predict")
"""Values of `--engine`."""

PROGRESS_EVERY = 64
"""Predictions between two calls of the progress callback."""


def check_engine(engine: str) -> None:
    """Checks the name of an engine.

    Raises:
        ConfigError: There is no such engine.
    """
    if engine not in ENGINES:
        raise ConfigError("unknown-name", f"--engine {engine}: is not one of {', '.join(ENGINES)}")


def compute(engine: str, plan: Plan, source: Source, progress: Progress | None = None) -> Results:
    """Runs or predicts a plan.

    Raises:
        SimulationError: The run failed.
    """
    if engine == "run":
        return simulate.run_plan(plan, source, progress=progress)
    return simulate.predict_plan(plan, source)


def evaluate(
    engine: str, plans: Sequence[tuple[Plan, Source]], threads: int | None, progress: Progress | None = None
) -> list[Results]:
    """Runs or predicts many plans and returns their results in the same order, regardless of `threads`.

    Raises:
        SimulationError: One of the runs failed.
    """
    if engine == "predict":
        return _predict(plans, progress)
    return simulate.run_plans(plans, threads=threads, progress=progress)


def _predict(plans: Sequence[tuple[Plan, Source]], progress: Progress | None) -> list[Results]:
    """Predicts many plans, with progress reports."""
    results = []
    for index, (plan, source) in enumerate(plans):
        results.append(simulate.predict_plan(plan, source))
        if progress is not None and index % PROGRESS_EVERY == 0:
            status = {"done": index, "total": len(plans), "simulated_ps": 0, "events": 0}
            if progress({**status, "progress": index / len(plans)}) is False:
                raise KeyboardInterrupt
    return results

"""What answers for a configuration: the simulator, or the predictor."""

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
"""The names for `--engine`."""

TELL_EVERY = 64
"""Predictions between two calls of the progress callback."""


def check_engine(engine: str) -> None:
    """Makes sure that there is such an engine.

    Raises:
        ConfigError: There is none.
    """
    if engine not in ENGINES:
        raise ConfigError("unknown-name", f"--engine {engine}: is not one of {', '.join(ENGINES)}")


def compute(engine: str, plan: Plan, source: Source, progress: Progress | None = None) -> Results:
    """Runs or predicts a plan.

    Raises:
        SimulationError: The run could not go on.
    """
    if engine == "run":
        return simulate.run_plan(plan, source, progress=progress)
    return simulate.predict_plan(plan, source)


def evaluate(
    engine: str, plans: Sequence[tuple[Plan, Source]], threads: int | None, progress: Progress | None = None
) -> list[Results]:
    """The results of many plans, in their order; they do not depend on `threads`.

    Raises:
        SimulationError: One of the runs could not go on.
    """
    if engine == "predict":
        return _predict(plans, progress)
    return simulate.run_plans(plans, threads=threads, progress=progress)


def _predict(plans: Sequence[tuple[Plan, Source]], progress: Progress | None) -> list[Results]:
    results = []
    for index, (plan, source) in enumerate(plans):
        results.append(simulate.predict_plan(plan, source))
        if progress is not None and index % TELL_EVERY == 0:
            status = {"done": index, "total": len(plans), "simulated_ps": 0, "events": 0}
            if progress({**status, "progress": index / len(plans)}) is False:
                raise KeyboardInterrupt
    return results

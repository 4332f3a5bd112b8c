"""Remedies: steps that raise each limit of the server, and their effect on every workload."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from hostnet import _core
from hostnet._core import ConfigError, Plan
from hostnet.explanation.raises import RAISE, Config

Rates = dict[str, tuple[float, float | None]]
"""Throughput of every workload in GB/s, with the half-width of its 95 % interval."""

Summary = Mapping[str, Any]
Progress = Callable[[dict[str, Any]], bool | None]
Engine = Callable[[Sequence[Plan], Progress | None], list[Summary]]
"""Returns the summary of each plan, in the same order, by simulation or prediction."""

SIMULATED_FOR = "300 us"
"""Simulated time of a step, in which a gain of a few percent is visible."""

FACTORS = (RAISE, 2.0, 4.0)
"""Factors by which every limit is raised, as in `crates/commands`."""

UNSETTLED = "rates and waits that have not settled"
"""Marks a prediction that has not converged and is meaningless."""

NO_GAIN = 0.01
"""Changes below this fraction count as none."""

CORE_KINDS = ("stream", "app")
"""Kinds of workloads whose traffic is that of cores."""


@dataclass(frozen=True)
class Step:
    """A change of the server and its effect.

    `factor` is the factor by which a limit was raised; 1 for changes that are no multiple. `limit` is the name of that
    limit in answers. `gains` has the relative change of throughput per workload; `confirmed` has the simulated change
    beside a predicted one, and `noise` the half-width of their 95 % interval. `reach` is set only for the raise by a
    quarter by which limits are judged: the factor that it amounts to in whole numbers and packets. `offered` has the
    load that each storage workload offers after the change, in GB/s; it is empty unless the step was predicted.
    """

    what: str
    path: str
    before: str
    after: str
    factor: float = 1.0
    limit: str | None = None
    gains: dict[str, float] = field(default_factory=dict)
    confirmed: dict[str, float] | None = None
    noise: dict[str, float] | None = None
    reach: float | None = None
    offered: dict[str, float] = field(default_factory=dict)

    def text(self) -> str:
        """Describes the change, with the old and new value of a key."""
        return f"{self.what} {self.before} -> {self.after}" if self.after else self.what

    def per_quarter(self, gain: float) -> float:
        """Returns the gain per raise by a quarter, so that larger raises have no advantage."""
        return gain * (RAISE - 1) / max((self.reach or RAISE) - 1, RAISE - 1)

    def as_dict(self) -> dict[str, Any]:
        """Returns the step, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Steps:
    """All steps, in descending order of gain; `engine` is the engine that computed them."""

    engine: Literal["predict", "run"]
    workload: str
    steps: list[Step]


def simulated(plans: Sequence[Plan], progress: Progress | None) -> list[Summary]:
    """Simulates plans; an `Engine`.

    Raises:
        KeyboardInterrupt: The progress callback stopped it.
        SimulationError: One of the runs failed.
    """
    results = _core.run_many(list(plans), progress=progress)
    if not all(result.complete for result in results):
        raise KeyboardInterrupt
    return [json.loads(result.summary_json) for result in results]


def predicted(plans: Sequence[Plan], progress: Progress | None) -> list[Summary]:
    """Predicts plans, well below a millisecond each; an `Engine`."""
    del progress
    return [json.loads(_core.predict(plan).summary_json) for plan in plans]


def find_remedies(
    config: Config,
    workload: str,
    *,
    offered: Mapping[str, float],
    base_dir: str = ".",
    confirm: bool = False,
    engine: Engine = predicted,
    progress: Progress | None = None,
) -> Steps:
    """Returns the effect of every step that the configuration allows, in descending order of one workload's gain.

    Args:
        config: A complete configuration, as in `manifest.json`.
        workload: The workload whose gain determines the order.
        offered: Load that each storage workload offers, in GB/s.
        base_dir: The folder that paths in the configuration are relative to.
        confirm: True to simulate predicted steps as well.
        engine: Engine that computes the effects.
        progress: As for `hostnet.run_many`.
    """
    now = resolve_complete(with_short_run(config), base_dir)
    if engine is predicted and not confirm:
        steps = json.loads(_core.find_remedies(now, workload, json.dumps(offered), base_dir=base_dir))
        return Steps("predict", workload, [Step(**step) for step in steps])
    found = [*_valid_steps(config, offered, base_dir), *inner_raises(now, config)]
    if engine is not predicted:
        found = _smallest_steps(found)
    steps = with_gains([step for step, _ in found], engine([now, *(plan for _, plan in found)], progress))
    if confirm:
        steps = _confirmed(steps, [now, *(plan for _, plan in found)], progress)
    steps = sort_by_gain(steps, workload)
    return Steps("predict" if engine is predicted else "run", workload, steps)


def _smallest_steps(found: list[tuple[Step, Plan]]) -> list[tuple[Step, Plan]]:
    """Returns the smallest step of each limit, to save simulation time."""
    first: dict[str, tuple[Step, Plan]] = {}
    for step, plan in found:
        first.setdefault(step.path, (step, plan))
    return list(first.values())


def _confirmed(steps: list[Step], plans: Sequence[Plan], progress: Progress | None) -> list[Step]:
    """Simulates the smallest step of each limit, and all others that are predicted to have an effect."""
    smallest: dict[str, float] = {}
    for step in steps:
        smallest.setdefault(step.path, step.factor)
    wanted = [
        index
        for index, step in enumerate(steps)
        if step.factor == smallest[step.path] or any(abs(gain) >= NO_GAIN for gain in step.gains.values())
    ]
    measured = _gains_over_first(simulated([plans[0], *(plans[1 + index] for index in wanted)], progress))
    sure = dict(zip(wanted, measured, strict=True))
    return [
        replace(step, confirmed=sure[index][0], noise=sure[index][1]) if index in sure else step
        for index, step in enumerate(steps)
    ]


def cap_by_offered_load(steps: Steps, rows: Sequence[Mapping[str, Any]]) -> Steps:
    """Caps predicted gains of storage by the load that it offers after each step.

    A gain is relative to the predicted rate. If that is below the measured one, the gain can exceed the offered load.

    Args:
        steps: The predicted steps.
        rows: The facts of every workload, as in an explanation.
    """
    measured = {row["workload"]: row["app_gb_per_s"] for row in rows if row["kind"] == "fio" and row["app_gb_per_s"]}

    def capped(step: Step) -> Step:
        room = {
            name: max(step.offered[name] / rate - 1, 0.0) for name, rate in measured.items() if name in step.offered
        }
        return replace(step, gains={name: min(gain, room.get(name, gain)) for name, gain in step.gains.items()})

    return replace(steps, steps=sort_by_gain([capped(step) for step in steps.steps], steps.workload))


def sort_by_gain(steps: list[Step], workload: str) -> list[Step]:
    """Sorts steps by the gain of the first step of their limit, in descending order."""
    first: dict[str, float] = {}
    for step in steps:
        first.setdefault(step.path, (step.confirmed or step.gains).get(workload, 0.0))
    return sorted(steps, key=lambda step: (-first[step.path], step.path, step.factor))


def resolve_complete(config: Config, base_dir: str) -> Plan:
    """Resolves a complete configuration.

    Raises:
        ConfigError: The configuration is invalid.
    """
    return _core.resolve(json.dumps(config), format="json", file="<step>", base_dir=base_dir)


def with_short_run(config: Config) -> Config:
    """Returns the configuration with a run that is just long enough."""
    run = config["run"]
    kept = {key: run[key] for key in ("name", "seed", "warmup") if key in run}
    return {**config, "run": {**kept, "duration": SIMULATED_FOR}}


def _valid_steps(config: Config, offered: Mapping[str, float], base_dir: str) -> list[tuple[Step, Plan]]:
    """Returns the steps that are valid, with their plans."""
    found = []
    for step, changed in candidates(config, offered, base_dir):
        try:
            found.append((step, resolve_complete(with_short_run(changed), base_dir)))
        except ConfigError:
            continue
    return found


def candidates(config: Config, offered: Mapping[str, float], base_dir: str = ".") -> list[tuple[Step, Config]]:
    """Returns all steps in every limit that the workloads of the configuration use, valid or not."""
    found = _core.candidates(json.dumps(config), json.dumps(offered), base_dir=base_dir)
    return [(Step(**step), changed) for step, changed in json.loads(found)]


def inner_raises(now: Plan, config: Config) -> list[tuple[Step, Plan]]:
    """Returns raises by a quarter that no single key of the configuration achieves, as predictions make them.

    They are faster buses and links with nothing else changed, and higher demand of workloads.
    """
    return [(Step(**json.loads(step)), plan) for step, plan in _core.inner_raises(now, json.dumps(config))]


def with_gains(steps: Sequence[Step], summaries: Sequence[Summary]) -> list[Step]:
    """Adds the gains to the steps; the first summary is that of the unchanged server."""
    measured = zip(steps, _gains_over_first(summaries), summaries[1:], strict=True)
    return [
        replace(step, gains=gains, noise=noise, offered=summary.get("offered_gb_per_s") or {})
        for step, (gains, noise), summary in measured
    ]


def _gains_over_first(summaries: Sequence[Summary]) -> list[tuple[dict[str, float], dict[str, float] | None]]:
    """Returns the gains and their noise of every summary over the first."""
    now, *after = [throughputs(summary) for summary in summaries]
    return [(_gains(now, then), _noise(now, then)) for then in after]


def _gains(now: Rates, then: Rates) -> dict[str, float]:
    """Returns the relative change of the throughput of each workload."""
    return {name: then[name][0] / rate - 1 for name, (rate, _) in now.items() if rate and name in then}


def _noise(now: Rates, then: Rates) -> dict[str, float] | None:
    """Returns the noise of the gains; None for predicted rates."""
    found = {name: _share(now[name], then[name]) for name, (rate, _) in now.items() if rate and name in then}
    return {name: noise for name, noise in found.items() if noise is not None} or None


def _share(now: tuple[float, float | None], then: tuple[float, float | None]) -> float | None:
    """Returns the half-width of the 95 % interval of a gain."""
    (rate, near), (other, far) = now, then
    return None if near is None or far is None else math.hypot(far, near * other / rate) / rate


def is_settled(summary: Summary) -> bool:
    """Returns False for a prediction that has not converged."""
    return UNSETTLED not in summary.get("uncertainty", {}).get("outside", ())


def throughputs(summary: Summary) -> Rates:
    """Returns the throughput of every workload; empty for a prediction that has not converged."""
    if not is_settled(summary):
        return {}
    rows = summary["workloads"]
    return {row["workload"]: (row["app_gb_per_s"] or 0.0, row.get("throughput_ci95")) for row in rows}

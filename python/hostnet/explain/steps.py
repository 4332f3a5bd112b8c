"""What would help: steps in each limit of the server, and what they do to every workload."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from hostnet import _core
from hostnet._core import ConfigError, Plan
from hostnet.explain.raises import NUMBERS, RAISE, Config, Limit, faster_device, limits, raise_limit, reached
from hostnet.explain.slower import SLOWER, with_slower_storage

Rates = dict[str, tuple[float, float | None]]
"""The throughput of every workload in GB/s, and half of its interval of 95 %."""

Summary = Mapping[str, Any]
Progress = Callable[[dict[str, Any]], bool | None]
Engine = Callable[[Sequence[Plan], Progress | None], list[Summary]]
"""Gives the summary of each plan, in their order: simulated or predicted."""

FACTORS = (RAISE, 2.0, 4.0)
"""How far every limit is raised."""

SIMULATED_FOR = "300 us"
"""How long a step is simulated: enough to see a gain of a few percent."""

UNSETTLED = "rates and waits that have not settled"
"""Marks a prediction that has not converged and says nothing."""

NO_GAIN = 0.01
"""A change of less than this is called none."""

CORE_KINDS = ("stream", "app")
"""Kinds of workloads that are traffic of cores."""


@dataclass(frozen=True)
class Step:
    """One change of the server, and what it does.

    `factor` says how far a limit was raised; 1 of a change that is no multiple. `limit` is what answers call that
    limit. `gains` has the throughput of every workload relative to now, less 1; `confirmed` the same, simulated beside
    a prediction, and `noise` how far off these may be (95 % of cases). `reach` is there of the raise by a quarter that
    limits are judged by, and nothing else: the factor that it comes to in whole numbers and packets. `offered` has
    what each storage workload offers after the change, in GB/s; empty unless the step was predicted.
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

    def in_words(self) -> str:
        """What is changed, and from what to what where a key says so."""
        return f"{self.what} {self.before} -> {self.after}" if self.after else self.what

    def per_quarter(self, gain: float) -> float:
        """The gain per quarter that a limit was raised by: whoever is raised further is not ahead for that."""
        return gain * (RAISE - 1) / max((self.reach or RAISE) - 1, RAISE - 1)

    def as_dict(self) -> dict[str, Any]:
        """The step as JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Steps:
    """All steps, the one that helps most first; `engine` says how they were told."""

    engine: Literal["predict", "run"]
    workload: str
    steps: list[Step]


def simulated(plans: Sequence[Plan], progress: Progress | None) -> list[Summary]:
    """An `Engine` that simulates.

    Raises:
        KeyboardInterrupt: The progress callback stopped it.
        SimulationError: One of the runs could not go on.
    """
    results = _core.run_many(list(plans), progress=progress)
    if not all(result.complete for result in results):
        raise KeyboardInterrupt
    return [json.loads(result.summary_json) for result in results]


def predicted(plans: Sequence[Plan], progress: Progress | None) -> list[Summary]:
    """An `Engine` that predicts, well below a millisecond each."""
    del progress
    return [json.loads(_core.predict(plan).summary_json) for plan in plans]


def what_helps(
    config: Config,
    workload: str,
    *,
    offered: Mapping[str, float],
    base_dir: str = ".",
    confirm: bool = False,
    engine: Engine = predicted,
    progress: Progress | None = None,
) -> Steps:
    """The effect of every step that the configuration allows, sorted by the gain of one workload.

    Args:
        config: A complete configuration, as `manifest.json` holds it.
        workload: Whose gain counts.
        offered: What each storage workload offers, in GB/s.
        base_dir: The folder that paths in the configuration start from.
        confirm: Whether to simulate too what was predicted.
        engine: What tells the effect.
        progress: As for `hostnet.run_many`.
    """
    now = plan_of(shortened(config), base_dir)
    found = [*_allowed(config, offered, base_dir), *inner_raises(now, config)]
    if engine is not predicted:
        found = _first_of_each(found)
    steps = gains_of_each([step for step, _ in found], engine([now, *(plan for _, plan in found)], progress))
    if confirm:
        steps = _confirmed(steps, [now, *(plan for _, plan in found)], progress)
    steps = most_helpful_first(steps, workload)
    return Steps("predict" if engine is predicted else "run", workload, steps)


def _first_of_each(found: list[tuple[Step, Plan]]) -> list[tuple[Step, Plan]]:
    """The smallest step of each limit: simulating more of them takes its time."""
    first: dict[str, tuple[Step, Plan]] = {}
    for step, plan in found:
        first.setdefault(step.path, (step, plan))
    return list(first.values())


def _confirmed(steps: list[Step], plans: Sequence[Plan], progress: Progress | None) -> list[Step]:
    """The steps, simulated too: the smallest of each limit, and the others that are predicted to do anything."""
    smallest: dict[str, float] = {}
    for step in steps:
        smallest.setdefault(step.path, step.factor)
    wanted = [
        index
        for index, step in enumerate(steps)
        if step.factor == smallest[step.path] or any(abs(gain) >= NO_GAIN for gain in step.gains.values())
    ]
    measured = _of_each(simulated([plans[0], *(plans[1 + index] for index in wanted)], progress))
    sure = dict(zip(wanted, measured, strict=True))
    return [
        replace(step, confirmed=sure[index][0], noise=sure[index][1]) if index in sure else step
        for index, step in enumerate(steps)
    ]


def within_offer(steps: Steps, rows: Sequence[Mapping[str, Any]]) -> Steps:
    """Caps predicted gains of storage by the load that it offers after each step.

    A gain is relative to the predicted rate, so where that is below the measured one it can go beyond the offered load.

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

    return replace(steps, steps=most_helpful_first([capped(step) for step in steps.steps], steps.workload))


def most_helpful_first(steps: list[Step], workload: str) -> list[Step]:
    """Sorted by what the first step of each limit does, the others behind it."""
    first: dict[str, float] = {}
    for step in steps:
        first.setdefault(step.path, (step.confirmed or step.gains).get(workload, 0.0))
    return sorted(steps, key=lambda step: (-first[step.path], step.path, step.factor))


def plan_of(config: Config, base_dir: str) -> Plan:
    """The plan of a complete configuration.

    Raises:
        ConfigError: Something in it is not allowed.
    """
    return _core.resolve(json.dumps(config), format="json", file="<step>", base_dir=base_dir)


def shortened(config: Config) -> Config:
    """The configuration with a run that is just long enough."""
    run = config["run"]
    kept = {key: run[key] for key in ("name", "seed", "warmup") if key in run}
    return {**config, "run": {**kept, "duration": SIMULATED_FOR}}


def _allowed(config: Config, offered: Mapping[str, float], base_dir: str) -> list[tuple[Step, Plan]]:
    found = []
    for step, changed in candidates(config, offered, base_dir):
        try:
            found.append((step, plan_of(shortened(changed), base_dir)))
        except ConfigError:
            continue
    return found


def candidates(config: Config, offered: Mapping[str, float], base_dir: str = ".") -> list[tuple[Step, Config]]:
    """All steps in every limit that the workloads of the configuration use, allowed or not."""
    used = [limit for limit in limits() if not limit.path.startswith(_idle(config))]
    raised = [found for limit in used for found in _raised(config, limit, base_dir)]
    return [*raised, *_slower_devices(config, offered, base_dir)]


def inner_raises(now: Plan, config: Config) -> list[tuple[Step, Plan]]:
    """Raises by a quarter that no single key of the configuration makes, as predictions make them.

    These are buses and links that are that much faster, with nothing else changed, and what workloads ask for.
    """
    by_number = {limit.path for limit in limits() if limit.scale in NUMBERS}
    named = {limit.path: limit.limit for limit in limits()}
    return [
        (Step(words, named.get(key, key), "", "", RAISE, limit, reach=reach), plan)
        for limit, key, words, reach, plan in now.raises(RAISE)
        if key not in by_number and not key.startswith(_idle(config))
    ]


def _idle(config: Config) -> tuple[str, ...]:
    """The beginnings of keys that nothing in the configuration uses."""
    kinds = {workload["kind"] for workload in config["workload"].values()}
    idle = [] if "fio" in kinds else ["iio.", "pcie.", "ssd.", "fio.", "rate", "iodepth"]
    idle += [] if kinds.intersection(CORE_KINDS) else ["core."]
    idle += [] if config.get("server", {}).get("sockets", 1) > 1 else ["upi."]
    idle += [] if "remote" in kinds else ["remote."]
    idle += [] if config.get("cache", {}).get("enabled") else ["prefetch."]
    idle += [] if "app" in kinds else ["core.frequency"]
    return tuple(idle)


def _raised(config: Config, limit: Limit, base_dir: str) -> Iterator[tuple[Step, Config]]:
    """The steps in one limit. The next faster device takes with it what is the device's, and nothing else."""
    if limit.scale == "grade":
        found = faster_device(config, base_dir)
        if found is not None:
            before, after, changed = found
            yield Step(limit.what, limit.path, before, after, 1.0, limit.limit), changed
        return
    for factor in FACTORS:
        for before, after, changed in raise_limit(config, limit, factor):
            # Channels come with queues and banks of their own, lanes in whole numbers: inner raises judge these limits.
            judges = factor == RAISE and limit.scale in NUMBERS
            reach = reached(config, limit, before, after) if judges else None
            yield Step(limit.what, limit.path, before, after, factor, limit.limit, reach=reach), changed


def _slower_devices(config: Config, offered: Mapping[str, float], base_dir: str) -> list[tuple[Step, Config]]:
    """All storage at three quarters of what it offers, where a rate of each workload does that."""
    changed = with_slower_storage(config, offered, base_dir)
    if changed is None:
        return []
    before = sum(offered.values())
    return [(Step("slower storage in GB/s", "rate of storage", f"{before:.3g}", f"{before * SLOWER:.3g}"), changed)]


def gains_of_each(steps: Sequence[Step], summaries: Sequence[Summary]) -> list[Step]:
    """Adds the gains to the steps; the first summary is that of the unchanged server."""
    measured = zip(steps, _of_each(summaries), summaries[1:], strict=True)
    return [
        replace(step, gains=gains, noise=noise, offered=summary.get("offered_gb_per_s") or {})
        for step, (gains, noise), summary in measured
    ]


def _of_each(summaries: Sequence[Summary]) -> list[tuple[dict[str, float], dict[str, float] | None]]:
    """What every summary but the first gains over it, per workload, and how far off that may be."""
    now, *after = [throughputs(summary) for summary in summaries]
    return [(_gains(now, then), _noise(now, then)) for then in after]


def _gains(now: Rates, then: Rates) -> dict[str, float]:
    return {name: then[name][0] / rate - 1 for name, (rate, _) in now.items() if rate and name in then}


def _noise(now: Rates, then: Rates) -> dict[str, float] | None:
    """How far off gains may be; nothing of rates that were predicted."""
    found = {name: _share(now[name], then[name]) for name, (rate, _) in now.items() if rate and name in then}
    return {name: noise for name, noise in found.items() if noise is not None} or None


def _share(now: tuple[float, float | None], then: tuple[float, float | None]) -> float | None:
    (rate, near), (other, far) = now, then
    return None if near is None or far is None else math.hypot(far, near * other / rate) / rate


def is_settled(summary: Summary) -> bool:
    """Returns False of a prediction that has not converged."""
    return UNSETTLED not in summary.get("uncertainty", {}).get("outside", ())


def throughputs(summary: Summary) -> Rates:
    """Returns the throughput of every workload; nothing for a prediction that has not converged."""
    if not is_settled(summary):
        return {}
    rows = summary["workloads"]
    return {row["workload"]: (row["app_gb_per_s"] or 0.0, row.get("throughput_ci95")) for row in rows}

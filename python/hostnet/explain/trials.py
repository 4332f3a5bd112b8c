"""Finds what would help where predictions do not cover a server: raises limits in short simulations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hostnet._core import ConfigError, Plan
from hostnet.explain.raises import Config
from hostnet.explain.refuted import by_steps
from hostnet.explain.sides import filled
from hostnet.explain.steps import (
    Engine,
    Progress,
    Step,
    Steps,
    candidates,
    gains_of_each,
    inner_raises,
    most_helpful_first,
    plan_of,
    simulated,
)
from hostnet.limit_names import NOT_KNOWN
from hostnet.units import format_percent

Row = dict[str, Any]

EVENTS = 12_000_000
"""Events that all trials may take: a few seconds. Unlike a limit in time, it gives the same answer on every machine."""

TRIALS_MIN, TRIALS_MAX = 6, 14
"""Number of limits to raise: the likeliest ones, and most others if the server is quick to simulate."""

SURELY = 1.5
"""The gain over half of its 95 % interval from which on it is one: of a dozen idle raises, one exceeds it."""

LONGER = 4.0
"""How many times longer a limit is raised that helps within 1.5 times its noise: that halves the noise."""

BOUGHT = ("memory.channels",)
"""Keys that are raised whatever else is: who buys a server asks for these."""

CHANCE = "not sure, as one of so many raises may seem to help by chance"
"""What to know of a gain between its noise and 1.5 times that."""

ASKED = {"gap": "stream"}
"""Kinds of workloads that ask for more where a limit is what workloads ask for; else it is storage."""

FULL = 0.95
"""Share of time without a free credit from which on nothing but the pool is named for sure before it was raised."""

PROBE_NS = 20_000
"""Window of the probe, a run that measures the cost of a trial and the length of its warm-up."""

LONGEST_NS = 300_000
"""Longest window of a trial: enough to see a gain of a few percent."""

HELPS = 0.02
"""The least gain for which a limit is named; less may be noise."""

NAMED_WITH = 0.5
"""A limit with at least this share of the greatest gain is named beside the first."""

OF_CORES = ("C2M-Read", "C2M-Write")
"""Names of a stream's LFB, by the phase that holds its entries longer."""

LFB, OFFERED_LOAD = "LFB", "offered load"


@dataclass(frozen=True)
class Trials:
    """The simulated steps, and the names of those that were left out."""

    steps: Steps
    untried: tuple[Step, ...]


def tried(
    config: Config,
    rows: Sequence[Row],
    workload: str,
    *,
    offered: Mapping[str, float],
    base_dir: str = ".",
    engine: Engine = simulated,
    progress: Progress | None = None,
) -> Trials:
    """Raises the limits of a server in short simulations, the likeliest first.

    Args:
        config: A complete configuration.
        rows: The facts of every workload, as in an explanation.
        workload: The workload whose gain counts.
        offered: The load that each storage workload offers, in GB/s.
        base_dir: The folder that paths in the configuration are relative to.
        engine: The simulator.
        progress: As for `hostnet.run_many`.

    Raises:
        SimulationError: One of the simulations failed.
        KeyboardInterrupt: The progress callback stopped them.
    """
    probe = engine([plan_of(measured_for(config, PROBE_NS), base_dir)], progress)[0]
    duration_ns, count = affordable(probe, filled(config))
    run = {"warmup": f"{probe['warm_up_ns']:.0f} ns"}
    base = measured_for(config, duration_ns, run)
    found = in_order(_allowed(base, offered, base_dir), likely(rows, workload))
    wanted = [number < count or step.path in BOUGHT for number, (step, _) in enumerate(found)]
    chosen, left = (
        [one for one, is_wanted in zip(found, wanted, strict=True) if is_wanted == kept] for kept in (True, False)
    )
    summaries = engine([plan_of(base, base_dir), *(plan for _, plan in chosen)], progress)
    steps = gains_of_each([step for step, _ in chosen], summaries)
    unsure = {step.path for row in rows if (step := probable(steps, row)) is not None}
    if unsure:
        base = measured_for(config, LONGER * duration_ns, run)
        again = [one for one in _allowed(base, offered, base_dir) if one[0].path in unsure]
        summaries = engine([plan_of(base, base_dir), *(plan for _, plan in again)], progress)
        longer = {step.path: step for step in gains_of_each([step for step, _ in again], summaries)}
        steps = [longer.get(step.path, step) for step in steps]
    return Trials(Steps("run", workload, most_helpful_first(steps, workload)), tuple(step for step, _ in left))


def not_predicted(config: Mapping[str, Any]) -> str | None:
    """Names the part of a server that predictions do not cover."""
    if config.get("server", {}).get("sockets", 1) > 1:
        return "several sockets"
    if any(workload["kind"] == "remote" for workload in config["workload"].values()):
        return "cores of other sockets"
    if config.get("noc"):
        return "a mesh"
    if config.get("expander"):
        return "memory behind a link"
    if config.get("pool"):
        return "a pool of memory"
    return "caches" if config.get("cache", {}).get("enabled") else None


def affordable(probe: Mapping[str, Any], filling: int = 0) -> tuple[float, int]:
    """Returns the window of the trials in ns and their number, given the cost of a probe.

    `filling` is the cost in events of filling the caches anew for each trial.
    """
    per_ns = max(probe["events"], 1) / (probe["warm_up_ns"] + probe["window_ns"])
    shortest = per_ns * (probe["warm_up_ns"] + PROBE_NS)
    count = min(max(int(EVENTS / (shortest + filling)) - 1, TRIALS_MIN), TRIALS_MAX)
    each = EVENTS / (count + 1)
    # Even if filling the caches uses up its share, a trial measures for half of that: less would be noise.
    duration = max(each - filling, each / 2) / per_ns - probe["warm_up_ns"]
    return min(max(duration, PROBE_NS), LONGEST_NS), count


def measured_for(config: Config, duration_ns: float, changed: Mapping[str, Any] | None = None) -> Config:
    """Returns the configuration with a measuring window of this length."""
    kept = {key: config["run"][key] for key in ("name", "seed", "warmup") if key in config["run"]}
    return {**config, "run": {**kept, **(changed or {}), "duration": f"{duration_ns:.0f} ns"}}


def likely(rows: Sequence[Row], workload: str) -> list[str]:
    """Returns the names of limits, the likeliest first: those that are named, then the fullest on the path.

    Workloads whose limit is certain come last.
    """
    own_first = sorted(rows, key=lambda row: row["workload"] != workload)
    names: list[str] = []
    for doubtful in (True, False):
        some = [row for row in own_first if row["doubtful"] == doubtful]
        near = [found for row in some for found in nearness(row).items()]
        names += [name for row in some for name in row["binding"]]
        names += [name for name, _ in sorted(near, key=lambda found: -found[1])]
    return list(dict.fromkeys(LFB if name in OF_CORES else name for name in names))


def nearness(row: Row) -> dict[str, float]:
    """Returns how close everything on the path of a workload is to its limit, by name; 1 is saturated."""
    near: dict[str, float] = {}
    for pool in row["pools"]:
        near[pool["domain"]] = max(near.get(pool["domain"], 0.0), pool.get("full_share", 0.0))
    for stage in row.get("stages", ()):
        load = stage["load"]
        share = load["pool"]["full"] if "pool" in load else load["rate"]["used"]
        near[stage["limit"]] = max(near.get(stage["limit"], 0.0), share)
    return near


def in_order(found: list[tuple[Step, Plan]], names: Sequence[str]) -> list[tuple[Step, Plan]]:
    """Sorts steps by the order of their limits' names; those of other limits, and those that judge none, come last."""
    place = {name: number for number, name in enumerate(names)}
    return sorted(found, key=lambda each: (each[0].reach is None, place.get(each[0].limit or "", len(place))))


def _allowed(config: Config, offered: Mapping[str, float], base_dir: str) -> list[tuple[Step, Plan]]:
    """Returns the smallest step of each limit that the configuration allows."""
    inner = inner_raises(plan_of(config, base_dir), config)
    found: dict[str, tuple[Step, Plan]] = {step.path: (step, plan) for step, plan in inner}
    for step, changed in candidates(config, offered, base_dir):
        if step.path in found:
            continue
        try:
            found[step.path] = (step, plan_of(changed, base_dir))
        except ConfigError:
            continue
    return list(found.values())


def by_simulation(explanation: dict[str, Any], steps: Steps) -> dict[str, Any]:
    """Names the limits that simulated steps confirm where the one that is named is refuted or not sure."""
    told = [replace(step, gains=step.confirmed) for step in steps.steps if step.confirmed is not None]
    if steps.engine == "run":
        told = steps.steps
    if not told:
        return explanation
    trials = Trials(replace(steps, steps=told), ())
    rows = [confirmed(row, trials) for row in by_steps(explanation, steps)["workloads"]]
    return {**explanation, "workloads": rows}


def confirmed(row: Row, trials: Trials) -> Row:
    """Names the limit of a workload that the trials confirm; without one its limit is not known.

    A workload whose limit is certain keeps it.
    """
    if not row["doubtful"]:
        return row
    name = row["workload"]
    untried = {called(step, row) for step in trials.untried if step.reach is not None}
    helping = helpful(trials, row)
    if not helping:
        if untried.intersection(row["binding"]):
            return row
        return {**row, "binding": [NOT_KNOWN], "limited": f"has no known limit: {without_help(trials, row)}"}
    names = list(dict.fromkeys(called(step, row) for step in helping))
    said = " / ".join(names).replace(OFFERED_LOAD, "its offered load")
    gain = f"{format_percent(helping[0].gains[name], sign='+')} with {helping[0].in_words()}, simulated"
    full = [limit for limit, share in nearness(row).items() if share >= FULL and limit in untried]
    if full:
        why = f"{gain}; not known for sure: {full[0]} has no credit left and was not raised"
        return {**row, "binding": names, "limited": f"may be limited by {said} ({why})"}
    return {**row, "binding": names, "doubtful": False, "limited": f"is limited by {said} ({gain})"}


def without_help(trials: Trials, workload: Row) -> str:
    """Says that no raise helped a workload, that one may have, or that the gain of the best one is within its noise."""
    name = workload["workload"]
    raises = [step for step in trials.steps.steps if is_its_own(step, workload)]
    count = f"raising {len({step.path for step in raises})} limits in simulations, one at a time,"
    best = probable(raises, workload) or max(raises, key=lambda step: step.gains.get(name, 0.0), default=None)
    if best is None or best.gains.get(name, 0.0) < HELPS:
        return f"{count} never gained {format_percent(HELPS)}"
    noise = noise_of(best, name)
    gain = f"{format_percent(best.gains[name], sign='+')} ±{max(100 * noise, 0.5):.0f}"
    if best.gains[name] >= noise:
        return f"{count} gained {gain} with {best.in_words()}, which probably helps: {CHANCE}"
    return f"{count} gained {gain} at most, with {best.in_words()}: within the noise"


def probable(steps: Sequence[Step], row: Row) -> Step | None:
    """Returns the step that helps a workload most beyond its noise, but not for sure; None where one surely helps."""
    name = row["workload"]
    if not row["doubtful"] or any(helps(step, row) for step in steps):
        return None
    beyond = [
        step
        for step in steps
        if is_its_own(step, row) and step.gains.get(name, 0.0) >= max(HELPS, noise_of(step, name))
    ]
    return max(beyond, key=lambda step: step.gains[name], default=None)


def noise_of(step: Step, workload: str) -> float:
    """Returns half of the 95 % interval of the gain that a step gives a workload."""
    return (step.noise or {}).get(workload, 0.0)


def helpful(trials: Trials, row: Row) -> list[Step]:
    """Returns the step that helps a workload most, and those that surely help at least half as much."""
    workload = row["workload"]
    steps = [step for step in trials.steps.steps if helps(step, row)]
    steps.sort(key=lambda step: -step.per_quarter(step.gains[workload]))
    best = steps[0].per_quarter(steps[0].gains[workload]) if steps else 0.0

    def surely(step: Step) -> float:
        return step.per_quarter(step.gains[workload] - noise_of(step, workload))

    return [*steps[:1], *(step for step in steps[1:] if surely(step) >= NAMED_WITH * best)]


def helps(step: Step, row: Row) -> bool:
    """Returns True if a step raises a limit of a workload by a quarter and makes it faster, beyond noise."""
    workload = row["workload"]
    return is_its_own(step, row) and step.gains.get(workload, 0.0) >= max(HELPS, SURELY * noise_of(step, workload))


def is_its_own(step: Step, row: Row) -> bool:
    """Returns True if a step raises a limit by a quarter that may be one of a workload: not what others ask for."""
    return step.reach is not None and (step.limit != OFFERED_LOAD or ASKED.get(step.path, "fio") == row["kind"])


def called(step: Step, row: Mapping[str, Any]) -> str:
    """Names the limit that a step raises: the LFB of a stream by the phase that holds it longer."""
    names = [pool["domain"] for pool in row["pools"] if pool["domain"] in OF_CORES]
    return names[0] if step.limit == LFB and names else str(step.limit)

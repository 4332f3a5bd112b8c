"""Finds remedies where predictions do not cover a server, by raising limits in short simulations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hostnet._core import ConfigError, Plan
from hostnet.explanation.raises import Config
from hostnet.explanation.refuted import apply_simulated_steps
from hostnet.explanation.sides import cache_fill_events
from hostnet.explanation.steps import (
    Engine,
    Progress,
    Step,
    Steps,
    candidates,
    inner_raises,
    resolve_complete,
    simulated,
    sort_by_gain,
    with_gains,
)
from hostnet.limit_names import NOT_KNOWN
from hostnet.units import format_percent

Row = dict[str, Any]

EVENTS_MAX = 12_000_000
"""Maximum number of events of all trials: a few seconds. Unlike a time limit, it gives the same answer everywhere."""

TRIALS_MIN, TRIALS_MAX = 6, 14
"""Range of the number of limits to raise: the likeliest ones, and most others if a simulation is cheap."""

GAIN_TO_NOISE_MIN = 1.5
"""Ratio of a gain to its 95 % half-width at or above which the gain counts: one of a dozen idle raises exceeds it."""

EXTENSION = 4.0
"""Factor by which a trial is extended if its gain is within 1.5 times its noise; this halves the noise."""

ALWAYS_RAISED = ("memory.channels", "iommu.mode")
"""Keys that are always raised: buyers of servers ask about channels, and whoever has an IOMMU what it costs."""

CHANCE_NOTE = "uncertain, as one of so many raises may appear to help by chance"
"""Note on a gain between its noise and 1.5 times that."""

DEMAND_KINDS = {"gap": "stream"}
"""Kinds of workloads whose demand a key raises; storage for other keys."""

FULL = 0.95
"""Share of time without a free credit at or above which only the pool, if it was not raised, could be named with
certainty."""

PROBE_NS = 20_000
"""Window of the probe in ns, a run that measures the cost of a trial and the length of its warm-up."""

LONGEST_NS = 300_000
"""Longest window of a trial in ns: enough to see a gain of a few percent."""

GAIN_MIN = 0.02
"""Smallest gain for which a limit is named; smaller ones may be noise."""

NAMED_WITH = 0.5
"""Smallest share of the largest gain for which a second limit is named."""

OF_CORES = ("C2M-Read", "C2M-Write")
"""Names of a stream's LFB, by the phase that holds its entries longer."""

LFB, OFFERED_LOAD = "LFB", "offered load"
CCD_LINK, FABRIC_LINK = "CCD link", "fabric link"


@dataclass(frozen=True)
class Trials:
    """The simulated steps, and the steps that were omitted."""

    steps: Steps
    untried: tuple[Step, ...]


def run_trials(
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
    probe = engine([resolve_complete(with_window(config, PROBE_NS), base_dir)], progress)[0]
    duration_ns, count = trial_budget(probe, cache_fill_events(config))
    run = {"warmup": f"{probe['warm_up_ns']:.0f} ns"}
    base = with_window(config, duration_ns, run)
    found = sorted_by_limit(_valid_smallest_steps(base, offered, base_dir), likely_limits(rows, workload))
    wanted = [number < count or step.path in ALWAYS_RAISED for number, (step, _) in enumerate(found)]
    chosen, left = (
        [one for one, is_wanted in zip(found, wanted, strict=True) if is_wanted == kept] for kept in (True, False)
    )
    summaries = engine([resolve_complete(base, base_dir), *(plan for _, plan in chosen)], progress)
    steps = with_gains([step for step, _ in chosen], summaries)
    unsure = {step.path for row in rows if (step := probable_step(steps, row)) is not None}
    if unsure:
        base = with_window(config, EXTENSION * duration_ns, run)
        again = [one for one in _valid_smallest_steps(base, offered, base_dir) if one[0].path in unsure]
        summaries = engine([resolve_complete(base, base_dir), *(plan for _, plan in again)], progress)
        longer = {step.path: step for step in with_gains([step for step, _ in again], summaries)}
        steps = [longer.get(step.path, step) for step in steps]
    return Trials(Steps("run", workload, sort_by_gain(steps, workload)), tuple(step for step, _ in left))


def not_predicted(config: Mapping[str, Any]) -> str | None:
    """Names the part of a server that predictions do not cover."""
    if config.get("server", {}).get("sockets", 1) > 1:
        return "several sockets"
    if any(workload["kind"] == "remote" for workload in config["workload"].values()):
        return "cores of other sockets"
    if any(workload["kind"] == "dma" for workload in config["workload"].values()):
        return "DMA that a device generates"
    if config.get("iommu", {}).get("mode", "off") != "off":
        return "an IOMMU"
    if config.get("noc"):
        return "a mesh"
    if config.get("chiplets"):
        return "chiplets"
    if config.get("expander"):
        return "memory behind a link"
    if config.get("pool"):
        return "a pool of memory"
    return "caches" if config.get("cache", {}).get("enabled") else None


def trial_budget(probe: Mapping[str, Any], filling: int = 0) -> tuple[float, int]:
    """Returns the window of the trials in ns and their number, given the cost of a probe.

    `filling` is the cost in events of filling the caches anew for each trial.
    """
    per_ns = max(probe["events"], 1) / (probe["warm_up_ns"] + probe["window_ns"])
    shortest = per_ns * (probe["warm_up_ns"] + PROBE_NS)
    count = min(max(int(EVENTS_MAX / (shortest + filling)) - 1, TRIALS_MIN), TRIALS_MAX)
    each = EVENTS_MAX / (count + 1)
    # Even if filling the caches uses up its share, a trial measures for half of it, because less would be noise.
    duration = max(each - filling, each / 2) / per_ns - probe["warm_up_ns"]
    return min(max(duration, PROBE_NS), LONGEST_NS), count


def with_window(config: Config, duration_ns: float, changed: Mapping[str, Any] | None = None) -> Config:
    """Returns the configuration with a measurement window of this length."""
    kept = {key: config["run"][key] for key in ("name", "seed", "warmup") if key in config["run"]}
    return {**config, "run": {**kept, **(changed or {}), "duration": f"{duration_ns:.0f} ns"}}


def likely_limits(rows: Sequence[Row], workload: str) -> list[str]:
    """Returns the names of limits, the likeliest first: those that are named, then the fullest on the path.

    Workloads whose limit is certain come last.
    """
    own_first = sorted(rows, key=lambda row: row["workload"] != workload)
    names: list[str] = []
    for doubtful in (True, False):
        some = [row for row in own_first if row["doubtful"] == doubtful]
        near = [found for row in some for found in limit_proximity(row).items()]
        names += [name for row in some for name in row["binding"]]
        names += [name for name, _ in sorted(near, key=lambda found: -found[1])]
    return list(dict.fromkeys(LFB if name in OF_CORES else name for name in names))


def limit_proximity(row: Row) -> dict[str, float]:
    """Returns how close everything on the path of a workload is to its limit, by name; 1 is saturated."""
    near: dict[str, float] = {}
    for pool in row["pools"]:
        near[pool["domain"]] = max(near.get(pool["domain"], 0.0), pool.get("full_share", 0.0))
    for stage in row.get("stages", ()):
        load = stage["load"]
        share = load["pool"]["full"] if "pool" in load else load["rate"]["used"]
        near[stage["limit"]] = max(near.get(stage["limit"], 0.0), share)
    return near


def sorted_by_limit(found: list[tuple[Step, Plan]], names: Sequence[str]) -> list[tuple[Step, Plan]]:
    """Sorts steps by the order of their limits' names; those of other limits, and those that judge none, come last."""
    place = {name: number for number, name in enumerate(names)}
    return sorted(found, key=lambda each: (each[0].reach is None, place.get(each[0].limit or "", len(place))))


def _valid_smallest_steps(config: Config, offered: Mapping[str, float], base_dir: str) -> list[tuple[Step, Plan]]:
    """Returns the smallest step of each limit that the configuration allows."""
    inner = inner_raises(resolve_complete(config, base_dir), config)
    found: dict[str, tuple[Step, Plan]] = {step.path: (step, plan) for step, plan in inner}
    for step, changed in candidates(config, offered, base_dir):
        if step.path in found:
            continue
        try:
            found[step.path] = (step, resolve_complete(changed, base_dir))
        except ConfigError:
            continue
    return list(found.values())


def apply_simulated_limits(explanation: dict[str, Any], steps: Steps) -> dict[str, Any]:
    """Names the limits that simulated steps confirm where the one that is named is refuted or not sure."""
    simulated = [replace(step, gains=step.confirmed) for step in steps.steps if step.confirmed is not None]
    if steps.engine == "run":
        simulated = steps.steps
    if not simulated:
        return explanation
    trials = Trials(replace(steps, steps=simulated), ())
    rows = [with_confirmed_limit(row, trials) for row in apply_simulated_steps(explanation, steps)["workloads"]]
    return {**explanation, "workloads": rows}


def with_confirmed_limit(row: Row, trials: Trials) -> Row:
    """Names the limit of a workload that the trials confirm; without one its limit is not known.

    A workload whose limit is certain keeps it.
    """
    if not row["doubtful"]:
        return row
    name = row["workload"]
    untried = {limit_name(step, row) for step in trials.untried if step.reach is not None}
    helping = helpful_steps(trials, row)
    if not helping:
        if untried.intersection(row["binding"]):
            return row
        return {**row, "binding": [NOT_KNOWN], "limited": f"has no known limit: {no_help_text(trials, row)}"}
    names = list(dict.fromkeys(limit_name(step, row) for step in helping))
    text = " / ".join(names).replace(OFFERED_LOAD, "its offered load")
    gain = f"{format_percent(helping[0].gains[name], sign='+')} with {helping[0].text()}, simulated"
    full = [limit for limit, share in limit_proximity(row).items() if share >= FULL and limit in untried]
    if full:
        why = f"{gain}; not known for sure: {full[0]} has no credit left and was not raised"
        return {**row, "binding": names, "limited": f"may be limited by {text} ({why})"}
    return {**row, "binding": names, "doubtful": False, "limited": f"is limited by {text} ({gain})"}


def no_help_text(trials: Trials, workload: Row) -> str:
    """Says that no raise helped a workload, that one may have, or that the gain of the best one is within its noise."""
    name = workload["workload"]
    raises = [step for step in trials.steps.steps if may_limit(step, workload)]
    count = len({step.path for step in raises})
    tried = f"raising {count} limit{'s' * (count != 1)} in simulations, one at a time,"
    best = probable_step(raises, workload) or max(raises, key=lambda step: step.gains.get(name, 0.0), default=None)
    more = larger_gain_text(trials.steps.steps, name)
    if best is None or best.gains.get(name, 0.0) < GAIN_MIN:
        return f"{tried} never gained {format_percent(GAIN_MIN)}{more}"
    noise = noise_of(best, name)
    gain = f"{format_percent(best.gains[name], sign='+')} ±{max(100 * noise, 0.5):.0f}"
    if best.gains[name] >= noise:
        return f"{tried} gained {gain} with {best.text()}, which probably helps: {CHANCE_NOTE}{more}"
    return f"{tried} gained {gain} at most, with {best.text()}: within the noise{more}"


def larger_gain_text(steps: Sequence[Step], workload: str) -> str:
    """Tells the best of the steps that judge no limit, because they are larger than a quarter, if one surely helps."""
    larger = [step for step in steps if step.reach is None and step.factor > 1]
    best = max(larger, key=lambda step: step.gains.get(workload, 0.0), default=None)
    if best is None or best.gains.get(workload, 0.0) < max(GAIN_MIN, noise_of(best, workload)):
        return ""
    return f"; {best.text()}, a larger step, gained {format_percent(best.gains[workload], sign='+')}"


def probable_step(steps: Sequence[Step], row: Row) -> Step | None:
    """Returns the step whose gain for a workload exceeds its noise most but not surely; None if one surely helps."""
    name = row["workload"]
    if not row["doubtful"] or any(helps(step, row) for step in steps):
        return None
    beyond = [
        step
        for step in steps
        if may_limit(step, row) and step.gains.get(name, 0.0) >= max(GAIN_MIN, noise_of(step, name))
    ]
    return max(beyond, key=lambda step: step.gains[name], default=None)


def noise_of(step: Step, workload: str) -> float:
    """Returns half of the 95 % interval of the gain that a step gives a workload."""
    return (step.noise or {}).get(workload, 0.0)


def helpful_steps(trials: Trials, row: Row) -> list[Step]:
    """Returns the step that helps a workload most, and those that surely help at least half as much."""
    workload = row["workload"]
    steps = [step for step in trials.steps.steps if helps(step, row)]
    steps.sort(key=lambda step: -step.per_quarter(step.gains[workload]))
    best = steps[0].per_quarter(steps[0].gains[workload]) if steps else 0.0

    def surely(step: Step) -> float:
        return step.per_quarter(step.gains[workload] - noise_of(step, workload))

    return [*steps[:1], *(step for step in steps[1:] if surely(step) >= NAMED_WITH * best)]


def helps(step: Step, row: Row) -> bool:
    """Returns True if a step raises a limit of a workload by a quarter and speeds the workload up, beyond noise."""
    workload = row["workload"]
    return may_limit(step, row) and step.gains.get(workload, 0.0) >= max(
        GAIN_MIN, GAIN_TO_NOISE_MIN * noise_of(step, workload)
    )


def may_limit(step: Step, row: Row) -> bool:
    """Returns True if a step raises by a quarter a limit that may be the workload's, not the demand of others."""
    return step.reach is not None and (step.limit != OFFERED_LOAD or DEMAND_KINDS.get(step.path, "fio") == row["kind"])


def limit_name(step: Step, row: Mapping[str, Any]) -> str:
    """Names the limit of a step: the LFB of a stream by the phase that holds it longer, links by the fullest."""
    names = [pool["domain"] for pool in row["pools"] if pool["domain"] in OF_CORES]
    # One clock drives the links to the CCDs and those between quadrants.
    if step.limit == CCD_LINK and (row.get("mesh") or {}).get("kind") == "Fabric":
        return FABRIC_LINK
    return names[0] if step.limit == LFB and names else str(step.limit)

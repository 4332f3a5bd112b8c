"""What would help: one step in each capacity of the server, and what it does to every workload."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from hostnet import _core
from hostnet._core import ConfigError, Plan

Config = dict[str, Any]
Summary = Mapping[str, Any]
Progress = Callable[[dict[str, Any]], bool | None]
Engine = Callable[[Sequence[Plan], Progress | None], list[Summary]]
"""Gives the summary of each plan, in their order: simulated or predicted."""

STEP = 1.25
"""A buffer grows by a quarter in one step."""

SLOWER = 0.75
"""Devices move three quarters of their data in one step down."""

SIMULATED_FOR = "300 us"
"""How long a step is simulated: enough to see a gain of a few percent."""

CORE_KINDS = ("stream", "app")
"""Kinds of workloads that are traffic of cores."""

BUFFERS = (
    ("core.lfb.entries", "LFB entries per core"),
    ("iio.write_credits", "IIO write credits"),
    ("iio.read_credits", "IIO read credits"),
    ("cha.tor.entries", "TOR entries per CHA slice"),
    ("memory.controller.rpq.entries", "RPQ entries"),
    ("memory.controller.wpq.entries", "WPQ entries"),
    ("pcie.posted_lines", "PCIe posted credits"),
    ("pcie.nonposted_lines", "PCIe non-posted credits"),
)
"""Keys of the buffers that grow, and what they are."""

SCALED = {
    "memory.controller.rpq.entries": ("memory.controller.rpq.full_threshold",),
    "memory.controller.wpq.entries": (
        "memory.controller.wpq.full_threshold",
        "memory.controller.write_high",
        "memory.controller.write_low",
    ),
}
"""Thresholds that grow with their buffer."""


@dataclass(frozen=True)
class Step:
    """One change of the server, and what it does.

    `gains` has the throughput of every workload relative to now, less 1; `confirmed` the same, simulated beside a
    prediction.
    """

    what: str
    path: str
    before: str
    after: str
    gains: dict[str, float] = field(default_factory=dict)
    confirmed: dict[str, float] | None = None

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
    found = _allowed(config, offered, base_dir)
    plans = [plan_of(shortened(config), base_dir), *(plan for _, plan in found)]
    gains = _gains(engine(plans, progress))
    confirmed = _gains(simulated(plans, progress)) if confirm else [None] * len(found)
    steps = [
        Step(**{**step.as_dict(), "gains": gain, "confirmed": sure})
        for (step, _), gain, sure in zip(found, gains, confirmed, strict=True)
    ]
    steps.sort(key=lambda step: -(step.confirmed or step.gains).get(workload, 0.0))
    return Steps("predict" if engine is predicted else "run", workload, steps)


def latency_alone(config: Config, base_dir: str, progress: Progress | None) -> dict[str, float]:
    """The simulated latency of the cores' workloads without devices, in ns; empty if either is missing."""
    kinds = {name: workload["kind"] for name, workload in config["workload"].items()}
    if "fio" not in kinds.values() or not set(CORE_KINDS) & set(kinds.values()):
        return {}
    alone = deepcopy(shortened(config))
    alone["workload"] = {name: workload for name, workload in alone["workload"].items() if kinds[name] in CORE_KINDS}
    summary = simulated([plan_of(alone, base_dir)], progress)[0]
    rows = summary["workloads"]
    return {row["workload"]: row["latency_mean_ns"] for row in rows if row["latency_mean_ns"] is not None}


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
    """One step in every capacity that the workloads of the configuration use, allowed or not."""
    kinds = {workload["kind"] for workload in config["workload"].values()}
    of_devices = ("iio.", "pcie.")
    buffers = [
        (path, what)
        for path, what in BUFFERS
        if ("fio" in kinds or not path.startswith(of_devices))
        and (kinds.intersection(CORE_KINDS) or not path.startswith("core."))
    ]
    steps = [_grown(config, path, what) for path, what in buffers]
    return [*steps, _more_channels(config), *_faster_memory(config, base_dir), *_slower_devices(config, offered)]


def _grown(config: Config, path: str, what: str) -> tuple[Step, Config]:
    changed = deepcopy(config)
    before = int(_get(config, path))
    after = math.ceil(before * STEP)
    _set(changed, path, after)
    for other in SCALED.get(path, ()):
        value = int(_get(config, other))
        _set(changed, other, after if value == before else max(value, round(value * after / before)))
    return Step(what, path, str(before), str(after)), changed


def _more_channels(config: Config) -> tuple[Step, Config]:
    changed = deepcopy(config)
    before = config["memory"]["channels"]
    changed["memory"]["channels"] = 2 * before
    return Step("memory channels", "memory.channels", str(before), str(2 * before)), changed


def _faster_memory(config: Config, base_dir: str) -> list[tuple[Step, Config]]:
    """The next faster device of the same standard; what is not the device's stays as it is."""
    before = config["memory"].get("device") or ""
    speed = _speed(before)
    standards = [(_speed(name), name) for name in _core.devices()]
    faster = sorted((found[1], name) for found, name in standards if found and speed and found[0] == speed[0])
    after = next((name for rate, name in faster if speed and rate > speed[1]), None)
    if after is None:
        return []
    replaced = [f"memory.device={after}"]
    try:
        plan = _core.resolve(json.dumps(config), format="json", file="<step>", base_dir=base_dir, overrides=replaced)
    except ConfigError:
        return []
    changed = {**config, "memory": json.loads(plan.effective_json())["memory"]}
    return [(Step("DRAM speed grade", "memory.device", before, after), changed)]


def _speed(device: str) -> tuple[str, int] | None:
    """Standard and data rate of a device by its name, such as `DDR4_2933`."""
    match = re.fullmatch(r"(\w+?)_(\d+)", device)
    return (match[1], int(match[2])) if match else None


def _slower_devices(config: Config, offered: Mapping[str, float]) -> list[tuple[Step, Config]]:
    """Every storage workload at three quarters of what it offers."""
    before = sum(offered.values())
    if not before:
        return []
    changed = deepcopy(config)
    for name, rate in offered.items():
        changed["workload"][name]["rate"] = f"{rate * SLOWER:.6g} GB/s"
    return [(Step("P2M rate, GB/s", "rate of storage", f"{before:.3g}", f"{before * SLOWER:.3g}"), changed)]


def _gains(summaries: Sequence[Summary]) -> list[dict[str, float]]:
    now, *after = [_throughputs(summary) for summary in summaries]
    return [{name: then[name] / rate - 1 for name, rate in now.items() if rate} for then in after]


def _throughputs(summary: Summary) -> dict[str, float]:
    return {row["workload"]: row["app_gb_per_s"] or 0.0 for row in summary["workloads"]}


def _get(config: Config, path: str) -> Any:
    value: Any = config
    for key in path.split("."):
        value = value[key]
    return value


def _set(config: Config, path: str, value: Any) -> None:
    *tables, last = path.split(".")
    place = config
    for key in tables:
        place = place[key]
    place[last] = value

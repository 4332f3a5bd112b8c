"""Storage with less load: the rate of each workload at which its drives offer three quarters of their load."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet._core import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostnet.explanation.raises import Config

LOAD_FACTOR = 0.75
"""Factor on the load of devices in one step down."""

TOLERANCE = 0.01
"""Largest relative deviation of the load from that of the step."""

HALVINGS = 12
"""Bisection steps for a rate: they narrow its range to a thousandth of the widest one."""


def with_reduced_storage_load(config: Config, offered: Mapping[str, float], base_dir: str = ".") -> Config | None:
    """Returns the configuration with each storage workload at three quarters of its load; None if impossible.

    The rate of a workload is divided evenly among its drives. If drives offer different loads, the rate limits the
    faster ones more, and is higher than the load.

    Args:
        config: A complete configuration.
        offered: The load that each storage workload offers, in GB/s.
        base_dir: The folder that paths in the configuration are relative to.
    """
    if not sum(offered.values()):
        return None
    wanted = {name: load * LOAD_FACTOR for name, load in offered.items()}
    changed = _with_rates(config, wanted)
    loads = _loads(changed, base_dir)
    if loads is None:
        return changed if all(_drives_alike(config, name) for name in wanted) else None
    if _are_within_tolerance(loads, wanted):
        return changed
    rates = {name: _rate_for(config, name, load, base_dir) for name, load in wanted.items()}
    changed = _with_rates(config, rates)
    loads = _loads(changed, base_dir)
    return changed if loads is not None and _are_within_tolerance(loads, wanted) else None


def _with_rates(config: Config, rates: Mapping[str, float]) -> Config:
    """Returns the configuration with rates of storage workloads, in GB/s."""
    changed = deepcopy(config)
    for name, rate in rates.items():
        changed["workload"][name]["rate"] = f"{rate:.6g} GB/s"
    return changed


def _loads(config: Config, base_dir: str) -> Mapping[str, float] | None:
    """Predicts the offered load of each storage workload, in GB/s; None if predictions do not cover the server."""
    try:
        plan = _core.resolve(json.dumps(config), format="json", file="<step>", base_dir=base_dir)
        loads: dict[str, float] = json.loads(_core.predict(plan).summary_json)["offered_gb_per_s"]
    except ConfigError:
        return None
    return loads


def _are_within_tolerance(loads: Mapping[str, float], wanted: Mapping[str, float]) -> bool:
    """Returns True if all loads are close to the wanted ones."""
    return all(abs(loads.get(name, 0.0) - load) <= TOLERANCE * load for name, load in wanted.items())


def _rate_for(config: Config, name: str, wanted: float, base_dir: str) -> float:
    """Returns the rate at which a workload offers a load, by bisection."""
    # The upper bound covers a single drive that offers the whole load.
    low, high = wanted, wanted * len(config["workload"][name]["jobs"])
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        loads = _loads(_with_rates(config, {name: middle}), base_dir)
        if (loads or {}).get(name, 0.0) < wanted:
            low = middle
        else:
            high = middle
    return high


def _drives_alike(config: Config, name: str) -> bool:
    """Returns True if all drives of a workload are of one kind and have the same jobs."""
    if any("ssd" in table for table in (config.get("socket") or {}).values()):
        return False
    drives: dict[int, list[str]] = {}
    for job in config["workload"][name]["jobs"]:
        does: dict[str, Any] = {key: value for key, value in job.items() if key not in ("ssd", "core")}
        drives.setdefault(job["ssd"], []).append(json.dumps(does, sort_keys=True))
    return len({tuple(sorted(jobs)) for jobs in drives.values()}) == 1

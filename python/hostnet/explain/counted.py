"""The server that counters come from, as far as a preset and the counters tell."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet._core import ConfigError
from hostnet.explain.notes import CORES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostnet._core import Plan

ROUNDING = 0.02
"""Cores whose entries in use are so little above a whole number are that number."""


def plan_of_server(server: str, counters: Mapping[str, Any], cores: int | None = None) -> tuple[Plan, bool]:
    """The plan of a preset or of a configuration file, and whether it has the workloads that were measured.

    A preset gets a stream on as many cores as `cores` says, or as hold the LFB entries in use, and with as many stores
    as the counters tell.

    Raises:
        ConfigError: There is no such preset, the configuration is wrong, or the server has fewer cores.
        OSError: The file cannot be read.
    """
    from hostnet.running import simulate

    if "/" in server or "\\" in server or server.endswith((".toml", ".json")):
        if cores is not None:
            raise ConfigError("no-effect", "--cores: the configuration says on which cores its workloads run")
        return simulate.resolve_server(simulate.source_of(server)), True
    plan = _plan_of_preset(server, 1, 1.0)
    core = json.loads(plan.effective_json())["core"]
    busy, reads = _cores_of(counters, core["lfb"]["entries"])
    if cores is None:
        cores = min(busy, core["count"])
    elif cores > core["count"]:
        raise ConfigError("too-many-cores", f"--cores {cores}: {server} has {core['count']} cores")
    return _plan_of_preset(server, cores, reads), False


def _plan_of_preset(preset: str, cores: int, reads: float) -> Plan:
    stream = {"kind": "stream", "cores": f"0-{cores - 1}", "reads": reads}
    config = {"server": {"preset": preset}, "workload": {CORES: stream}}
    return _core.resolve(json.dumps(config), format="json", file="--server")


def _cores_of(counters: Mapping[str, Any], entries: int) -> tuple[int, float]:
    """Cores that hold the LFB entries in use, and the share of loads in what they do, as far as counters tell."""
    lfb, writes = counters.get("lfb") or {}, counters.get("core_write") or {}
    busy = max(1, math.ceil((lfb.get("occupancy") or 0.0) / entries - ROUNDING))
    accesses, written = lfb.get("lines") or 0.0, writes.get("lines") or 0.0
    return busy, max(0.0, 1 - written / accesses) if accesses else 1.0

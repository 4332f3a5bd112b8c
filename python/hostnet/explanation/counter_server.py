"""Reconstructs the server of a file of counters from a preset and the counters."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet._core import ConfigError
from hostnet.explanation.notes import CORES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostnet._core import Plan

ROUNDING = 0.02
"""Fraction of a core by which the estimated number of busy cores may exceed a whole number."""


def resolve_server(server: str, counters: Mapping[str, Any], cores: int | None = None) -> tuple[Plan, bool]:
    """Resolves a preset or a configuration file; also returns True if the workloads of the file are those measured.

    A preset gets a stream on `cores` cores, or on as many as hold the LFB entries in use, with the share of stores that
    the counters show.

    Raises:
        ConfigError: There is no such preset, the configuration is invalid, or the server has fewer cores.
        OSError: The file cannot be read.
    """
    from hostnet.running import simulate

    if "/" in server or "\\" in server or server.endswith((".toml", ".json")):
        if cores is not None:
            raise ConfigError("no-effect", "--cores: the configuration says on which cores its workloads run")
        return simulate.resolve_server(simulate.source_of(server)), True
    plan = _resolve_preset(server, 1, 1.0)
    core = json.loads(plan.effective_json())["core"]
    busy, reads = _estimate_cores(counters, core["lfb"]["entries"])
    if cores is None:
        cores = min(busy, core["count"])
    elif cores > core["count"]:
        raise ConfigError("too-many-cores", f"--cores {cores}: {server} has {core['count']} cores")
    return _resolve_preset(server, cores, reads), False


def _resolve_preset(preset: str, cores: int, reads: float) -> Plan:
    """Resolves a preset with a stream."""
    stream = {"kind": "stream", "cores": f"0-{cores - 1}", "reads": reads}
    config = {"server": {"preset": preset}, "workload": {CORES: stream}}
    return _core.resolve(json.dumps(config), format="json", file="--server")


def _estimate_cores(counters: Mapping[str, Any], entries: int) -> tuple[int, float]:
    """Estimates the number of cores that hold the LFB entries in use, and their share of loads."""
    lfb, writes = counters.get("lfb") or {}, counters.get("core_write") or {}
    busy = max(1, math.ceil((lfb.get("occupancy") or 0.0) / entries - ROUNDING))
    accesses, written = lfb.get("lines") or 0.0, writes.get("lines") or 0.0
    return busy, max(0.0, 1 - written / accesses) if accesses else 1.0

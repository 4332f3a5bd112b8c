"""The memory system alone, as keywords of `hostnet.memory`."""

from __future__ import annotations

from typing import Any


def memories() -> dict[str, dict[str, Any]]:
    """Returns traffic, devices and controllers."""
    return {
        "memory-sequential": {"traffic": "sequential", "requests": 60_000},
        "memory-random-67": {"traffic": "random", "reads": 0.67, "load": 0.6, "requests": 60_000},
        "memory-saturated": {"traffic": "random", "reads": 0.5, "requests": 40_000, "seed": 9},
        "memory-ddr5": {"traffic": "str4", "reads": 0.8, "device": "DDR5_4800", "channels": 2, "requests": 40_000},
        "memory-hbm": {"traffic": "random", "device": "HBM2E", "load": 0.4, "requests": 40_000},
        "memory-ramulator": {"traffic": "random", "reads": 0.67, "profile": "ramulator", "requests": 40_000},
        "memory-outstanding": {"traffic": "cstr2", "outstanding": 12, "map": "B", "requests": 30_000},
    }

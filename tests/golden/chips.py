"""Networks on a chip alone, as keywords of `hostnet.noc`, and chips, as keywords of `hostnet.chip`."""

from __future__ import annotations

from typing import Any

LOADED = {"mode": "async", "size": "512 B"}
SHORT = {"warmup": "2 us", "window": "3 us", "max": 2}


def on_chips() -> dict[str, dict[str, Any]]:
    """Returns a mesh below and above saturation, and a ring."""
    return {
        "noc-mesh": {"rate": 0.2, "cycles": 3000, "warmup": 1000},
        "noc-o1turn": {"rate": 0.6, "routing": "o1turn", "packet_flits": 5, "cycles": 2000, "warmup": 500},
        "noc-ring": {"topology": "ring", "size": "16", "rate": 0.1, "cycles": 3000, "warmup": 1000},
    }


def chips() -> dict[str, dict[str, Any]]:
    """Returns single operations on an idle chip, loaded chips of both shapes, and a rack."""
    preset = {"preset": "scale-out-64"}
    small = {**preset, "columns": 4, "rows": 2}
    torus = {"kind": "torus", "size": [2, 2], "pattern": "shift", "hops": 2}
    edge = {"placement": "edge"}
    return {
        "chip-turns": {"config": {"chip": preset, "run": {**SHORT, "window": "300 us"}}},
        "chip-edge": {"config": {"chip": preset, "ni": edge, "workload": LOADED, "run": SHORT}},
        "chip-noc-out": {"config": {"chip": {"preset": "scale-out-64-nocout"}, "workload": LOADED, "run": SHORT}},
        "chip-rack": {"config": {"chip": small, "rack": torus, "workload": LOADED, "run": SHORT}},
    }

"""Traces the curves of a study of latency under load, each once for all of its points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet.ledger.curve_study import IDLE, LATENCY, MOST

if TYPE_CHECKING:
    from hostnet.curves.trace import Trace, Wanted
    from hostnet.ledger.runner import Progress, Summary

PROBE = "random"
"""Order of the accesses of the core that measures: that of a pointer chase."""

Key = tuple[str, float]
"""Server and share of reads of a curve."""


def run_curves(
    configs: Sequence[dict[str, Any]], base_dir: Path, threads: int, progress: Progress | None
) -> list[Summary]:
    """Traces the curves that the points need, and returns a summary of each point; a `Simulate`.

    Raises:
        KeyboardInterrupt: The progress callback stopped the runs.
        ConfigError: A server is invalid.
    """
    from hostnet.curves.trace import trace

    del base_dir
    curves = wanted_curves(configs)
    traces = dict(zip(curves, trace(list(curves.values()), threads or None, progress), strict=True))
    members = Counter(map(key_of, configs))
    return [summary_of(config, traces[key_of(config)], members[key_of(config)]) for config in configs]


def key_of(config: dict[str, Any]) -> Key:
    """Returns the curve that a point lies on."""
    return config["server"]["preset"], config["curve"]["reads"]


def wanted_curves(configs: Sequence[dict[str, Any]]) -> dict[Key, Wanted]:
    """Returns the curves of the points, each with all the fractions that are read from it."""
    from hostnet.curves.points import Setting
    from hostnet.curves.trace import Wanted
    from hostnet.presets import load_server

    servers = {name: load_server(name) for name in dict.fromkeys(config["server"]["preset"] for config in configs)}
    fractions: dict[Key, list[float]] = {}
    for config in configs:
        own = fractions.setdefault(key_of(config), [])
        if config["curve"]["quantity"] == LATENCY:
            own.append(config["curve"]["fraction"])
    run = {name: value for name, value in configs[0]["run"].items() if name != "name"}
    return {
        (name, reads): Wanted(Setting(servers[name], (reads,), probe=PROBE), reads, tuple(own), run)
        for (name, reads), own in fractions.items()
    }


def summary_of(config: dict[str, Any], curve: Trace, members: int) -> dict[str, Any]:
    """Returns the value of a point, with its share of the events of a curve that has so many points."""
    fraction = config["curve"]["fraction"]
    values = {IDLE: curve.idle_ns, MOST: curve.most_gb_per_s, LATENCY: curve.latency_ns(fraction)}
    return {
        "kind": "curve",
        "value": values[config["curve"]["quantity"]],
        "events": curve.events // members,
        "config_hash": curve.config_hash,
    }

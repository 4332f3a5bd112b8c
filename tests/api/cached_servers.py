"""Random servers with caches: applications, plain loads, and drives with and without DDIO."""

from __future__ import annotations

import random
from typing import Any

PRESETS = {"cascade-lake-6234": 8, "ice-lake-8362": 16, "skylake-8160": 12, "broadwell-r730": 8}
"""Presets, and the maximum number of loaded cores."""

APPS: tuple[dict[str, Any], ...] = (
    {"app": "stream"},
    {"app": "stream", "kernel": "copy"},
    {"app": "pagerank"},
    {"app": "redis"},
    {"app": "redis", "sets": 0.5},
    {"app": "mlc"},
    {"app": "chase"},
)


def cached_server(seed: int) -> dict[str, Any]:
    """Returns the configuration of a server with one or two workloads of cores, and possibly drives."""
    draw = random.Random(seed)
    preset = draw.choice(list(PRESETS))
    config: dict[str, Any] = {
        "server": {"preset": preset},
        "cache": {"enabled": True},
        "ddio": {"enabled": draw.random() < 0.7},
        "workload": {},
        "run": {"duration": "100 us", "warmup": "auto", "seed": seed},
    }
    if draw.random() < 0.5:
        config["cache"]["llc"] = {"sets": draw.choice([256, 512, 1024])}
    if draw.random() < 0.3:
        config["prefetch"] = {"stream": False, "adjacent": False}
    cores = draw.randint(2, PRESETS[preset])
    split = draw.randint(1, cores - 1) if draw.random() < 0.4 else cores
    for name, first, end in (("one", 0, split), ("two", split, cores)):
        if first < end:
            config["workload"][name] = {**on_cores(draw), "cores": f"{first}-{end - 1}"}
    if draw.random() < 0.5:
        job: dict[str, Any] = {
            "rw": draw.choice(["read", "write", "randread"]),
            "bs": draw.choice(["4 KiB", "128 KiB", "1 MiB"]),
        }
        job |= {"iodepth": draw.choice([1, 16, 32]), "size": "1 GiB", "ssd": 0}
        config["workload"]["disk"] = {"kind": "fio", "cores": str(cores), "jobs": [job]}
        config["core"] = {"count": max(cores + 1, PRESETS[preset])}
    return config


def on_cores(draw: random.Random) -> dict[str, Any]:
    """Returns an application, or loads and stores to buffers that do or do not fit the LLC."""
    if draw.random() < 0.7:
        return {"kind": "app", **draw.choice(APPS)}
    return {
        "kind": "stream",
        "reads": draw.choice([1.0, 0.9, 0.5, 0.0]),
        "pattern": draw.choice(["sequential", "random"]),
        "working_set": draw.choice(["512 KiB", "8 MiB", "64 MiB"]),
    }

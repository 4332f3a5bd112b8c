"""Random servers and mixes that predictions are checked on."""

from __future__ import annotations

import random
from typing import Any

DEVICES = ["DDR4_2400", "DDR4_2933", "DDR4_3200", "DDR5_4800", "DDR5_6400"]


def server(seed: int) -> dict[str, Any]:
    """Returns a configuration of a server with 2 to 64 cores, 1 to 8 channels, up to 8 drives, and its workloads."""
    draw = random.Random(seed)
    count = max(2, round(2 ** draw.uniform(1, 6)))
    config: dict[str, Any] = {
        "server": {"preset": draw.choice(["cascade-lake-6234", "ice-lake-8362"])},
        "core": {"count": count},
        "cha": {"slices": draw.choice([count, count + 10, 18, 32])},
        "memory": {"channels": draw.choice([1, 2, 2, 3, 4, 4, 6, 8]), "device": draw.choice(DEVICES)},
        "workload": {},
        "run": {"duration": "120 us", "warmup": "auto", "seed": seed},
    }
    if draw.random() < 0.3:
        config["core"]["lfb"] = {"entries": draw.choice([8, 10, 12, 16, 24])}
    if draw.random() < 0.3:
        entries = draw.choice([8, 10, 14, 20, 32])
        config["cha"]["tor"] = {"entries": entries, "write_entries": entries}
    if draw.random() < 0.4:
        config["iio"] = {
            "write_credits": draw.choice([23, 46, 92, 184]),
            "read_credits": draw.choice([50, 100, 200, 400]),
        }
    kind = draw.choice(["none", "read", "write", "read", "write", "rw"])
    kernel_cores = 0
    if kind != "none":
        kernel_cores = max(1, min(count // 4, 4))
        storage(config, draw, kind, f"{count - kernel_cores}-{count - 1}")
    streams(config, draw, draw.randint(1, count - kernel_cores))
    return config


def storage(config: dict[str, Any], draw: random.Random, kind: str, cores: str) -> None:
    """Returns drives and a fio workload on them."""
    drives = draw.choice([1, 2, 4, 8])
    rate = f"{2 ** draw.uniform(-1.5, 3):.3f} GB/s"
    config["ssd"] = {"count": drives, "read_bandwidth": rate, "write_bandwidth": rate}
    if config["server"]["preset"] == "cascade-lake-6234":
        config["ssd"] = {"count": drives, "bandwidth": rate}
    if draw.random() < 0.4:
        config["pcie"] = {"generation": draw.choice([3, 4, 5]), "lanes": 16}
    block = "64 KiB" if kind == "rw" else draw.choice(["8 MiB", "128 KiB", "1 MiB"])
    jobs = [
        {"rw": kind, "bs": block, "iodepth": draw.choice([16, 64]), "size": "1 GiB", "ssd": drive}
        for drive in range(drives)
    ]
    config["workload"]["disk"] = {"kind": "fio", "jobs": jobs, "cores": cores}
    if draw.random() < 0.3:
        config["workload"]["disk"]["rate"] = f"{2 ** draw.uniform(-1, 4.5):.2f} GB/s"


def streams(config: dict[str, Any], draw: random.Random, cores: int) -> None:
    """Returns one or two workloads of cores."""
    split = draw.randint(1, cores - 1) if cores >= 4 and draw.random() < 0.25 else cores
    ranges = {"first": (0, split - 1), "second": (split, cores - 1)}
    for name, (low, high) in ranges.items():
        if low > high:
            continue
        config["workload"][name] = {
            "kind": "stream",
            "cores": f"{low}-{high}",
            "reads": draw.choice([1.0, 1.0, 0.0, 0.0, round(draw.random(), 2)]),
            "working_set": "64 MiB",
            "pattern": draw.choice(["sequential"] * 4 + ["random"]),
        }
        if draw.random() < 0.3:
            config["workload"][name]["gap"] = f"{2 ** draw.uniform(2, 8):.0f} ns"

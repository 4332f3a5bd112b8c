"""Random pairs of cores and devices: on servers with caches or several sockets, and on hosts of a cluster."""

from __future__ import annotations

import random
from typing import Any


def pair(seed: int) -> dict[str, Any]:
    """Returns the configuration of a pair, with cores under the name "cores" and devices under "devices"."""
    draw = random.Random(seed)
    make = draw.choice([plain, cached, sockets, cluster])
    return make(draw)


def crowd(seed: int) -> dict[str, Any]:
    """Returns a pair with nearly idle bystanders: a core "core", and a drive or a flow "drive"."""
    draw = random.Random(seed)
    config = draw.choice([plain, cached, cluster])(draw)
    config["run"] |= {"duration": "200 us"}
    core = {"kind": "stream", "cores": "7", "reads": 1.0, "gap": "20 us"}
    if "host" in config:
        config["host"]["busy"]["workload"]["core"] = core
        config["flow"]["drive"] = {"kind": "rpc", "request": "64 B", "in_flight": 1, "from": "w", "to": "busy"}
        return config
    config["workload"]["devices"]["cores"] = "6"
    one = {"rw": "randread", "bs": "512 B", "iodepth": 1, "size": "1 GiB", "ssd": 0}
    config["workload"]["core"] = core
    config["workload"]["drive"] = {"kind": "fio", "cores": "7", "jobs": [one]}
    return config


def stream(draw: random.Random, cores: int, first: int = 0) -> dict[str, Any]:
    """Returns loads and stores of the given number of cores."""
    found: dict[str, Any] = {
        "kind": "stream",
        "cores": f"{first}-{first + cores - 1}",
        "reads": draw.choice([1.0, 0.5, 0.0]),
        "working_set": draw.choice(["64 MiB", "1 GiB"]),
        "pattern": draw.choice(["sequential", "random"]),
    }
    if draw.random() < 0.3:
        found["gap"] = draw.choice(["10 ns", "50 ns", "200 ns"])
    return found


def drives(draw: random.Random, cores: str) -> dict[str, Any]:
    """Returns storage with one command at a time up to the full load of four drives."""
    rw = draw.choice(["read", "write", "randread", "randrw"])
    block, depth = draw.choice([("512 B", 1), ("4 KiB", 4), ("128 KiB", 16), ("1 MiB", 32)])
    jobs = [
        {"rw": rw, "bs": block, "iodepth": depth, "size": "1 GiB", "ssd": drive}
        for drive in range(draw.choice([1, 2, 4]))
    ]
    return {"kind": "fio", "cores": cores, "jobs": jobs}


def plain(draw: random.Random) -> dict[str, Any]:
    """Returns one socket without caches, which predictions cover."""
    config = _server(draw, "cascade-lake-6234")
    config["workload"] = {"cores": stream(draw, draw.randint(1, 6)), "devices": drives(draw, "6-7")}
    if draw.random() < 0.5:
        config["memory"] = {"channels": 1}
    if draw.random() < 0.2:
        config["cha"] = {"tor": {"entries": 32}}
    return config


def cached(draw: random.Random) -> dict[str, Any]:
    """Returns one socket with small caches."""
    config = plain(draw)
    config["cache"] = {"enabled": True, "llc": {"sets": 256}, "l2": {"sets": 256}}
    return config


def sockets(draw: random.Random) -> dict[str, Any]:
    """Returns two sockets, with drives on one of them."""
    config = _server(draw, "skylake-8160")
    config["ssd"] = {"sockets": draw.choice([0, 1])}
    first = draw.choice([0, 24])
    config["workload"] = {
        "cores": {**stream(draw, draw.randint(1, 10), first), "memory": draw.choice(["local", "node:0", "node:1"])},
        "devices": drives(draw, draw.choice(["20-23", "44-47"])),
    }
    return config


def cluster(draw: random.Random) -> dict[str, Any]:
    """Returns a host with busy cores of its own or of other sockets, and traffic of its NIC."""
    cores = {"kind": "remote", "sockets": "0-2", "reads": draw.choice([1.0, 0.5])}
    host: dict[str, Any] = {
        "preset": "cascade-lake-hostcc",
        "workload": {"cores": cores if draw.random() < 0.5 else stream(draw, draw.randint(1, 4))},
    }
    if draw.random() < 0.5:
        host["cache"] = {"enabled": True, "llc": {"sets": 256}, "l2": {"sets": 256}}
    small = {"kind": "rpc", "request": draw.choice(["64 B", "4 KiB", "32 KiB"]), "in_flight": draw.choice([1, 8, 32])}
    flow = small if draw.random() < 0.5 else {"kind": "bulk"}
    return {
        "host": {"busy": host, "w": {"kind": "endpoint"}},
        "network": {"rate": draw.choice(["25 Gbps", "100 Gbps"]), "mtu": "4096 B"},
        "flow": {"devices": {**flow, "from": "w", "to": "busy"}},
        "run": {"duration": "150 us", "warmup": "50 us"},
    }


def _server(draw: random.Random, preset: str) -> dict[str, Any]:
    return {
        "server": {"preset": preset},
        "run": {"duration": "100 us", "warmup": "30 us", "seed": draw.randint(1, 1000)},
    }

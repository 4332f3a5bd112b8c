"""Single servers: quadrants, mixes, applications, random ones."""

from __future__ import annotations

import random
from typing import Any

Document = dict[str, Any]

CASCADE_LAKE = "cascade-lake-6234"
ICE_LAKE = "ice-lake-8362"


def server(workloads: Document, *, preset: str = CASCADE_LAKE, run: Document | None = None, **more: Any) -> Document:
    """Returns a server with its workloads, measured for 150 us."""
    return {
        "server": {"preset": preset},
        **more,
        "workload": workloads,
        "run": {"warmup": "50 us", "duration": "150 us", "seed": 1, **(run or {})},
    }


def stream(cores: str, reads: float = 1.0, **more: Any) -> Document:
    """Returns loads and stores."""
    return {"kind": "stream", "cores": cores, "reads": reads, **more}


def fio(rw: str, cores: str, *, drives: int = 4, bs: str = "8 MiB", depth: int = 64, **more: Any) -> Document:
    """Returns a job per drive."""
    jobs = [{"rw": rw, "bs": bs, "iodepth": depth, "size": "1 GiB", "ssd": drive} for drive in range(drives)]
    return {"kind": "fio", "jobs": jobs, "cores": cores, **more}


def app(name: str, cores: str, **more: Any) -> Document:
    """Returns an application."""
    return {"kind": "app", "app": name, "cores": cores, **more}


def quadrants() -> dict[str, Document]:
    """Returns the four quadrants with some numbers of cores."""
    kinds = {"q1": (1.0, "read"), "q2": (1.0, "write"), "q3": (0.0, "read"), "q4": (0.0, "write")}
    runs = {
        f"{name}-{count}-cores": server({"cores": stream(f"0-{count - 1}", reads), "disk": fio(rw, "6-7")})
        for name, (reads, rw) in kinds.items()
        for count in (1, 4, 6)
    }
    runs["q1-ice-lake"] = server({"cores": stream("0-7"), "disk": fio("read", "30-31", drives=8)}, preset=ICE_LAKE)
    runs["q3-ice-lake"] = server({"cores": stream("0-7", 0.0), "disk": fio("read", "30-31", drives=8)}, preset=ICE_LAKE)
    return runs


def mixes() -> dict[str, Document]:
    """Returns mixes beyond the quadrants: patterns, gaps, rates, mixed storage, several workloads, run lengths."""
    return {
        "one-core-alone": server({"cores": stream("0")}),
        "random-gap": server({"cores": stream("0-3", 0.7, pattern="random", gap="40 ns", working_set="64 MiB")}),
        "two-streams": server({"a": stream("0-1"), "b": stream("2-5", 0.5, pattern="strided", stride="256 B")}),
        "shared-core": server({"a": stream("0-1"), "b": stream("1-2", 0.5, gap="10 ns"), "disk": fio("read", "1")}),
        "storage-mixed": server({"disk": fio("randrw", "6-7", bs="64 KiB", depth=16, rate="5 GB/s")}),
        "storage-small": server({"cores": stream("0-2", 0.5), "disk": fio("randread", "7", bs="4 KiB", depth=32)}),
        "few-credits": server(
            {"cores": stream("0-5", 0.5), "disk": fio("read", "6-7")},
            core={"lfb": {"entries": 6}},
            cha={"tor": {"entries": 6, "write_entries": 3}},
            iio={"write_credits": 30, "read_credits": 40},
        ),
        "pcie-5": server(
            {"disk": fio("rw", "6-7", bs="128 KiB")},
            pcie={"generation": 5, "lanes": 16},
            ssd={"count": 4, "bandwidth": "7 GB/s"},
        ),
        "auto-warm-up": server({"cores": stream("0-3", 0.0), "disk": fio("write", "6-7")}, run={"warmup": "auto"}),
        "to-a-precision": {
            **server({"cores": stream("0-1"), "disk": fio("read", "6-7", drives=2)}),
            "run": {"warmup": "auto", "precision": 0.02, "duration_max": "1 ms", "seed": 3},
        },
        "another-seed": server({"cores": stream("0-5", 0.3), "disk": fio("read", "6-7")}, run={"seed": 77}),
    }


def applications(traces: str) -> dict[str, Document]:
    """Returns applications with caches, alone and beside drives. `traces` is the folder of the recorded traces."""

    def cached(workloads: Document, **more: Any) -> Document:
        return server(workloads, cache={"enabled": True}, run={"warmup": "10 us", "duration": "60 us"}, **more)

    disk = fio("read", "6-7")
    return {
        "redis-alone": cached({"redis": app("redis", "0-2")}),
        "redis-beside-disk": cached({"redis": app("redis", "0-2"), "disk": disk}),
        "redis-sets": cached({"redis": app("redis", "0-1", sets=0.5), "disk": disk}),
        "pagerank-beside-disk": cached({"pagerank": app("pagerank", "0-3"), "disk": disk}),
        "pagerank-ddio-off": cached({"pagerank": app("pagerank", "0-3"), "disk": disk}, ddio={"enabled": False}),
        "bc-beside-disk": cached({"bc": app("bc", "0-1"), "disk": disk}),
        "mlc": cached({"mlc": app("mlc", "0-3")}),
        "chase": cached({"chase": app("chase", "0")}),
        "stream-app": cached({"stream": app("stream", "0-3")}),
        "stream-in-caches": cached({"cores": stream("0-3", 0.5, working_set="4 MiB"), "disk": disk}),
        "consumed": cached({"disk": fio("read", "0", drives=1, bs="1 MiB", depth=4, consume=True)}),
        "replay": cached({"replay": app("trace", "0-1", file=f"{traces}/redis-get.lackey.xz"), "disk": disk}),
    }


def random_servers(count: int) -> dict[str, Document]:
    """Returns random servers."""
    return {f"random-server-{seed}": _random_server(random.Random(seed), seed) for seed in range(count)}


def _random_server(draw: random.Random, seed: int) -> Document:
    cores = draw.choice([2, 4, 8, 16])
    disk_cores = 1 if cores < 8 else 2
    last = cores - disk_cores - 1
    drives = draw.choice([1, 2, 4])
    rw = draw.choice(["read", "write", "rw", "randread", "randrw"])
    more: Document = {
        "core": {"count": cores, "lfb": {"entries": draw.choice([8, 10, 12, 16])}},
        "cha": {"slices": draw.choice([cores, 8, 18])},
        "memory": {
            "channels": draw.choice([1, 2, 3, 4, 6]),
            "device": draw.choice(["DDR4_2400", "DDR4_2933", "DDR4_3200", "DDR5_4800"]),
        },
        "iio": {"write_credits": draw.choice([23, 46, 92]), "read_credits": draw.choice([50, 100, 200])},
    }
    workloads = {
        "cores": stream(
            f"0-{last}", round(draw.random(), 2), pattern=draw.choice(["sequential", "random"]), working_set="64 MiB"
        ),
        "disk": fio(
            rw,
            f"{last + 1}-{cores - 1}",
            drives=drives,
            bs=draw.choice(["4 KiB", "64 KiB", "1 MiB"]),
            depth=draw.choice([4, 32]),
        ),
    }
    return server(workloads, run={"warmup": "30 us", "duration": "80 us", "seed": seed}, **more)

"""Little's law in every pool of the tables: the number in use is the throughput times the mean time held."""

from __future__ import annotations

from typing import Any

import pytest

import hostnet
from tests.api.random_servers import server

ENOUGH = 4000
"""Minimum number of lines for which those in flight at the edges of a window do not matter."""

WINDOW_NS = 200_000.0


def drives(rw: str, memory: str) -> dict[str, Any]:
    jobs = [{"rw": rw, "bs": "4 KiB", "iodepth": 32, "size": "1 GiB", "ssd": drive} for drive in range(2)]
    return {"kind": "fio", "memory": memory, "jobs": jobs}


def stream(reads: float, memory: str) -> dict[str, Any]:
    return {"kind": "stream", "cores": "0-3", "reads": reads, "pattern": "random", "memory": memory}


SERVERS: dict[str, tuple[dict[str, Any], dict[str, Any], set[str]]] = {
    "one channel": (
        {"memory": {"channels": 1}},
        {"w": stream(0.5, "local"), "f": drives("randrw", "local")},
        {"LFB", "C2M-Write", "P2M-Read", "P2M-Write", "PCIe posted", "PCIe non-posted", "CHA TOR", "RPQ", "WPQ"},
    ),
    "two sockets": (
        {"server": {"preset": "cascade-lake-6234", "sockets": 2}},
        {"w": stream(0.5, "node:1"), "f": drives("read", "node:1")},
        {"CHA->UPI", "UPI request", "UPI write-back", "UPI data", "UPI answer", "RPQ", "WPQ"},
    ),
    "expander": (
        {"expander": {"channels": 2}},
        {"w": stream(0.5, "node:1"), "f": drives("randrw", "local")},
        {"CXL read", "CXL write", "WPQ", "CHA->DRAM read", "CHA->MC write"},
    ),
}
"""Servers, and the pools that their lines certainly pass."""


def rows(config: dict[str, Any]) -> list[dict[str, Any]]:
    config = {"server": {"preset": "cascade-lake-6234"}, **config}
    table = hostnet.run(config).tables["domains"].to_pylist()
    return [row for row in table if row["lines"] and row["latency_mean_ns"] is not None]


@pytest.mark.parametrize("name", SERVERS)
def test_every_pool_keeps_littles_law(name: str) -> None:
    server, workload, pools = SERVERS[name]
    held = rows({**server, "workload": workload, "run": {"duration": "200 us", "warmup": "50 us", "seed": 1}})
    found = [row for row in held if row["lines"] >= ENOUGH]
    assert pools <= {row["domain"] for row in found}
    for row in found:
        law = row["lines"] * row["latency_mean_ns"] / WINDOW_NS
        assert row["in_use_mean"] == pytest.approx(law, rel=0.02), row


def test_writes_that_wait_in_the_queue_for_others_are_in_use_until_they_leave() -> None:
    """Occasional commands leave too few writes in the queue for write mode, until the next command comes."""
    job = {"rw": "read", "bs": "4 KiB", "iodepth": 1, "size": "1 GiB", "ssd": 0}
    workload = {"f": {"kind": "fio", "jobs": [job], "rate": "0.1 GB/s"}}
    run = {"duration": "10 ms", "warmup": "100 us", "seed": 1}
    (wpq,) = (
        row
        for row in rows({"workload": workload, "run": run, "memory": {"channels": 1}})
        if (row["domain"], row["part"], row["workload"]) == ("WPQ", "all", "all")
    )
    assert wpq["latency_p50_ns"] < 1000 < 10_000 < wpq["latency_p99_ns"]
    assert wpq["in_use_mean"] == pytest.approx(wpq["lines"] * wpq["latency_mean_ns"] / 10e6, rel=0.02)


def held_of(seed: int) -> list[tuple[float, float, dict[str, Any]]]:
    """Returns the mean occupancy of the busy pools of a random server, by the law and as measured."""
    config = server(seed)
    config["run"] = {"duration": "200 us", "warmup": "50 us", "seed": seed}
    table = hostnet.run(config).tables["domains"].to_pylist()
    found = [row for row in table if row["lines"] >= ENOUGH and row["latency_mean_ns"] is not None]
    return [(row["lines"] * row["latency_mean_ns"] / WINDOW_NS, row["in_use_mean"], row) for row in found]


def assert_holds(seeds: range) -> None:
    held = [pool for seed in seeds for pool in held_of(seed)]
    assert len(held) > 5 * len(seeds)
    assert [row for law, mean, row in held if mean != pytest.approx(law, rel=0.05)] == []


def test_pools_of_random_servers_keep_littles_law() -> None:
    assert_holds(range(3))


@pytest.mark.long
def test_pools_of_many_random_servers_keep_littles_law() -> None:
    assert_holds(range(3, 150))

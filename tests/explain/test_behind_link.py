"""The time of lines behind a link: no part of it is negative, and without load its parts add up to all of it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

import hostnet
from hostnet.explanation import explain_results

LINK_HELPS = 0.05
"""Minimum gain of a link twice as fast if the link is the limit."""

DIFFERENCES = {"unexplained_ns", "gain", "throughput_drift"}
"""Keys whose values are differences by definition: an unexplained remainder, gains, a drift."""


def negative(value: Any, path: str = "") -> Iterator[str]:
    """Yields the places of all negative numbers, except differences and the row of all channels."""
    if isinstance(value, dict):
        if value.get("channel") == -1:
            value = {**value, "channel": 0}
        for key, part in value.items():
            if key not in DIFFERENCES:
                yield from negative(part, f"{path}.{key}")
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from negative(part, f"{path}[{number}]")
    elif isinstance(value, (int, float)) and value < 0:
        yield path


def any_server(seed: int) -> dict[str, Any]:
    """Returns a server with memory behind a link whose latencies are between 1 ns and 2 us."""
    draw = random.Random(seed)

    def times(*keys: str) -> dict[str, str]:
        return {key: draw.choice(["1 ns", "10 ns", "50 ns", "300 ns", "2 us"]) for key in keys}

    nodes = ["node:1", "node:0", "interleave"]
    jobs = [{"rw": draw.choice(["read", "write", "randrw"]), "bs": "4 KiB", "iodepth": 16, "size": "1 GiB", "ssd": 0}]
    workload: dict[str, Any] = {
        "w": {"kind": "stream", "cores": "0-1", "reads": draw.choice([1.0, 0.5, 0.0]), "memory": draw.choice(nodes)},
        "f": {"kind": "fio", "memory": draw.choice(nodes), "jobs": jobs},
    }
    return {
        "server": {"preset": "cascade-lake-6234"},
        "cache": {"enabled": draw.random() < 0.25},
        "expander": {"channels": draw.choice([1, 2]), **times("latency", "controller")},
        "cha": times("from_mc", "read_to_mc", "write_ack", "io_write_to_mc"),
        "core": times("to_cha", "from_cha"),
        "workload": workload,
        "run": {"duration": "20 us", "warmup": "10 us", "seed": seed},
    }


def check(seed: int) -> None:
    results = hostnet.run(any_server(seed))
    assert not list(negative(results.summary)), seed
    assert not list(negative(explain_results(results).explanation)), seed
    for name, table in results.tables.items():
        assert not list(negative(table.to_pylist(), name)), seed


@pytest.mark.parametrize("seed", range(6))
def test_no_time_is_negative(seed: int) -> None:
    check(seed)


@pytest.mark.long
def test_on_200_servers_no_time_is_negative() -> None:
    for seed in range(200):
        check(seed)


CORE = {"kind": "stream", "cores": "0", "reads": 1.0, "memory": "node:1"}
DRIVE = {"kind": "fio", "memory": "node:1"}


def job(rw: str) -> dict[str, Any]:
    return {**DRIVE, "jobs": [{"rw": rw, "bs": "4 KiB", "iodepth": 1, "size": "1 GiB", "ssd": 0}]}


def explained(workload: dict[str, Any], from_mc: str, latency: str) -> dict[str, Any]:
    """Returns the explanation of a workload that runs alone with memory behind a link."""
    config = {
        "server": {"preset": "cascade-lake-6234"},
        "core": {"lfb": {"entries": 1}},
        "cha": {"from_mc": from_mc},
        "expander": {"latency": latency},
        "workload": {"w": workload},
        "run": {"duration": "200 us", "warmup": "20 us", "seed": 1},
    }
    (row,) = explain_results(hostnet.run(config)).explanation["workloads"]
    return dict(row)


@pytest.mark.parametrize("workload", [CORE, job("read"), job("write")], ids=["loads", "P2M-Write", "P2M-Read"])
@pytest.mark.parametrize("from_mc", ["19 ns", "2 us"])
def test_without_load_a_line_takes_the_link_and_what_is_left_of_the_way_at_home(
    workload: dict[str, Any], from_mc: str
) -> None:
    near, far = (explained(workload, from_mc, latency) for latency in ("40 ns", "140 ns"))
    assert far["link_ns"] - near["link_ns"] == pytest.approx(200, abs=1), "the link is crossed twice"
    for row in (near, far):
        # Controllers take 40 ns in both directions, and the wires add some time.
        assert row["link_ns"] > 2 * 40 + 40
        assert row["latency"]["unloaded_ns"] == pytest.approx(row["latency"]["mean_ns"], rel=0.12)
        assert row["latency"]["unloaded_ns"] <= 1.01 * row["latency"]["mean_ns"]


def test_memory_behind_a_link_that_is_the_quicker_one_is_told_as_behind_a_link() -> None:
    row = explained({**CORE, "cores": "0-1"}, "2 us", "1 ns")
    assert row["saved_ns"] > row["link_ns"] > 0
    assert not row.get("limits"), "no prediction covers it"
    assert row["latency"]["unloaded_ns"] < 300


def far_stream(seed: int) -> dict[str, Any]:
    """Returns cores whose lines all lie behind a link of 2 to 16 lanes."""
    draw = random.Random(seed)
    cores = f"0-{draw.randint(1, 15)}"
    return {
        "server": {"preset": "ice-lake-8362"},
        "expander": {"lanes": draw.choice([2, 4, 8, 16]), "generation": 5, "channels": draw.choice([1, 2, 4])},
        "workload": {
            "w": {"kind": "stream", "cores": cores, "memory": "node:1", "reads": draw.choice([1.0, 0.7, 0.5])}
        },
        "run": {"duration": "100 us", "warmup": "40 us", "seed": seed},
    }


def named_and_gain(seed: int) -> tuple[str, float]:
    """Returns the limit that a run names, and the gain of a link twice as fast."""
    config = far_stream(seed)
    (row,) = hostnet.run(config).summary["workloads"]
    wider = {**config, "expander": {**config["expander"], "generation": 6}}
    (after,) = hostnet.run(wider).summary["workloads"]
    return row["limited_by"], after["throughput_gb_per_s"] / row["throughput_gb_per_s"] - 1


def assert_links_help(seeds: range) -> None:
    found = {seed: named_and_gain(seed) for seed in seeds}
    links = {seed: gain for seed, (limit, gain) in found.items() if limit == "CXL link"}
    assert links
    assert {seed: gain for seed, gain in links.items() if gain < LINK_HELPS} == {}


def test_a_link_that_is_named_helps_when_it_is_wider() -> None:
    assert_links_help(range(4))


@pytest.mark.long
def test_many_links_that_are_named_help_when_they_are_wider() -> None:
    assert_links_help(range(4, 150))

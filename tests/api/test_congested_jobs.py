"""An all-reduce over several servers, one of which also has memory traffic."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from hostnet import run_cluster

EXAMPLE = Path(__file__).parents[2] / "examples/allreduce-congested.toml"


CORES = {"socket_rate": "30 Gbps", "socket_send_rate": "46 Gbps"}
"""Rates of ranks on endpoints, as measured between two servers of the example."""


def iteration_us(*, endpoints: bool = False, **changes: Any) -> float:
    """Returns the time of an iteration. None removes a table of the busy host. The others may be endpoints."""
    content = tomllib.loads(EXAMPLE.read_text(encoding="utf-8"))
    if endpoints:
        content["host"]["worker"] = {"kind": "endpoint", "count": 3, "latency": "3 us"}
        content["job"]["train"] |= CORES
    busy = content["host"]["busy"]
    for name, value in changes.items():
        if value is None:
            del busy[name]
        else:
            busy[name] |= value
    content["job"]["train"] |= {"bytes": "1 MB", "iterations": 1}
    row = run_cluster(content).jobs["train"]
    assert row["unfinished_ranks"] == 0
    assert isinstance(row["iteration_us"], float)
    return row["iteration_us"]


@pytest.mark.long
def test_one_busy_host_slows_all_down_and_throttling_its_traffic_helps() -> None:
    alone = iteration_us(workload=None, control=None)
    beside = iteration_us()
    throttled = iteration_us(control={"rule": "hostcc"})
    assert beside > 1.4 * alone
    assert alone < throttled < 0.9 * beside
    # Simulating only the busy host line by line gives about the same.
    for changes, whole in (({"workload": None, "control": None}, alone), ({}, beside)):
        assert abs(iteration_us(endpoints=True, **changes) / whole - 1) < 0.06

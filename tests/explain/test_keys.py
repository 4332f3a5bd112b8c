"""Gains name the keys that a workload depends on."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import hostnet
from hostnet import _core
from hostnet.explanation import explain_results
from hostnet.explanation.keys import with_keys
from tests.explain.random_sides import plain

OTHER = {"write": "ssd.read_bandwidth", "read": "ssd.write_bandwidth"}
"""Key that a workload with only the other kind of access does not depend on."""

TOGETHER = "ssd.read_bandwidth, pcie.lanes, rate and iodepth"


def storage(seed: int, rw: str) -> dict[str, Any]:
    """Returns a random server whose drives are only written or only read."""
    config = plain(random.Random(seed))
    for job in config["workload"]["devices"]["jobs"]:
        job.update(rw=rw, bs="128 KiB", iodepth=32)
    return {**config, "ssd": {"read_bandwidth": "1 GB/s", "write_bandwidth": "1 GB/s"}, "run": {"duration": "20 us"}}


@pytest.mark.parametrize("rw", ["read", "write"])
def test_storage_is_told_the_key_of_what_it_does(rw: str) -> None:
    named = set()
    for seed in range(3):
        rows = explain_results(hostnet.run(storage(seed, rw))).explanation["workloads"]
        (disk,) = (row for row in rows if row["workload"] == "devices")
        named |= {gain["key"] for gain in disk["limits"]["gains"]}
    assert OTHER[rw] not in named
    assert f"ssd.{rw}_bandwidth" in named


@pytest.mark.parametrize("rw", ["read", "write"])
@pytest.mark.parametrize("key", ["ssd.read_bandwidth", TOGETHER])
def test_a_key_among_several_is_replaced_where_it_stands(rw: str, key: str) -> None:
    row = {"workload": "devices", "limits": {"gains": [{"key": key}]}}
    ((gain,),) = (found["limits"]["gains"] for found in with_keys([row], complete(storage(0, rw))))
    assert gain["key"] == key.replace("read", rw)


def test_other_keys_and_rows_without_gains_are_left() -> None:
    config = complete(storage(0, "write"))
    rows: list[dict[str, Any]] = [
        {"workload": "devices", "limits": {"gains": [{"key": "iodepth"}, {"key": "cha.tor.entries"}]}},
        {"workload": "nobody", "limits": {"gains": [{"key": "ssd.read_bandwidth"}]}},
        {"workload": "cores", "limits": None},
    ]
    assert with_keys(rows, config) == rows


def complete(config: dict[str, Any]) -> dict[str, Any]:
    """Returns the configuration with every key."""
    found: dict[str, Any] = json.loads(_core.resolve(json.dumps(config), format="json", file="test").effective_json())
    return found

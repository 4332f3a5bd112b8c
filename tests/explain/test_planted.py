"""Limits planted in random servers are found or reported as unknown; another limit is hardly ever named."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from tests.docs.reference import ROOT
from tests.planted import BESIDE, HELPS, PLANTS, campaign, judge, moved, plan_of, raises_of, simulate

BY_NAME = {plant.name: plant for plant in PLANTS}

LONG = 460
"""Seeds of the long campaign: in three of four cases the plant limits its server."""


@pytest.mark.parametrize(
    ("planted", "kind"),
    [
        ("UPI request", "two sockets, remote"),
        ("UPI data", "two sockets, remote"),
        ("UPI link", "two sockets, drives far"),
        ("RPQ", "two sockets"),
        ("CHA TOR", "two sockets"),
        ("DRAM channel", "caches"),
        ("P2M-Write", "drives and caches"),
    ],
)
def test_what_is_planted_where_nothing_is_predicted_is_found(planted: str, kind: str) -> None:
    verdict = judge(1, kind, BY_NAME[planted])
    assert verdict is not None
    assert (verdict.word, verdict.doubtful) == ("right", True), verdict


@pytest.mark.parametrize(
    ("planted", "kind"), [("RPQ", BESIDE), ("WPQ", BESIDE), ("PCIe posted", "drives")], ids=["RPQ", "WPQ", "posted"]
)
def test_what_trials_name_helps(planted: str, kind: str) -> None:
    verdict = judge(1, kind, BY_NAME[planted], trials=True)
    assert verdict is not None
    assert verdict.word == "right", verdict


def drives_of_another_socket() -> dict[str, Any]:
    """Drives that write to the memory of the remote socket, whose channels are busy with reads of cores."""
    job = {"rw": "randread", "bs": "128 KiB", "iodepth": 32, "size": "1 GiB"}
    fio = {"kind": "fio", "memory": "node:1", "jobs": [{**job, "ssd": drive} for drive in range(4)]}
    stream = {"kind": "stream", "cores": "0-3", "reads": 1.0, "memory": "node:1"}
    return {
        "server": {"preset": "cascade-lake-6234", "sockets": 2},
        "ssd": {"sockets": 0, "count": 4},
        "workload": {"fio": fio, "stream": stream},
        "run": {"warmup": "30 us", "duration": "80 us", "seed": 1},
    }


def drives_beside_cores_on_the_wire() -> dict[str, Any]:
    """Drives whose lines share the UPI link with those of cores."""
    content = tomllib.loads((ROOT / "examples/nudma-drives.toml").read_text(encoding="utf-8"))
    return {**content, "run": {"warmup": "30 us", "duration": "80 us", "seed": 1}}


@pytest.mark.parametrize(
    ("content", "named"),
    [(drives_of_another_socket(), "P2M-Write"), (drives_beside_cores_on_the_wire(), "UPI link")],
    ids=["channels are busy", "the wire is busy"],
)
def test_what_is_named_for_drives_of_another_socket_helps_them(content: dict[str, Any], named: str) -> None:
    plan = plan_of(content)
    now, *then = simulate([plan, *raises_of(plan, named)])
    (row,) = (row for row in now["workloads"] if row["workload"] == "fio")
    assert row["limited_by"] == f"{named} ?"
    assert max(moved(summary, "fio") for summary in then) > (1 + HELPS) * moved(now, "fio")


@pytest.mark.long
def test_planted_limits_of_every_domain() -> None:
    words = campaign(range(LONG), show=True)
    judged = sum(words.values())
    assert judged >= 300
    assert words["wrong without ?"] == 0
    assert words["not known"] <= 0.1 * judged

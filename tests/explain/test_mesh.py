"""Servers on a mesh with a planted limit: explanations find it, and the named limit helps."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

import hostnet
from hostnet.explanation import explain_results, page_text

MAP = {
    **{f"core{number}": [number % 4, 1] for number in range(8)},
    **{f"cha{number}": [number % 6, 1 + number // 6] for number in range(18)},
    "imc0": [0, 4],
    "imc1": [5, 4],
    "iio0": [2, 0],
    "iio1": [31, 31],
}
"""A die of cascade-lake-6234 with one stop far from all others."""


def server(noc: dict[str, Any], **tables: Any) -> dict[str, Any]:
    """Returns streams on four cores beside drives that are read."""
    stream = {"kind": "stream", "cores": "0-3", "reads": 1.0}
    jobs = [{"ssd": drive, "bs": "512 KiB", "size": "1 GiB", "iodepth": 8, "rw": "read"} for drive in range(4)]
    return {
        "server": {"preset": "cascade-lake-6234"},
        "noc": noc,
        "workload": {"stream": stream, "disk": {"kind": "fio", "cores": "6-7", "jobs": jobs}},
        "run": {"warmup": "30 us", "duration": "100 us"},
        **tables,
    }


def rates(config: dict[str, Any]) -> dict[str, float]:
    """Returns the throughput of each workload, in GB/s."""
    rows = hostnet.run(config).summary["workloads"]
    return {row["workload"]: row["throughput_gb_per_s"] for row in rows}


def changed(config: dict[str, Any], **noc: Any) -> dict[str, Any]:
    """Returns the server with other values of its die."""
    return {**deepcopy(config), "noc": {**config["noc"], **noc}}


def test_narrow_links_are_named_and_widening_them_helps() -> None:
    """Links of 2 B per cycle carry less than the channels."""
    config = server({"die": "cascade-lake-18", "link": "2 B"})
    found = hostnet.run(config)
    binding = {row["workload"]: row["binding"] for row in found.summary["binding"]}
    assert binding["stream"] == ["mesh"]
    narrow, wide = rates(config), rates(changed(config, link="4 B"))
    faster = rates(changed(config, clock="3 GHz"))
    assert wide["stream"] > 1.2 * narrow["stream"]
    assert faster["stream"] > 1.1 * narrow["stream"]


def test_wide_links_are_not_named() -> None:
    """A mesh that carries ten times the traffic limits nothing."""
    found = hostnet.run(server({"die": "cascade-lake-18"}))
    assert all("mesh" not in row["binding"] for row in found.summary["binding"])


@pytest.mark.long
def test_a_near_stop_is_found_for_devices_that_hang_off_a_far_one() -> None:
    """Credits of the IIO are held longer if the slices are farther away."""
    noc = {"map": MAP, "drives": "iio1", "vertical": 2, "horizontal": 2, "clock": "1 GHz"}
    config = server(noc, iio={"write_credits": 40}, cha={"from_mc": "60 ns", "write_ack": "60 ns"})
    page = explain_results(hostnet.run(config)).with_steps(confirm=True)
    assert page.mesh is not None
    disk = next(one for one in page.mesh.workloads if one.workload == "disk")
    assert disk.way_ns > disk.mean_way_ns + 40
    places = {place.what: place for place in page.mesh.places}
    best = max(page.mesh.places[1:], key=lambda place: place.gain["disk"])
    assert best.what == "all drives at iio0"
    assert best.gain["disk"] > 0.1
    assert "all drives at iio1" not in places
    near, far = rates(changed(config, drives="iio0")), rates(config)
    assert near["disk"] / far["disk"] - 1 == pytest.approx(best.gain["disk"], abs=1e-9)
    assert "all drives at iio0" in page_text(page)


def test_the_nic_of_a_host_is_tried_at_other_stops() -> None:
    """The page of a host predicts the effect of its NIC at other stops."""
    config = {
        "host": {
            "receiver": {"preset": "cascade-lake-hostcc", "noc": {"die": "cascade-lake-18", "nic": "iio2"}},
            "sender": {"kind": "endpoint", "latency": "5 us"},
        },
        "network": {"rate": "100 Gbps", "latency": "2 us", "mtu": "4000 B"},
        "flow": {"bulk": {"kind": "bulk", "from": "sender", "to": "receiver", "count": 2}},
        "run": {"warmup": "200 us", "duration": "200 us"},
    }
    page = explain_results(hostnet.run(config), "receiver").with_steps(confirm=True)
    assert page.mesh is not None
    whats = [place.what for place in page.mesh.places]
    assert whats[:3] == ["as it is", "the NIC at iio0", "the NIC at iio1"]
    assert "2 sub-NUMA clusters" in whats
    assert page.as_dict()["mesh"]["host"] == "receiver"

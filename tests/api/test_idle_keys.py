"""Keys of parts that an idle run does not use are reported, and take effect in runs that use them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hostnet import run, run_cluster
from hostnet.attachments.place import PLACES, possible_places

Content = dict[str, Any]

EXAMPLE = Path(__file__).parents[2] / "examples/dimm.toml"


def server(reads: float, **changes: Any) -> Content:
    stream = {"kind": "stream", "cores": "0-3", "reads": reads}
    machine = {"server": {"preset": "cascade-lake-6234"}, "workload": {"s": stream}}
    return {**machine, "run": {"warmup": "5 us", "duration": "20 us"}, **changes}


def told(summary: Content) -> set[str]:
    return {*summary["no_effect"], *summary["never_met"]}


@pytest.mark.parametrize(("reads", "idle"), [(1.0, True), (0.5, False)])
def test_entries_of_writes_come_into_play_where_cores_write(reads: float, idle: bool) -> None:
    content = server(reads, cha={"tor": {"write_entries": 3}})
    assert ("cha.tor.write_entries" in told(run(content).summary)) == idle


@pytest.mark.parametrize(("remote", "idle"), [("0", True), ("1", False)])
def test_links_between_sockets_come_into_play_where_something_crosses(remote: str, idle: bool) -> None:
    content = server(1.0, upi={"links": 1})
    content["server"]["sockets"] = 2
    content["workload"]["s"]["memory"] = f"node:{remote}"
    assert ("upi.links" in told(run(content).summary)) == idle


@pytest.mark.parametrize("idle", [True, False])
def test_a_host_that_takes_no_part_has_no_key_with_an_effect(idle: bool) -> None:
    host: Content = {"preset": "cascade-lake-hostcc", "core": {"count": 4}}
    if not idle:
        host["workload"] = {"s": {"kind": "stream", "cores": "0", "reads": 1.0}}
    content = {
        "host": {"e": {"kind": "endpoint", "count": 2}, "s": host},
        "network": {"rate": "10 Gbps"},
        "flow": {"f": {"kind": "bulk", "from": "e-0", "to": "e-1"}},
        "run": {"warmup": "20 us", "duration": "50 us"},
    }
    summary = run_cluster(content).summary
    assert ("host.s.core.count" in told(summary)) == idle


def test_a_nic_in_a_dimm_can_sit_at_every_other_place() -> None:
    possible, refused = possible_places(str(EXAMPLE))
    assert possible == list(PLACES)
    assert refused == {}

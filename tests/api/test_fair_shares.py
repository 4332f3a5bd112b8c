"""A full resource is the limit of a class only if the class has its fair share of it."""

from __future__ import annotations

from typing import Any

import pytest

from hostnet import run_cluster

Content = dict[str, Any]

BULK = {"kind": "bulk", "transport": "dctcp", "count": 2}


def cluster(**flows: Content) -> Content:
    """Returns two senders and two receivers at a switch, with the given flows."""
    return {
        "host": {"a": {"kind": "endpoint", "count": 2}, "b": {"kind": "endpoint", "count": 2}},
        "network": {"rate": "10 Gbps", "latency": "2 us", "switch": {"ecn": "65 packets"}},
        "flow": {name: {"from": "a-0", "to": "b-0", **flow} for name, flow in flows.items()},
        "run": {"warmup": "1 ms", "duration": "2 ms"},
    }


def limits(content: Content) -> dict[str, tuple[str, float]]:
    """Returns the limit of every class and its goodput in Gbps."""
    summary = run_cluster(content).summary
    goodputs = {row["class"]: row["goodput_gbps"] for row in summary["classes"]}
    return {row["class"]: (row["limit"], goodputs[row["class"]]) for row in summary["limits"]}


@pytest.mark.parametrize(
    "other",
    [
        {"kind": "datagram", "pattern": "open", "rate": "100 Mbps", "size": "1000 B"},
        {"kind": "rpc", "request": "100 B", "response": "100 B", "from": "a-1"},
        {"kind": "write", "from": "a-1", "priority": 5, "transport": "few"},
    ],
    ids=["clock", "requests in flight", "messages in flight"],
)
def test_a_class_that_is_slower_than_others_by_itself_is_not_held_by_their_cable(other: Content) -> None:
    content = cluster(bulk=BULK, other=other)
    if other.get("transport") == "few":
        content["transport"] = {"few": {"base": "roce", "in_flight": 1, "message": "256 B"}}
    found = limits(content)
    assert found["bulk"][0] == "cable"
    assert found["other"][0] == "not known"
    content["cable"] = {name: {"rate": "15 Gbps"} for name in ("a-0", "a-1", "b-0")}
    assert limits(content)["other"][1] < 1.25 * found["other"][1], "half as fast again hardly helps it"


def test_a_class_of_low_priority_starves_and_a_faster_cable_does_not_help_it() -> None:
    content = cluster(high={**BULK, "priority": 5}, low={**BULK, "from": "a-1"})
    found = limits(content)
    assert [limit for limit, _ in found.values()] == ["cable", "not known"]


def test_equals_are_both_held_by_their_cable() -> None:
    found = limits(cluster(one=BULK, other={**BULK, "from": "a-1"}))
    assert [limit for limit, _ in found.values()] == ["cable", "cable"]


def test_a_cable_that_carries_little_of_a_class_does_not_hold_it() -> None:
    content = cluster(one={**BULK, "class": "all"}, other={**BULK, "class": "all", "from": "a-1", "to": "b-1"})
    content["cable"] = {"b-0": {"rate": "100 Mbps"}}
    content["transport"] = {"dctcp": {"base": "dctcp", "receive_buffer": "8 KiB"}}
    assert limits(content)["all"][0] == "not known"


def test_a_service_that_gives_requests_up_has_too_few_in_flight() -> None:
    service = {"kind": "service", "in_flight": 1, "request": "100 B", "service": {"rate": 500_000, "time": "1 us"}}
    content = cluster(service=service)
    assert limits(content)["service"][0] == "requests in flight"
    content["flow"]["service"]["service"]["rate"] = 1_000
    assert limits(content)["service"][0] == "clock"


def test_windows_that_marks_cut_before_the_window_are_not_the_limit() -> None:
    content = cluster(bulk={"kind": "bulk", "transport": "cubic", "count": 4, "from": ["a-0", "a-1"]})
    # A long round trip, so that a reduced window grows slowly.
    content["network"] = {"rate": "100 Gbps", "latency": "50 us", "mtu": "9000 B", "switch": {"ecn": "20 packets"}}
    content["run"] = {"warmup": "2 ms", "duration": "2 ms"}
    found = limits(content)["bulk"]
    del content["network"]["switch"]["ecn"]
    assert limits(content)["bulk"][1] > 1.1 * found[1]
    assert found[0] == "not known"


def test_a_class_that_starves_in_a_nic_is_not_held_by_its_pcie_link() -> None:
    content = cluster(most={"kind": "write", "count": 4}, least={"kind": "write", "transport": "few"})
    content["host"]["b"] = {"preset": "cascade-lake-hostcc", "nic": {"pcie": {"lanes": 1}}}
    content["flow"] = {name: {**flow, "to": "b"} for name, flow in content["flow"].items()}
    content["transport"] = {"few": {"base": "roce", "in_flight": 1, "message": "256 B"}}
    found = limits(content)
    assert (found["most"][0], found["least"][0]) == ("PCIe", "not known")


@pytest.mark.parametrize(("priority", "named"), [(3, "pauses"), (0, "windows")])
def test_pauses_hold_back_the_priority_that_they_pause(priority: int, named: str) -> None:
    pauses = {"priorities": [3], "xoff": "30 kB", "xon": "20 kB"}
    content = cluster(
        incast={"kind": "write", "from": "a-0", "to": "b-0", "count": 2},
        other={"kind": "write", "from": "a-1", "to": "b-0", "count": 2},
        bulk={"kind": "bulk", "from": "a-0", "to": "b-1", "transport": "few", "priority": priority},
    )
    content["network"]["switch"] = {"pfc": pauses}
    content["transport"] = {"few": {"base": "cubic", "receive_buffer": "16 KiB"}}
    assert limits(content)["bulk"][0] == named

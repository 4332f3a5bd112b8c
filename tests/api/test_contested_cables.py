"""A cable that is about as full as another resource is named only if a faster cable helps."""

from __future__ import annotations

from copy import deepcopy
from random import Random
from typing import Any

import pytest

from hostnet import Results, run_cluster

Content = dict[str, Any]

FASTER = 1.05
"""Speed-up of a cable; the next limit may be a few percent away."""

LEAST = 0.01
"""Minimum share of that speed-up that the throughput gains if the cable is the limit."""

DATAGRAMS: Content = {"kind": "datagram", "pattern": "open"}
MESSAGES: Content = {"kind": "write"}


def transfer(random: Random) -> Content:
    """Returns traffic between a server and an endpoint."""
    stream: Content = {
        "kind": "bulk",
        "transport": random.choice(["dctcp", "cubic"]),
        "count": random.choice([1, 2, 4]),
    }
    flow = random.choice([stream, stream, MESSAGES, {**DATAGRAMS, "size": f"{random.randrange(200, 3900)} B"}])
    ends = ("s", "e") if random.random() < 0.3 else ("e", "s")
    return {**flow, "from": ends[0], "to": ends[1]}


def server(random: Random, flow: Content) -> Content:
    """Returns a server with another limit, whose NIC may or may not send pauses."""
    of_kinds: list[Content] = [
        {"workload": {"m": {"kind": "stream", "cores": "2-7", "reads": random.choice([0.0, 0.5, 1.0])}}},
        {"workload": {"m": {"kind": "remote", "sockets": "0-2", "reads": 0.5}}},
        {"nic": {"pcie": {"lanes": random.choice([2, 4, 8])}}},
        {"iio": {"write_credits": random.randrange(8, 60)}},
        {"stack": {"packet": f"{random.randrange(400, 2000)} ns"}},
    ]
    content = random.choice(of_kinds)
    if "workload" in content:
        content["memory"] = {"channels": random.choice([1, 2])}
    if "stack" in content and flow["kind"] != "write":
        flow["to_cores" if flow["to"] == "s" else "from_cores"] = "0"
    if flow["kind"] == "write" and random.random() < 0.5:
        pauses = {"priorities": [3], "xoff": "600 kB", "xon": "500 kB"}
        content["nic"] = {**content.get("nic", {}), "buffer": "1 MB", "pfc": pauses}
    return {"preset": "cascade-lake-hostcc", **content}


def cluster(random: Random) -> Content:
    flow = transfer(random)
    switch = random.choice([{"ecn": "65 packets"}, {"ecn": "65 packets"}, {"buffer": "200 kB"}])
    return {
        "host": {"s": server(random, flow), "e": {"kind": "endpoint"}},
        "network": {"rate": "100 Gbps", "mtu": "4000 B", "switch": switch},
        "flow": {"f": flow},
        "run": {"warmup": "1 ms", "duration": "1 ms"},
    }


def goodput(results: Results) -> float:
    return float(results.summary["classes"][0]["goodput_gbps"])


def with_rate(content: Content, mbps: float) -> Results:
    content = deepcopy(content)
    content["network"]["rate"] = f"{min(mbps, 100_000):.0f} Mbps"
    return run_cluster(content)


def limit(seed: int) -> str:
    """Returns the limit named with a cable about as fast as the other limit; a named cable must help if faster."""
    random = Random(seed)
    content = cluster(random)
    most = goodput(run_cluster(content))
    mbps = 1000 * max(0.1, most) * random.choice([0.9, 0.97, 1.0, 1.05, 1.1, 1.3]) * random.uniform(0.98, 1.05)
    results = with_rate(content, mbps)
    named = str(results.summary["limits"][0]["limit"])
    if named == "cable":
        gain = goodput(with_rate(content, FASTER * mbps)) / goodput(results) - 1
        assert gain >= LEAST or mbps * FASTER >= 100_000, (seed, gain, results.summary["limits"][0]["why"])
    return named


def test_cables_that_are_named_beside_other_limits_help() -> None:
    assert {limit(seed) for seed in range(4)} - {"cable"}, "some are not named"


@pytest.mark.long
def test_many_cables_that_are_named_beside_other_limits_help() -> None:
    found = [limit(seed) for seed in range(100)]
    assert found.count("cable") >= 10

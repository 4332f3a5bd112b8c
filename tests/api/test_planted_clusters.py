"""Limits planted in clusters are found: the named limit is the one that helps if it is raised by half."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from hostnet import Results, run_cluster

Content = dict[str, Any]

LEAST = 0.02
"""Smallest gain in throughput from more of what limits it, relative."""


@dataclass(frozen=True)
class Plant:
    """A value that limits a cluster, a larger value of it, and the name of the limit."""

    limit: str
    content: Content
    key: str
    value: Any
    more: Any

    def with_value(self, value: Any) -> Results:
        content = deepcopy(self.content)
        *tables, key = self.key.split("/")
        table = content
        for name in tables:
            table = table.setdefault(name, {})
        table[key] = value
        return run_cluster(content)


def throughput(results: Results) -> float:
    if results.jobs:
        return 1 / float(results.jobs["j"]["iteration_us"])
    return float(results.summary["classes"][0]["goodput_gbps"])


def named(plant: Plant) -> str | None:
    """Returns the limit that is named; None if more of what was planted does not help, so that it was not the limit."""
    before, after = plant.with_value(plant.value), plant.with_value(plant.more)
    if throughput(after) < (1 + LEAST) * throughput(before):
        return None
    return str(before.summary["limits"][0]["limit"])


def more(value: float, unit: str, factor: float = 1.5) -> dict[str, str]:
    return {"value": f"{round(value)} {unit}", "more": f"{round(factor * value)} {unit}"}


WINDOW = {"warmup": "1 ms", "duration": "1 ms"}
OPEN = {"kind": "datagram", "pattern": "open"}


def endpoints(flow: Content, **network: Any) -> Content:
    network = {"rate": "10 Gbps", "switch": {"ecn": "65 packets"}, **network}
    flows = {"f": {"from": "e-0", "to": "e-1", **flow}}
    return {"host": {"e": {"kind": "endpoint", "count": 4}}, "network": network, "flow": flows, "run": WINDOW}


def server(random: Random, *, sends: bool = False, transports: tuple[str, ...] = ("dctcp",), **flow: Any) -> Content:
    """Returns a server and an endpoint on a fast network."""
    ends = {"from": "s", "to": "e"} if sends else {"from": "e", "to": "s"}
    flow = flow or {"kind": "bulk", "transport": random.choice(transports), "count": 4}
    return {
        "host": {"s": {"preset": "cascade-lake-hostcc"}, "e": {"kind": "endpoint"}},
        "network": {"rate": "100 Gbps", "mtu": "4000 B", "switch": {"ecn": "65 packets"}},
        "flow": {"f": {**ends, **flow}},
        "run": WINDOW,
    }


def slow_cable(random: Random) -> Plant:
    open_loop = {**OPEN, "size": f"{random.randrange(200, 1400)} B"}
    flow = random.choice((open_loop, {"kind": "bulk", "transport": "cubic", "count": 2}))
    return Plant("cable", endpoints(flow), "cable/e-1/rate", **more(random.uniform(500, 6000), "Mbps"))


def slow_cable_of_a_server(random: Random) -> Plant:
    content = server(random, transports=("dctcp", "cubic"))
    return Plant("cable", content, f"cable/{random.choice('se')}/rate", **more(random.uniform(5000, 30000), "Mbps"))


def slow_fabric(random: Random) -> Plant:
    flow = random.choice(({**OPEN, "size": "1000 B"}, {"kind": "bulk", "transport": "cubic", "count": 2}))
    content = endpoints(flow, switch={"kind": "learning"})
    return Plant("fabric", content, "network/switch/fabric", **more(random.uniform(500, 6000), "Mbps"))


def narrow_pcie(random: Random) -> Plant:
    sends, lanes = random.random() < 0.4, random.choice((1, 2, 4))
    content = server(random, sends=sends, transports=("dctcp", "cubic", "roce"))
    return Plant("PCIe", content, "host/s/nic/pcie/lanes", lanes, 2 * lanes)


def few_iio_entries(random: Random) -> Plant:
    entries = random.randrange(8, 48)
    return Plant("host network", server(random), "host/s/iio/write_credits", entries, round(1.5 * entries))


def slow_iio(random: Random) -> Plant:
    return Plant("host network", server(random), "host/s/iio/line", **more(random.uniform(9000, 30000), "ps", 1 / 1.5))


def loaded_memory(random: Random) -> Plant:
    content = server(random)
    load = {"kind": "remote", "sockets": random.choice(("0", "0-1", "0-2")), "reads": 0.5}
    content["host"]["s"]["workload"] = {"m": load}
    return Plant("host network", content, "host/s/memory/channels", 1, 2)


def busy_receiver(random: Random) -> Plant:
    size = f"{random.randrange(100, 1400)} B"
    flow = random.choice(({**OPEN, "size": size}, {"kind": "bulk", "transport": "cubic", "count": 4}))
    content = server(random, **flow, to_cores="0")
    return Plant("receiver cores", content, "host/s/stack/packet", **more(random.uniform(600, 2000), "ns", 1 / 1.5))


def busy_sender(random: Random) -> Plant:
    content = server(random, sends=True, kind="bulk", transport="cubic", count=4, from_cores="0")
    return Plant("sender cores", content, "host/s/stack/send", **more(random.uniform(6000, 20000), "ns", 1 / 1.5))


def small_window(random: Random) -> Plant:
    base, key = random.choice((("cubic", "receive_buffer"), ("roce", "in_flight")))
    content = endpoints({"kind": "bulk", "transport": "t"}, rate="100 Gbps", latency="20 us")
    content["transport"] = {"t": {"base": base}}
    if key == "in_flight":
        content["transport"]["t"]["message"] = "16 KiB"
        return Plant("windows", content, f"transport/t/{key}", 2, 3)
    return Plant("windows", content, f"transport/t/{key}", **more(random.randrange(64, 256), "KiB"))


def few_requests(random: Random) -> Plant:
    content = endpoints({"kind": "rpc", "request": "1 kB", "response": "4 kB"}, rate="100 Gbps", latency="10 us")
    return Plant("requests in flight", content, "flow/f/count", random.choice((2, 4)), 6)


def few_reads_in_flight(random: Random) -> Plant:
    content = server(random, sends=True, kind="write", transport="roce")
    return Plant("host network", content, "host/s/nic/pcie/nonposted_lines", random.choice((8, 16, 32)), 64)


def small_send_window(random: Random) -> Plant:
    transport = random.choice(("cubic", "roce"))
    flow: Content = {"kind": "bulk" if transport == "cubic" else "write", "transport": transport, "count": 4}
    content = server(random, sends=True, **flow)
    return Plant("host network", content, "host/s/nic/send_window", **more(random.uniform(5000, 8000), "B"))


def shared_core(random: Random) -> Plant:
    flow: Content = {"kind": "bulk", "transport": random.choice(("dctcp", "cubic")), "count": random.randrange(1, 4)}
    content = server(random, **flow, to_cores="0")
    work = {"kind": "stream", "cores": "0", "reads": random.choice((0.5, 1.0))}
    content["host"]["s"]["workload"] = {"w": work}
    content["run"] = {"warmup": "3 ms", "duration": "4 ms"}
    return Plant("receiver cores", content, "host/s/workload/w/cores", "0", "1")


def light_load(random: Random) -> Plant:
    flows = {"kind": "bulk", "from": "e", "to": "e", "pairs": "random", "bytes": f"{random.randrange(5, 50)} kB"}
    content = {**endpoints(flows), "run": {"warmup": "1 ms", "duration": "10 ms"}}
    return Plant("offered load", content, "flow/f/load", random.choice((0.1, 0.2, 0.3)), 0.5)


def slow_sockets(random: Random) -> Plant:
    job = {"kind": "alltoall", "hosts": "e", "bytes": "300 kB", "transport": "cubic"}
    content = {**endpoints({}, rate="100 Gbps"), "job": {"j": job}, "run": {"until": "jobs", "duration_max": "1 s"}}
    del content["flow"]
    return Plant("rank cores", content, "job/j/socket_rate", **more(random.uniform(1000, 8000), "Mbps"))


KINDS: tuple[Callable[[Random], Plant], ...] = (
    slow_cable,
    slow_fabric,
    narrow_pcie,
    few_iio_entries,
    busy_receiver,
    small_window,
    slow_sockets,
    slow_cable_of_a_server,
    slow_iio,
    loaded_memory,
    busy_sender,
    few_requests,
    few_reads_in_flight,
    light_load,
    small_send_window,
    shared_core,
)


def plants(seed: int, each: int, kinds: tuple[Callable[[Random], Plant], ...]) -> Iterator[Plant]:
    random = Random(seed)
    for kind in kinds:
        yield from (kind(random) for _ in range(each))


def assert_found(seed: int, each: int, kinds: tuple[Callable[[Random], Plant], ...], unknown: float) -> None:
    """Asserts that no plant that limits is called by another name, and that at most a share of them is unknown."""
    told = [(plant, limit) for plant in plants(seed, each, kinds) if (limit := named(plant)) is not None]
    wrong = [(plant, limit) for plant, limit in told if limit not in (plant.limit, "not known")]
    assert not wrong, f"{len(wrong)} of {len(told)}: {wrong[:3]}"
    assert sum(limit == "not known" for _, limit in told) <= unknown * len(told)
    assert len(told) >= 0.7 * each * len(kinds), "most of what is planted limits"


def test_limits_that_are_planted_are_named() -> None:
    assert_found(seed=3, each=1, kinds=(*KINDS[:3], small_send_window, shared_core), unknown=0.0)


@pytest.mark.long
def test_many_limits_that_are_planted_are_named() -> None:
    assert_found(seed=1, each=7, kinds=KINDS, unknown=0.1)

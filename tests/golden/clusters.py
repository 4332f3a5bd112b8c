"""Clusters: every fidelity, transport and kind of traffic, with faults, and random ones."""

from __future__ import annotations

import random
from typing import Any

Document = dict[str, Any]

HOST = "cascade-lake-hostcc"


def cluster(hosts: Document, flows: Document, *, ms: float = 0.6, warm_up_ms: float = 0.4, **more: Any) -> Document:
    """Returns hosts and their flows."""
    return {
        "host": hosts,
        "flow": flows,
        **more,
        "run": {"warmup": f"{warm_up_ms} ms", "duration": f"{ms} ms", "seed": 1},
    }


def endpoint(**more: Any) -> Document:
    """Returns a host without a host network."""
    return {"kind": "endpoint", "latency": "5 us", **more}


def receiver(load: int = 3, *, rule: str = "watch", fidelity: str = "line", **more: Any) -> Document:
    """Returns a server with a NIC, and cores of other sockets that load its memory."""
    host: Document = {"preset": HOST, "fidelity": fidelity, "control": {"rule": rule}, **more}
    if load:
        host["workload"] = {"mapp": {"kind": "remote", "sockets": f"0-{load - 1}", "reads": 0.5}}
    return host


NETWORK = {
    "rate": "100 Gbps",
    "latency": "4 us",
    "mtu": "4000 B",
    "switch": {"buffer": "16 MB", "ecn": "100 packets"},
}


def bulk(count: int = 4, **more: Any) -> Document:
    """Returns flows that always have data."""
    return {"kind": "bulk", "from": "sender", "to": "receiver", "count": count, **more}


def rpc(**more: Any) -> Document:
    """Returns requests, one at a time."""
    return {"kind": "rpc", "from": "sender", "to": "receiver", "request": "2 kB", **more}


def service(workers: int, **more: Any) -> Document:
    """Returns requests in an open loop."""
    how = {"rate": 3000, "time": "200 us", "distribution": "lognormal", "workers": workers}
    rest = {"from": "sender", "to": "receiver", "request": "200 B", "response": "9 kB"}
    return {"kind": "service", **rest, "service": how, **more}


def jobs() -> Document:
    """Returns ranks on endpoints: collectives and a benchmark, beside a flow."""
    train = {"kind": "allreduce", "hosts": "node", "bytes": "1 MB", "iterations": 3, "compute": "100 us"}
    all_to_all = {"kind": "alltoall", "hosts": "node", "ranks_per_host": 2, "bytes": "20 kB", "start": "1 ms"}
    grids = {"kind": "npb-mg", "hosts": "node", "ranks": 16, "launch": "10 us"}
    flow = {"kind": "bulk", "from": "node-0", "to": "node-5"}
    network = {"topology": "leaf-spine", "leaves": 2, "rate": "25 Gbps", "switch": {"ecn": "65 packets"}}
    return {
        "host": {"node": endpoint(count=8)},
        "network": network,
        "flow": {"bulk": flow},
        "job": {"train": train, "all-to-all": all_to_all, "grids": grids},
        "run": {"until": "jobs"},
    }


def congested() -> dict[str, Document]:
    """Returns one server that receives, under load and under host congestion control."""

    def run(host: Document, flows: Document | None = None, **more: Any) -> Document:
        return cluster(
            {"receiver": host, "sender": endpoint()}, flows or {"bulk": bulk()}, **{"network": NETWORK, **more}
        )

    target = {"target": "80 Gbps"}
    hostcc = {**receiver(), "control": {"rule": "hostcc", **target}}
    return {
        "host-idle-line": run(receiver(0)),
        "host-3x-line": run(receiver()),
        "host-3x-burst": run(receiver(fidelity="burst")),
        "host-3x-fluid": run(receiver(fidelity="fluid"), ms=3, warm_up_ms=2),
        "host-3x-rpc": run(receiver(), {"bulk": bulk(), "rpc": rpc()}),
        "hostcc-line": run(hostcc),
        "hostcc-fluid": run({**hostcc, "fidelity": "fluid"}, {"bulk": bulk(), "rpc": rpc()}, ms=3, warm_up_ms=2),
        "echo-only": run(receiver(2, rule="echo-only")),
        "fixed-level": run({**receiver(2), "control": {"rule": "fixed", "level": 2}}),
        "host-ddio": run(receiver(1, cache={"enabled": True}), ms=0.3, warm_up_ms=0.2),
        "host-sends": run(receiver(1), {"bulk": {**bulk(), "from": "receiver", "to": "sender"}}),
        "host-streams": run(
            {"preset": HOST, "workload": {"cores": {"kind": "stream", "cores": "5-7", "reads": 0.5}}},
            {"bulk": bulk(2)},
        ),
        "shared-streams": run(
            {"preset": HOST, "workload": {"cores": {"kind": "stream", "cores": "1-2", "reads": 0.5}}},
            {"bulk": bulk(2, to_cores="0-1")},
        ),
        "shared-redis": run(
            {
                "preset": HOST,
                "cache": {"enabled": True},
                "workload": {"redis": {"kind": "app", "app": "redis", "cores": "0-1"}},
            },
            {"rpc": rpc(count=2, to_cores="0-1")},
            ms=0.4,
        ),
        "two-servers": cluster(
            {"receiver": receiver(2), "sender": {"preset": HOST}}, {"bulk": bulk(2)}, network=NETWORK, ms=0.3
        ),
        "host-series": {
            **run(receiver(2, rule="hostcc"), {"bulk": bulk(2, transport="cubic")}),
            "run": {"warmup": "300 us", "duration": "400 us", "seed": 5},
        },
    }


def networks() -> dict[str, Document]:
    """Returns clusters of endpoints only: transports, incast, faults."""

    def pair(flows: Document, **more: Any) -> Document:
        hosts = {"sender": endpoint(count=4), "receiver": endpoint()}
        network = {"rate": "10 Gbps", "latency": "2 us", "switch": {"ecn": "65 packets", "buffer": "1 MB"}}
        return cluster(hosts, flows, **{"network": network, "ms": 20, "warm_up_ms": 5, **more})

    quick = {"quick": {"base": "dctcp", "rto_min": "1 ms", "ack_segments": 1}}
    broken = {
        "flaps": {"kind": "bulk", "from": "sender-0", "to": "receiver", "transport": "quick"},
        "damaged": {"kind": "bulk", "from": "sender-1", "to": "receiver", "transport": "quick"},
        "deaf": {**bulk(1, transport="quick"), "from": "sender-2", "deaf": ["6 ms", "11 ms"]},
    }
    cables = {"sender-0": {"down": [["7 ms", "7.5 ms"]]}, "sender-1": {"corrupt": 0.001}}
    roce_switch = {"rate": "100 Gbps", "latency": "1 us", "mtu": "4200 B"}
    priorities = {"priorities": [3], "xoff": "600 kB", "xon": "500 kB"}
    server = {"preset": HOST, "nic": {"relaxed_ordering": True, "buffer": "1 MB", "pfc": priorities}}
    loaded = {**server, "workload": {"c2m": {"kind": "stream", "cores": "0-5", "reads": 0.0}}}
    write = {"kind": "write", "from": "client", "to": "server"}
    direct = {"topology": "direct", **roce_switch}
    return {
        "dctcp": pair({"bulk": bulk(1)}),
        "cubic": pair({"bulk": bulk(1, transport="cubic")}),
        "reno": pair({"bulk": bulk(1, transport="reno"), "rpc": rpc()}),
        "incast": pair({"answer": bulk(2, bytes="256 kB")}, warm_up_ms=0),
        "jobs": jobs(),
        "service": pair({"web": service(4), "bulk": bulk(1)}),
        "learning": cluster(
            {"near": endpoint(count=3), "far": endpoint(count=3)},
            {
                "bulk": bulk(1, **{"from": "near", "to": "far"}),
                "rpc": rpc(**{"from": "near-0", "to": "far-2"}),
                "stranger": {"kind": "datagram", "from": "near-1", "to": "far-0", "size": "1 kB", "rate": "1 Gbps"},
            },
            network={
                "topology": "two-tier",
                "leaves": 3,
                "rate": "10 Gbps",
                "latency": "2 us",
                "switch": {"kind": "learning", "table": 5, "ttl": "300 us", "delay": "500 ns", "jitter": "1 us"},
            },
            ms=4,
        ),
        "faults": pair(broken, cable=cables, transport=quick),
        "rdma-write": cluster({"client": endpoint(), "server": loaded}, {"write": write}, network=direct),
        "rdma-read": cluster(
            {"client": endpoint(), "server": server}, {"read": {**write, "kind": "read"}}, network=direct
        ),
        "dcqcn": cluster(
            {"client": endpoint(count=3), "server": endpoint()},
            {"write": {**write, "transport": "dcqcn"}},
            network={**roce_switch, "switch": {"pfc": priorities, "ecn": "100 packets"}},
            ms=3,
        ),
    }


def random_clusters(count: int) -> dict[str, Document]:
    """Returns random clusters."""
    return {f"random-cluster-{seed}": _random_cluster(random.Random(1000 + seed)) for seed in range(count)}


def _random_cluster(draw: random.Random) -> Document:
    fidelity = draw.choice(["line", "line", "burst"])
    control = draw.choice(["none", "watch", "hostcc", "local-only", "echo-only"])
    hosts = {"sender": endpoint(count=draw.choice([1, 2, 5])), "receiver": endpoint()}
    if draw.random() < 0.6:
        hosts["receiver"] = receiver(draw.choice([0, 1, 3]), rule=control, fidelity=fidelity)
    flows = {"bulk": bulk(draw.choice([1, 2, 4]), transport=draw.choice(["dctcp", "cubic", "reno"]))}
    if draw.random() < 0.5:
        flows["rpc"] = rpc(request=draw.choice(["64 B", "1 kB", "32 kB"]))
    network = {
        "rate": draw.choice(["25 Gbps", "100 Gbps"]),
        "latency": draw.choice(["1 us", "4 us"]),
        "mtu": draw.choice(["1500 B", "4000 B"]),
        "switch": {"buffer": draw.choice(["300 kB", "4 MB"]), "ecn": draw.choice(["20 packets", "100 packets"])},
    }
    return cluster(hosts, flows, network=network, ms=0.4, warm_up_ms=0.3)

"""Datagrams over UDP: how a server handles them, where they are lost, and how captures show them."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

import hostnet
from tests.support import raises_code

SOCKET_OF_NIC, OTHER_SOCKET = "0", "14"
BOTH = [{"socket": 0, "lanes": 8}, {"socket": 1, "lanes": 8}]


def cluster(flow: dict[str, Any], *, nic: dict[str, Any] | None = None, **server: Any) -> dict[str, Any]:
    """Returns a flow of datagrams between an endpoint and a server of two sockets with its NIC on socket 0."""
    return {
        "host": {
            "client": {"kind": "endpoint", "latency": "5 us"},
            "server": {
                "preset": "broadwell-r730",
                "cache": {"enabled": True},
                "nic": {"ddio": True, "coalesce": "0 us", **(nic or {})},
                **server,
            },
        },
        "network": {"topology": "direct", "rate": "100 Gbps", "mtu": "1500 B"},
        "flow": {"f": {"kind": "datagram", **flow}},
        "run": {"warmup": "500 us", "duration": "500 us"},
    }


def generated(core: str, **nic: Any) -> hostnet.Results:
    """Returns the results of a packet generator on one core."""
    flow = {"pattern": "generate", "from": "server", "to": "client", "size": "22 B", "from_cores": core}
    return hostnet.run(cluster(flow, nic=nic))


def cost_ns(results: hostnet.Results) -> float:
    """Returns the time per packet."""
    return float(results.summary["window_ns"] / results.summary["classes"][0]["sent_packets"])


def misses(results: hostnet.Results) -> float:
    """Returns the LLC misses per packet."""
    row = results.tables["caches"].to_pylist()[0]
    return float(row["llc_misses"] / results.summary["classes"][0]["sent_packets"])


def test_a_completion_is_in_the_llc_of_the_socket_of_the_nic_and_in_memory_on_the_other() -> None:
    local, remote = generated(SOCKET_OF_NIC), generated(OTHER_SOCKET)
    assert misses(local) == 0
    assert misses(remote) == pytest.approx(1, abs=0.01)
    # The calibration of `stack.generate`: 4.1 million packets per second.
    assert cost_ns(local) == pytest.approx(243.9, rel=0.01)
    assert 40 < cost_ns(remote) - cost_ns(local) < 110, "about what a line of memory takes longer than one of the LLC"
    octo = generated(OTHER_SOCKET, functions=BOTH)
    assert cost_ns(octo) == pytest.approx(cost_ns(local), rel=0.01), "local to both"
    rings = generated(OTHER_SOCKET, rings="device")
    assert cost_ns(rings) == pytest.approx(cost_ns(remote), rel=0.05), "the LLC of the other socket is no nearer"
    for results in (local, remote):
        # 219 ns of a packet are `stack.generate`; the rest is the wait for a completion.
        assert results.summary["hosts"][0]["core_send_share"] == pytest.approx(219 / cost_ns(results), rel=0.03)
        assert results.summary["limits"][0]["limit"] == "sender cores"


@pytest.mark.parametrize("fidelity", ["line", "burst", "fluid"])
def test_round_trips_stand_in_the_table_of_latencies(fidelity: str) -> None:
    flow = {"pattern": "ping", "from": "client", "to": "server", "request": "64 B", "response": "1000 B"}
    host = {"host": {"client": {"kind": "endpoint"}, "server": {"preset": "cascade-lake-hostcc", "fidelity": fidelity}}}
    results = hostnet.run({**cluster(flow), **host})
    latency, row = results.summary["latencies"][0], results.summary["classes"][0]
    assert 12 < latency["mean_us"] < 40
    assert latency["count"] * 2 == pytest.approx(row["sent_packets"], abs=2)
    assert row["received_segments"] == pytest.approx(row["sent_packets"], abs=1)
    assert (row["timeouts"], row["socket_dropped"]) == (0, 0)


def test_a_socket_drops_what_its_application_is_too_slow_for() -> None:
    flow = {"from": "client", "to": "server", "size": "100 B", "rate": "1 Gbps", "buffer": "2 kB"}
    slow = cluster(flow, stack={"call": "5 us"})
    row = hostnet.run(slow).summary["classes"][0]
    assert row["socket_dropped"] > 100
    lost = row["socket_dropped"] + row["nic_dropped_full"] + row["nic_dropped_ring"]
    assert row["received_segments"] + lost == pytest.approx(row["sent_packets"], abs=60), "the rest is on its way"
    assert hostnet.run(slow).summary["limits"][0]["limit"] == "receiver cores"


def test_a_capture_shows_ports_lengths_and_numbers(tmp_path: Path) -> None:
    flow = {"pattern": "ping", "from": "client", "to": "server", "request": "64 B", "response": "9 B"}
    file = tmp_path / "ping.pcap"
    hostnet.run(cluster(flow), pcap=file, pcap_host="client")
    content, at, seen = file.read_bytes(), 24, []
    while at < len(content):
        _, _, kept, whole = struct.unpack_from("<IIII", content, at)
        frame = content[at + 16 : at + 16 + kept]
        at += 16 + kept
        assert (frame[12:14], frame[23]) == (b"\x08\x00", 17)
        source, target, length, _ = struct.unpack_from(">HHHH", frame, 34)
        assert length == whole - 34
        seen.append((source, target, length - 8, struct.unpack_from(">Q", frame, 42)[0]))
    assert len(seen) > 40
    requests, answers = seen[::2], seen[1::2]
    assert requests[:3] == [(10000, 5001, 64, number) for number in range(3)]
    assert answers[:3] == [(5001, 10000, 9, number) for number in range(3)]


def test_a_datagram_is_refused_that_its_mtu_has_no_room_for() -> None:
    with raises_code("does-not-fit | flow.f.size | 1473 B | 28 B"):
        hostnet.run(cluster({"from": "client", "to": "server", "size": "1473 B"}))

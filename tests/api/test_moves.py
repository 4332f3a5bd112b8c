"""Threads that migrate to another core while their flow runs, as seen from outside."""

from __future__ import annotations

import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import hostnet
from tests.support import raises_code

OCTO = [{"socket": 0, "lanes": 8}, {"socket": 1, "lanes": 8}]


def cluster(move: list[dict[str, Any]], *, receive: bool = True, mode: str = "octo", **flow: Any) -> dict[str, Any]:
    """Returns a cluster with a flow of core 0, on socket 0; cores 14 and above are on socket 1."""
    ends = ("client", "server") if receive else ("server", "client")
    return {
        "host": {
            "client": {"kind": "endpoint", "latency": "5 us"},
            "server": {
                "preset": "broadwell-r730",
                "cache": {"enabled": True},
                "nic": {"ddio": True, "functions": OCTO, "mode": mode},
            },
        },
        "network": {"topology": "direct", "latency": "10 ns", "mtu": "1500 B"},
        "transport": {"joined": {"base": "cubic", "ack_segments": 44, "ack_delay": "50 us"}},
        "flow": {
            "f": {
                "kind": "bulk",
                "from": ends[0],
                "to": ends[1],
                "to_cores" if receive else "from_cores": "0",
                "transport": "joined",
                "move": move,
                **flow,
            }
        },
        "run": {"warmup": "2 ms", "duration": "2 ms"},
    }


def functions(results: hostnet.Results) -> list[dict[str, Any]]:
    return list(results.summary["functions"])


def test_an_octopus_follows_and_keeps_the_throughput_and_standard_firmware_does_not() -> None:
    still, octo, standard = (
        hostnet.run(cluster(move, mode=mode))
        for move, mode in (
            ([], "octo"),
            ([{"at": "1 ms", "core": 14}], "octo"),
            ([{"at": "1 ms", "core": 14}], "standard"),
        )
    )
    rates = [float(run.classes["f"]["goodput_gbps"]) for run in (still, octo, standard)]
    assert rates[1] == pytest.approx(rates[0], rel=0.03)
    assert rates[2] < 0.9 * rates[0]
    assert [row["written_gbps"] > 1 for row in functions(octo)] == [False, True]
    assert [row["written_gbps"] > 1 for row in functions(standard)] == [True, False]
    for run in (octo, standard):
        assert run.classes["f"]["retransmitted_packets"] == 0


def sequences(capture: Path, port_from: int) -> list[int]:
    """Returns the sequence numbers of data packets in a capture that come from a port, relative to the first one."""
    data = capture.read_bytes()
    at, found, sides = 24, [], []
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at + 8)
        frame = data[at + 16 : at + 16 + length]
        at += 16 + length
        header = 14 + 4 * (frame[14] & 15)
        source = frame[26:30]
        if source not in sides:
            sides.append(source)
        (sequence,) = struct.unpack_from(">I", frame, header + 4)
        total = struct.unpack_from(">H", frame, 16)[0]
        if total > 14 + 4 * (frame[header + 12] >> 4) + 100 and sides.index(source) == port_from:
            found.append(sequence)
    return found


@pytest.mark.parametrize("receive", [True, False])
def test_a_capture_shows_every_packet_in_order_while_threads_move(tmp_path: Path, receive: bool) -> None:
    moves = [{"at": f"{300 + 120 * step} us", "core": (14, 1, 15, 0)[step % 4]} for step in range(8)]
    config = cluster(moves, receive=receive)
    config["run"] = {"warmup": "100 us", "duration": "1400 us"}
    capture = tmp_path / "server.pcap"
    results = hostnet.run(config, pcap=capture, pcap_host="server")
    numbers = sequences(capture, 0)
    assert len(numbers) > 500
    assert all((after - before) % 2**32 < 2**31 for before, after in pairwise(numbers))
    assert len(set(numbers)) == len(numbers), "nothing is sent twice"
    assert sum(row["flows_steered"] for row in functions(results)) >= (4 if receive else 0), "the NIC follows"
    assert results.classes["f"]["retransmitted_packets"] == 0


@pytest.mark.parametrize(
    ("move", "said"),
    [
        ([{"at": "1 ms", "core": 99}], "does-not-exist | flow.f.move[0] | 99 | host.server"),
        ([{"at": "1 ms", "core": 14, "end": "from"}], "wrong-host-kind | flow.f.move[0]"),
        (
            [{"at": "2 ms", "core": 14}, {"at": "1 ms", "core": 0}],
            "wrong-order | flow.f.move[1]",
        ),
        ([{"at": "1 ms", "cores": 14}], "unknown-key | flow.f.move[0]"),
    ],
)
def test_moves_that_cannot_be_say_what_to_change(move: list[dict[str, Any]], said: str) -> None:
    with raises_code(said):
        hostnet.run(cluster(move))


def test_rdma_and_captures_have_no_thread_that_could_move() -> None:
    config = cluster([{"at": "1 ms", "core": 14}])
    config["flow"]["f"] |= {"kind": "write", "transport": "roce"}
    del config["flow"]["f"]["to_cores"]
    with raises_code("no-effect | flow.f.move"):
        hostnet.run(config)


def test_a_host_may_have_more_sockets_than_its_preset() -> None:
    config = cluster([{"at": "300 us", "core": 46}])
    config["host"]["server"] |= {"sockets": 4}
    config["host"]["server"]["nic"] = {"ddio": True, "functions": [{"socket": socket} for socket in range(4)]}
    config["run"] = {"warmup": "800 us", "duration": "200 us"}
    results = hostnet.run(config)
    assert [row["written_gbps"] > 1 for row in functions(results)] == [False, False, False, True]
    assert float(results.classes["f"]["goodput_gbps"]) > 5


@pytest.mark.parametrize(
    ("host", "sockets", "said"),
    [
        ("server", 9, "out-of-range | host.server.sockets | 1 to 8"),
        ("client", 2, "no-effect | host.client.sockets"),
        ("server", 1, "does-not-exist | flow.f.move[0] | 14"),
    ],
)
def test_sockets_of_hosts_that_cannot_be(host: str, sockets: int, said: str) -> None:
    config = cluster([{"at": "1 ms", "core": 14}])
    config["host"]["server"]["nic"] = {"ddio": True}
    config["host"][host]["sockets"] = sockets
    with raises_code(said):
        hostnet.run(config)

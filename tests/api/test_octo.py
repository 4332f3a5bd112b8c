"""Nonuniform DMA: a flow whose core is on another socket than the NIC, and one whose NIC is local to both sockets."""

from __future__ import annotations

from typing import Any

import pytest

import hostnet
from hostnet import ConfigError
from hostnet.explanation import explain_results, page_text
from hostnet.explanation.placements import NonuniformDma

LOCAL, REMOTE = 0, 14
ALL = -1
"""The row that aggregates all channels."""


def cluster(core: int, *, receive: bool = True, nic: dict[str, Any] | None = None, **server: Any) -> dict[str, Any]:
    """Returns a flow between an endpoint and a core of a server of two sockets with its NIC on socket 0."""
    ends = ("client", "server") if receive else ("server", "client")
    return {
        "host": {
            "client": {"kind": "endpoint", "latency": "5 us"},
            "server": {
                "preset": "broadwell-r730",
                "cache": {"enabled": True},
                "nic": {"ddio": True, **(nic or {})},
                **server,
            },
        },
        "network": {"topology": "direct", "rate": "100 Gbps", "mtu": "1500 B"},
        "flow": {
            "f": {
                "kind": "bulk",
                "from": ends[0],
                "to": ends[1],
                "to_cores" if receive else "from_cores": str(core),
                "transport": "cubic",
            }
        },
        "run": {"warmup": "2 ms" if receive else "4 ms", "duration": "2 ms"},
    }


OCTO = {"functions": [{"socket": 0, "lanes": 8}, {"socket": 1, "lanes": 8}]}


def goodput(results: hostnet.Results) -> float:
    return float(results.classes["f"]["goodput_gbps"])


def memory_per_byte(results: hostnet.Results) -> float:
    rows = (row for number, row in results.channels.items() if number != ALL)
    traffic = sum(float(row["read_gb_per_s"]) + float(row["write_gb_per_s"]) for row in rows)
    return 8 * traffic / goodput(results)


def test_a_flow_into_another_socket_is_slower_and_moves_memory() -> None:
    local, remote = (hostnet.run(cluster(core)) for core in (LOCAL, REMOTE))
    assert goodput(remote) < 0.9 * goodput(local)
    assert memory_per_byte(local) < 0.1, "completions, headers and data are in the LLC"
    assert memory_per_byte(remote) > 2.5, "the write of the device, and the read of the core that misses"


def test_what_is_sent_from_another_socket_is_read_from_memory_as_well_and_nothing_is_lost() -> None:
    local, remote = (hostnet.run(cluster(core, receive=False)) for core in (LOCAL, REMOTE))
    assert memory_per_byte(local) < 0.1
    assert memory_per_byte(remote) > 0.9, "memory reads ahead of the snoop"
    assert goodput(remote) > 0.85 * goodput(local)


@pytest.mark.parametrize("receive", [True, False])
def test_an_octopus_is_local_to_every_socket(receive: bool) -> None:
    local = hostnet.run(cluster(LOCAL, receive=receive))
    octo = hostnet.run(cluster(REMOTE, receive=receive, nic=OCTO))
    assert goodput(octo) == pytest.approx(goodput(local), rel=0.03)
    assert memory_per_byte(octo) < 0.1
    assert not octo.domains.get("CHA->UPI", {"lines": 0})["lines"], "nothing crosses"


def test_a_card_with_one_function_is_the_standard_one() -> None:
    plain = hostnet.run(cluster(REMOTE))
    one = hostnet.run(cluster(REMOTE, nic={"functions": [{"socket": 0}]}))
    standard = hostnet.run(cluster(REMOTE, nic={"functions": [{"socket": 0, "lanes": 16}], "mode": "standard"}))
    assert plain.result_hash == one.result_hash == standard.result_hash


def test_the_first_function_takes_all_flows_of_standard_firmware() -> None:
    nic = OCTO
    octo, standard = (hostnet.run(cluster(REMOTE, nic={**nic, "mode": mode})) for mode in ("octo", "standard"))
    assert goodput(standard) < 0.9 * goodput(octo)
    assert standard.domains["CHA->UPI"]["lines"] > 0


def test_a_card_on_the_other_socket_mirrors_the_server() -> None:
    first = hostnet.run(cluster(LOCAL))
    second = hostnet.run(cluster(REMOTE, nic={"functions": [{"socket": 1, "lanes": 8}]}))
    assert goodput(second) == pytest.approx(goodput(first), rel=0.03)
    assert memory_per_byte(second) < 0.1


def test_it_is_explained_by_name_and_other_placements_are_tried() -> None:
    page = explain_results(hostnet.run(cluster(REMOTE)), "server").with_steps(confirm=True)
    found = page.nonuniform
    assert isinstance(found, NonuniformDma)
    assert (found.flows, found.cores, found.sockets, found.device) == (("f",), (REMOTE,), (1,), 0)
    now, *others = found.placements
    assert now.crossing_gb_per_s > 1
    assert {other.what for other in others} == {
        "core 0 on socket 0",
        "a function of the card on socket 1 too, lanes shared",
    }
    assert all(other.gain > 0.1 and other.crossing_gb_per_s == 0 for other in others)
    assert "Nonuniform DMA: f on core 14 of socket 1, reached by the function" in page_text(page)
    assert page.as_dict()["nonuniform_dma"]["device"] == 0


@pytest.mark.parametrize("nic", [None, OCTO])
def test_what_is_local_is_not_explained_by_nonuniform_dma(nic: dict[str, Any] | None) -> None:
    core = LOCAL if nic is None else REMOTE
    assert explain_results(hostnet.run(cluster(core, nic=nic)), "server").nonuniform is None


@pytest.mark.parametrize(
    ("nic", "message"),
    [
        ({"functions": [{"socket": 2}]}, r"nic\.functions\[0\]\.socket.*there is no socket 2; server\.sockets = 2"),
        (
            {"functions": [{"socket": 1}, {"socket": 1}]},
            r"nic\.functions\[1\]\.socket: socket 1 has a function already",
        ),
        ({"pcie": {"lanes": 8}, "functions": [{"socket": 0, "lanes": 16}]}, "need more than the 8 lanes of the card"),
        ({"functions": [{"socket": 0, "lanes": 16}, {"socket": 1}]}, "need more than the 16 lanes of the card"),
        ({"functions": [{"socket": 0, "lanes": 3}]}, "lanes"),
        ({"functions": [{"sockets": 0}]}, "did you mean|known are"),
        ({"functions": []}, "functions"),
        ({"mode": "octopus"}, 'did you mean "octo"|octo'),
    ],
)
def test_what_a_card_cannot_be_is_said(nic: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        hostnet.run(cluster(LOCAL, nic=nic))

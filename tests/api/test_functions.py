"""Functions of a NIC that serve the cores of another socket: flows addressed to the other function."""

from __future__ import annotations

from typing import Any

import pytest

import hostnet
from hostnet.explanation import explain_results
from tests.support import raises_code

LOCAL, REMOTE = 0, 14
"""A core of each socket."""


def cluster(core: int, *functions: dict[str, int], mode: str = "octo") -> dict[str, Any]:
    """Returns one flow from an endpoint to a core of a server of two sockets."""
    nic = {"ddio": True, "functions": list(functions), "mode": mode}
    return {
        "host": {
            "client": {"kind": "endpoint", "latency": "5 us"},
            "server": {"preset": "broadwell-r730", "cache": {"enabled": True}, "nic": nic},
        },
        "network": {"topology": "direct", "rate": "100 Gbps", "mtu": "1500 B"},
        "flow": {"f": {"kind": "bulk", "from": "client", "to": "server", "to_cores": str(core), "transport": "cubic"}},
        "run": {"warmup": "2 ms", "duration": "2 ms"},
    }


def goodput(results: hostnet.Results) -> float:
    return float(results.classes["f"]["goodput_gbps"])


OWN = ({"socket": 0, "lanes": 8}, {"socket": 1, "lanes": 8})
OTHER = ({"socket": 0, "lanes": 8, "serves": 1}, {"socket": 1, "lanes": 8, "serves": 0})


def test_a_function_that_serves_the_other_socket_is_as_far_as_one_that_is_there() -> None:
    remote = hostnet.run(cluster(REMOTE, {"socket": 0, "lanes": 8}))
    for core in (LOCAL, REMOTE):
        crossed = hostnet.run(cluster(core, *OTHER))
        assert goodput(crossed) == pytest.approx(goodput(remote), rel=0.03)
        assert crossed.domains["CHA->UPI"]["lines"] > 0


def test_functions_that_serve_their_own_sockets_are_the_plain_ones() -> None:
    served = tuple({**function, "serves": function["socket"]} for function in OWN)
    plain, said = (hostnet.run(cluster(REMOTE, *functions)) for functions in (OWN, served))
    assert plain.result_hash == said.result_hash


def test_it_is_explained_and_functions_for_their_own_sockets_are_tried() -> None:
    page = explain_results(hostnet.run(cluster(LOCAL, *OTHER)), "server").with_steps(confirm=True)
    assert page.nonuniform is not None
    placements = page.as_dict()["nonuniform_dma"]["placements"]
    gains = {placement["what"]: placement["gain"] for placement in placements}
    assert gains["each function for the cores of its socket"] > 0.1


@pytest.mark.parametrize(
    ("functions", "mode", "message"),
    [
        ([{"socket": 0, "serves": 2}], "octo", "does-not-exist | server.sockets"),
        ([{"socket": 0}, {"socket": 1, "serves": 0}], "octo", "duplicate"),
        ([{"socket": 0, "serves": 1}], "standard", 'no-effect | nic.mode | "octo"'),
    ],
)
def test_what_functions_cannot_serve_is_said(functions: list[dict[str, int]], mode: str, message: str) -> None:
    with raises_code(message):
        hostnet.run(cluster(LOCAL, *functions, mode=mode))

"""An application on cores of two sockets, of a single server and of a host on a network."""

from __future__ import annotations

from typing import Any

import pytest

import hostnet

RUN = {"warmup": "60 us", "duration": "100 us"}


def pagerank(memory: str) -> dict[str, Any]:
    """Returns PageRank on two cores of each socket, with a graph larger than all caches."""
    app = {"kind": "app", "app": "pagerank", "cores": "0-1,14-15", "scale": 22, "degree": 8, "memory": memory}
    return {"cache": {"enabled": True, "llc": {"sets": 128}}, "workload": {"pagerank": app}}


def server(memory: str) -> hostnet.Results:
    return hostnet.run({"server": {"preset": "broadwell-r730"}, "run": RUN, **pagerank(memory)})


def host(memory: str) -> hostnet.Results:
    flow = {"kind": "bulk", "from": "client", "to": "server", "to_cores": "8", "start": "10 ms"}
    return hostnet.run(
        {
            "host": {
                "client": {"kind": "endpoint"},
                "server": {"preset": "broadwell-r730", "nic": {"ddio": True}, **pagerank(memory)},
            },
            "network": {"topology": "direct", "rate": "100 Gbps"},
            "flow": {"later": flow},
            "run": RUN,
        }
    )


def rate(results: hostnet.Results) -> float:
    return float(results.workloads["pagerank"]["operations_per_s"])


@pytest.mark.parametrize("memory", ["interleave", "node:1", "first-touch"])
def test_an_application_goes_as_fast_on_a_host_as_on_a_server(memory: str) -> None:
    alone, networked = server(memory), host(memory)
    assert rate(networked) == pytest.approx(rate(alone), rel=0.03)
    assert rate(alone) > 0


def test_interleaved_memory_is_read_on_both_sockets() -> None:
    interleaved, second = server("interleave"), server("node:1")
    read = [
        [float(results.channels[number]["read_gb_per_s"]) for number in range(8)] for results in (interleaved, second)
    ]
    assert sum(read[0][:4]) == pytest.approx(sum(read[0][4:]), rel=0.05)
    assert sum(read[1][:4]) < 0.02 * sum(read[1][4:])
    assert interleaved.domains["CHA->UPI"]["lines"] > 0

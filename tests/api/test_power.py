"""Frequencies and sleep of cores in the results of a run."""

from __future__ import annotations

from typing import Any

import pytest

import hostnet


def ran(duration: str = "2 ms", **nic: Any) -> hostnet.ClusterResults:
    """Runs a service whose client sends a request every 20 us, on a server whose cores sleep in between."""
    power = hostnet.Power(governor="performance", idle="teo")
    server = hostnet.Host(preset="i7-3770-gem5", fidelity="fluid", power=power, nic=hostnet.Nic(**nic))
    service = hostnet.Service(rate=5e4, arrivals="constant", cycles=3000, workers=8)
    flow = hostnet.Flow(kind="service", from_="client", to="server", request="100 B", service=service)
    run = hostnet.Run(warmup="2 ms", duration=duration)
    hosts = {"client": hostnet.Host(kind="endpoint"), "server": server}
    return hostnet.run_cluster(hostnet.Cluster(host=hosts, flow={"f": flow}, run=run))


def wakes(results: hostnet.ClusterResults) -> int:
    """Returns the number of wake-ups of cores."""
    return sum(row["wakes"] or 0 for row in results.summary["power"])


def test_sleep_is_counted_in_the_window_alone() -> None:
    short, long = ran("200 us"), ran("2 ms")
    assert wakes(long) > 50
    assert wakes(short) == pytest.approx(wakes(long) / 10, abs=2)
    for row in long.summary["power_states"]:
        if row["entries"]:
            assert row["mean_us"] * row["entries"] == pytest.approx(row["share"] * 2000)


def test_a_driver_that_looks_at_packets_works_longer_for_each() -> None:
    softirq = [
        ran(ncap=hostnet.Ncap(mode="software", packet=packet)).hosts["server"]["core_softirq_share"]
        for packet in ("50 ns", "550 ns")
    ]
    assert softirq[1] - softirq[0] == pytest.approx(5e4 * 0.5e-6, rel=0.05), "a packet for each request"


def test_power_is_that_of_all_cores() -> None:
    results = ran()
    window_us = results.summary["window_ns"] / 1000
    for row in results.summary["power"]:
        assert row["power_w"] == pytest.approx(row["energy_uj"] / window_us)
        assert row["ghz_mean"] == pytest.approx(3.1)

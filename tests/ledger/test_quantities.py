"""Plotted quantities are computed from the summary of a run."""

from __future__ import annotations

import math
from typing import Any

import pytest

from hostnet.ledger.errors import LedgerError
from hostnet.ledger.network_quantities import NETWORK_QUANTITIES
from hostnet.ledger.panels import Series
from hostnet.ledger.quantities import QUANTITIES, Estimate, Outcome
from tests.support import raises_code

RUN: dict[str, Any] = {
    "workloads": [
        {
            "workload": "fio",
            "throughput_gb_per_s": 15.0,
            "throughput_ci95": 0.3,
            "read_gb_per_s": 1.0,
            "write_gb_per_s": 14.0,
            "app_gb_per_s": 13.8,
        },
        {"workload": "stream"},
    ],
    "domains": [
        {
            "domain": "P2M-Write",
            "part": "all",
            "workload": "fio",
            "capacity": 92,
            "in_use_mean": 69.0,
            "in_use_ci95": 0.69,
            "latency_mean_ns": 300.0,
            "latency_ci95": 3.0,
        },
        {"domain": "RPQ", "part": "all", "workload": "all", "in_use_mean": 6.0, "in_use_ci95": 0.5},
        {
            "domain": "WPQ",
            "part": "all",
            "workload": "all",
            "over_threshold_share": 0.6,
            "over_threshold_ci95": 0.04,
        },
    ],
    "channels": [
        {"channel": -1, "row_miss_ratio": 0.2, "row_miss_ci95": 0.03, "rpq_mean": 99.0, "wpq_full_share": 9.9},
        {"channel": 0, "row_miss_ratio": 0.1, "rpq_mean": 2.0, "wpq_full_share": 0.5},
        {"channel": 1, "row_miss_ratio": 0.3, "rpq_mean": 4.0, "wpq_full_share": 0.7},
    ],
}

ALONE: dict[str, Any] = {
    "workloads": [{"workload": "fio", "throughput_gb_per_s": 30.0, "throughput_ci95": 0.6}],
    "domains": [
        {"domain": "P2M-Write", "part": "all", "workload": "all", "latency_mean_ns": 280.0, "latency_ci95": 4.0}
    ],
}


def estimate(quantity: str, run: dict[str, Any] = RUN) -> Estimate:
    series = Series("s", quantity=quantity, point="p", domain="P2M-Write", workload="fio")
    return QUANTITIES[quantity](series, Outcome("p", run), Outcome("alone", ALONE))


@pytest.mark.parametrize(
    ("quantity", "value", "ci95"),
    [
        ("traffic", 15.0, 0.3),
        ("degradation", 2.0, 2.0 * math.hypot(0.02, 0.02)),
        ("latency", 300.0, 3.0),
        ("latency_inflation", 20.0, 5.0),
        ("p2m_latency", 69.0 * 64 / 13.8, 69.0 * 64 / 13.8 * math.hypot(0.01, 0.02)),
        ("in_use", 69.0, 0.69),
        ("capacity", 92.0, None),
        ("rpq_occupancy", 3.0, 0.25),
        ("wpq_full", 60.0, 4.0),
        ("row_miss_ratio", 20.0, 3.0),
    ],
)
def test_value_and_confidence(quantity: str, value: float, ci95: float | None) -> None:
    found = estimate(quantity)
    assert found.value == pytest.approx(value)
    assert found.ci95 == (None if ci95 is None else pytest.approx(ci95))


def test_every_quantity_is_tested() -> None:
    assert len(QUANTITIES) == 10


def test_without_an_interval_of_its_own_a_latency_takes_that_of_the_throughput() -> None:
    run = {**RUN, "domains": [{**RUN["domains"][0], "latency_ci95": None}]}
    assert estimate("latency", run).ci95 == pytest.approx(300.0 * 0.02)


def test_without_any_interval_there_is_none() -> None:
    run = {**RUN, "workloads": [{**RUN["workloads"][0], "throughput_ci95": None}, {"workload": "stream"}]}
    assert estimate("traffic", run).ci95 is None


def test_a_latency_that_was_never_measured_is_not_a_number() -> None:
    run = {**RUN, "domains": [{**RUN["domains"][0], "latency_mean_ns": None, "latency_ci95": None}]}
    assert math.isnan(estimate("latency", run).value)


def test_a_missing_row_is_named() -> None:
    with raises_code("malformed-file", LedgerError):
        estimate("in_use", {**RUN, "domains": []})
    with raises_code("malformed-file", LedgerError):
        estimate("wpq_full", {**RUN, "channels": []})


def test_a_ratio_needs_its_baseline() -> None:
    series = Series("s", quantity="degradation", point="p", workload="fio")
    with raises_code("malformed-file | needs a baseline", LedgerError):
        QUANTITIES["degradation"](series, Outcome("p", RUN), None)


def job_run(done_us: float, *energies_uj: float) -> Outcome:
    meters = [{"host": str(host), "part": "all", "energy_uj": energy} for host, energy in enumerate(energies_uj)]
    parts = [{"host": "0", "part": "NIC", "energy_uj": 1.0}]
    return Outcome("run", {"jobs": [{"job": "j", "launched_us": 5.0, "done_us": done_us}], "energy": meters + parts})


def test_what_a_job_saves_is_a_share_of_the_baseline_over_all_servers() -> None:
    here, there = job_run(35.0, 10.0, 20.0), job_run(45.0, 60.0)
    series = Series("s", workload="j")
    assert NETWORK_QUANTITIES["job_time_saved"](series, here, there).value == pytest.approx(25.0)
    assert NETWORK_QUANTITIES["job_energy_saved"](series, here, there).value == pytest.approx(50.0)
    assert NETWORK_QUANTITIES["job_time_saved"](series, there, here).value < 0

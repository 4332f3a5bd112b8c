"""The published formula on the counters of a run, as computed by the ledger."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from hostnet.ledger.formula_quantities import FORMULA_QUANTITIES, admission_delay, formula_error, formula_part
from hostnet.ledger.panels import Series
from hostnet.ledger.quantities import Outcome
from hostnet.ledger.rows import error_of

TIMINGS = {"t_trans_ns": 2.0, "t_wtr_ns": 8.0, "t_rtw_ns": 8.0, "t_act_ns": 10.0, "t_pre_ns": 10.0}

RUN: dict[str, Any] = {
    "counters": {
        "channels": 2,
        "lines_read": 100,
        "lines_written": 50,
        "mode_switches": 5,
        "rpq_occupancy": 11,
        "rpq_full_share": 0,
        "wpq_full_share": 0.5,
        "read_activations": 20,
        "read_conflicts": 10,
        "write_activations": 10,
        "write_conflicts": 5,
        "core_write": {"occupancy": 10, "lines": 50},
        "io_write": {"occupancy": 30, "lines": 100},
    },
    "workloads": [
        {"workload": "stream", "throughput_gb_per_s": 10.0, "throughput_ci95": 0.1},
        {"workload": "fio", "throughput_gb_per_s": 12.8, "throughput_ci95": 0.128, "app_gb_per_s": 12.8},
    ],
    "domains": [
        {"domain": "LFB", "workload": "stream", "part": "all", "latency_mean_ns": 125.0, "latency_ci95": 1.0},
        {"domain": "CHA->DRAM read", "workload": "stream", "part": "all", "latency_mean_ns": 115.0},
        {"domain": "P2M-Write", "workload": "fio", "part": "all", "in_use_mean": 80.0, "in_use_ci95": 0.8},
        {"domain": "CHA->MC write", "workload": "fio", "part": "all", "latency_mean_ns": 180.0},
    ],
}

CORES = Series("cores", domain="LFB", workload="stream", form="adj", constant=71.0, timings=TIMINGS)
DEVICES = Series("devices", domain="P2M-Write", workload="fio", form="adj", constant=300.0, way=205.0, timings=TIMINGS)

READ_NS = 11 * 0.05 * 8 + 11 * 0.5 * 2 + 10 * 2 + 0.2 * 10 + 0.1 * 10
WRITE_NS = 0.5 * (20 * 0.1 * 8 + 20 * 2 * 2 + 20 * 2 + 0.2 * 10 + 0.1 * 10)


def outcome(**changes: Any) -> Outcome:
    return Outcome("q3:1", {**RUN, **changes})


def test_the_error_is_what_the_formula_leaves_unexplained() -> None:
    error = formula_error(CORES, outcome(), None)
    assert error.value == pytest.approx(100 * (125 - 71 - READ_NS) / 125)
    assert error.ci95 == pytest.approx(100 * (71 + READ_NS) / 125**2)


def test_device_latency_is_occupancy_over_the_rate_of_the_application() -> None:
    measured = 80 * 64 / 12.8
    error = formula_error(DEVICES, outcome(), None)
    assert error.value == pytest.approx(100 * (measured - 300 - WRITE_NS) / measured)


def test_admission_is_time_outside_of_the_cha() -> None:
    assert admission_delay(CORES, outcome(), None).value == pytest.approx(10)
    assert admission_delay(DEVICES, outcome(), None).value == pytest.approx(400 - 180 - 205)
    added = formula_error(replace(CORES, admission=True), outcome(), None)
    assert added.value == pytest.approx(100 * (125 - 71 - READ_NS - 10) / 125)


def test_parts_are_those_that_are_named() -> None:
    assert formula_part(replace(CORES, parts=("read_hol",)), outcome(), None).value == pytest.approx(20)
    both = replace(DEVICES, parts=("write_hol", "top_of_queue"))
    assert formula_part(both, outcome(), None).value == pytest.approx(0.5 * (20 * 2 + 3))
    assert formula_part(CORES, outcome(), None).value == pytest.approx(READ_NS)


@pytest.mark.parametrize("quantity", ["formula_error", "formula_part"])
def test_without_its_counters_there_is_no_value(quantity: str) -> None:
    for run in (outcome(counters=None), outcome(counters={"channels": 2})):
        assert math.isnan(FORMULA_QUANTITIES[quantity](CORES, run, None).value)


def test_an_error_is_relative_to_the_floor_at_least() -> None:
    assert error_of(2.0, 6.0, "relative", floor=16.0) == pytest.approx(0.25)
    assert error_of(32.0, 40.0, "relative", floor=16.0) == pytest.approx(0.25)
    assert error_of(0.0, 4.0, "relative", floor=16.0) == pytest.approx(0.25)
    assert error_of(0.0, 4.0, "relative") is None

"""The published formula on various sets of counters."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import asdict, dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hostnet
from hostnet import FormulaConstants
from tests.support import raises_code

CONSTANTS = FormulaConstants(2.0, 8.0, 16.0, 10.0, 20.0, 70.0, 300.0)

COUNTERS: dict[str, Any] = {
    "window_ns": 1000,
    "channels": 2,
    "lines_read": 100,
    "lines_written": 50,
    "read_activations": 20,
    "write_activations": 10,
    "read_conflicts": 10,
    "write_conflicts": 5,
    "mode_switches": 5,
    "rpq_occupancy": 11,
    "rpq_full_share": 0.25,
    "wpq_full_share": 0.5,
    "lfb": {"occupancy": 20, "lines": 100},
    "core_read": {"occupancy": 15, "lines": 100},
    "core_write": {"occupancy": 10, "lines": 50},
    "io_read": {"occupancy": 5, "lines": 20},
    "io_write": {"occupancy": 30, "lines": 100},
    "iio_write": {"occupancy": 80, "lines": 100},
}

NEEDED = {
    "read": ("lines_read", "lines_written", "mode_switches", "read_activations", "read_conflicts", "rpq_occupancy"),
    "write": (
        "lines_read",
        "lines_written",
        "mode_switches",
        "write_activations",
        "write_conflicts",
        "wpq_full_share",
        "core_write",
        "io_write",
    ),
}


def test_reads_and_writes() -> None:
    read = hostnet.formula(COUNTERS, CONSTANTS)
    assert asdict(read) == pytest.approx(
        {"switching_ns": 4.4, "write_hol_ns": 11.0, "read_hol_ns": 20.0, "top_of_queue_ns": 4.0}
    )
    assert read.total_ns == pytest.approx(39.4)
    write = hostnet.formula(COUNTERS, CONSTANTS, domain="write", form="published")
    assert write.write_hol_ns == pytest.approx(0.5 * 19 * 2)
    cha = hostnet.formula(COUNTERS, CONSTANTS, form="adj-cha")
    assert cha.read_hol_ns == pytest.approx((0.25 * 10 + 0.75 * 11 - 1) * 2)


def test_waiting_for_the_cha() -> None:
    assert hostnet.cha_admission(COUNTERS, way_ns=5) == pytest.approx(200 - 150 - 5)
    assert hostnet.cha_admission(COUNTERS, way_ns=205, domain="io-write") == pytest.approx(800 - 300 - 205)
    with raises_code("missing-key | window_ns is needed"):
        hostnet.cha_admission({**COUNTERS, "window_ns": None}, way_ns=5)


def test_a_dataclass_will_do() -> None:
    @dataclass
    class Mine:
        rpq_occupancy: float = 11.0
        lines_read: int = 100
        lines_written: int = 50
        mode_switches: int = 5
        read_activations: int = 20
        read_conflicts: int = 10
        io_write: dict[str, float] = field(default_factory=dict)

    assert hostnet.formula(Mine(), CONSTANTS) == hostnet.formula(COUNTERS, CONSTANTS)


@pytest.mark.parametrize(("domain", "name"), [(domain, name) for domain, names in NEEDED.items() for name in names])
def test_a_missing_counter_is_named_with_what_needs_it(domain: Any, name: str) -> None:
    for missing in ({key: value for key, value in COUNTERS.items() if key != name}, {**COUNTERS, name: None}):
        with raises_code(f"missing-key | {domain} | {name}"):
            hostnet.formula(missing, CONSTANTS, domain=domain)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rpq_ocupancy": 1}, 'unknown-key | "rpq_ocupancy" | "rpq_occupancy"'),
        ({"lfb": {"occupancy": 1, "line": 2}}, 'unknown-key | "line" | "lines"'),
        ({"lfb": 3}, "wrong-type"),
        ({"lines_read": float("nan")}, "out-of-range | lines_read is nan"),
        ({"lines_read": float("inf")}, "out-of-range | lines_read is inf"),
        ({"lines_read": -1}, "out-of-range | lines_read is -1"),
        ({"lines_read": "many"}, "out-of-range | lines_read is 'many'"),
        ({"lines_read": True}, "out-of-range | lines_read is True"),
        ({"lines_read": 0}, "missing-key | lines_read is zero"),
    ],
)
def test_what_is_no_counter_is_refused(changes: dict[str, Any], message: str) -> None:
    with raises_code(message):
        hostnet.formula({**COUNTERS, **changes}, CONSTANTS)


def test_something_else_than_counters_is_refused() -> None:
    with raises_code("wrong-type"):
        hostnet.formula([1, 2], CONSTANTS)


@given(factor=st.floats(1.0, 100.0), form=st.sampled_from(["published", "adj", "adj-cha"]))
def test_latency_grows_with_the_queue(factor: float, form: Any) -> None:
    longer = deepcopy(COUNTERS)
    longer["rpq_occupancy"] *= factor
    before, after = (hostnet.formula(counters, CONSTANTS, form=form) for counters in (COUNTERS, longer))
    assert after.total_ns >= before.total_ns - 1e-9


def test_the_constants_of_a_server() -> None:
    config = {"server": {"preset": "cascade-lake-6234"}, "workload": {"stream": {"kind": "stream", "cores": "0"}}}
    constants = FormulaConstants.of(hostnet.Config.from_dict(config))
    assert constants.t_trans_ns == pytest.approx(2.73, abs=0.01)
    assert constants.t_act_ns == constants.t_pre_ns == pytest.approx(14.32, abs=0.01)
    assert constants.const_write_ns == pytest.approx(297)

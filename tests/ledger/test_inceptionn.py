"""The study of INCEPTIONN: its rows agree with its page, and the parts of an iteration with their names."""

from __future__ import annotations

from typing import Any

import pytest

from hostnet.ledger import validate
from hostnet.ledger.panels import Series
from hostnet.ledger.quantities import Outcome
from hostnet.ledger.training_quantities import communication, exchange, train_part, train_part_share

ROWS_THAT_HOLD = {
    "inc.t32.ResNet-50.communication.abs",
    "inc.fig311.INC.ResNet-50.comm",
    "inc.fig311.INC.ResNet-50.total",
    "inc.fig311.WAC/ResNet-50",
    "inc.fig311.INCC_vs_WA",
    "inc.t32.HDC.communication.abs",
    "inc.fig313.eqINC/4",
}
"""Some rows that are not fitted."""

FINDINGS = {"inc.fig311.INCC_vs_INC", "inc.fig311.INC.HDC.comm", "inc.formula.gap"}
"""Rows whose failure the page explains."""


def test_the_quick_rows_are_as_the_page_says() -> None:
    verdicts = {row.id: row.verdict for row in validate("inceptionn", selection="quick").rows}
    assert {row: verdicts[row] for row in ROWS_THAT_HOLD} == dict.fromkeys(ROWS_THAT_HOLD, "pass")
    assert {row: verdicts[row] for row in FINDINGS} == dict.fromkeys(FINDINGS, "fail")


def outcome(ranks: int, steps: dict[str, tuple[int, float]], ratio: float = 4.0) -> Outcome:
    """Returns a run of two iterations of 10 s with the given counts and times of steps, in s."""
    rows: list[dict[str, Any]] = [
        {"job": "j", "step": name, "count": count, "mean_us": mean * 1e6, "messages": count}
        for name, (count, mean) in steps.items()
    ]
    engines = [
        {"direction": "out", "bytes": 100 * ratio, "wire_bytes": 100},
        {"direction": "in", "bytes": 1, "wire_bytes": 9},
    ]
    job = {"job": "j", "iterations": 2, "iteration_us": 1e7, "ranks": ranks}
    return Outcome("run", {"jobs": [job], "steps": rows, "engines": engines})


def series(**fields: Any) -> Series:
    return Series("s", workload="j", **fields)


def test_parts_are_those_of_a_rank_that_has_them() -> None:
    ring = outcome(4, {"backward": (8, 2.0), "sum": (24, 0.5)})
    assert train_part(series(parts=("backward",)), ring, None).value == pytest.approx(200)
    assert train_part(series(parts=("sum",)), ring, None).value == pytest.approx(150)
    assert train_part_share(series(parts=("sum",)), ring, None).value == pytest.approx(15)
    assert communication(series(), ring, None).value == pytest.approx(650)
    assert exchange(series(), ring, None).value == pytest.approx(8)


def test_with_an_aggregator_one_rank_sums_up_and_updates() -> None:
    run = outcome(5, {"backward": (8, 2.0), "gather": (8, 9.0), "sum": (6, 0.5), "update": (2, 1.0)})
    assert train_part(series(parts=("sum",)), run, None).value == pytest.approx(150)
    assert communication(series(), run, None).value == pytest.approx(550)

"""The study of NCAP: its rows agree with its page, and its quantities with their names."""

from __future__ import annotations

import math
from typing import Any

import pytest

from hostnet.ledger import validate
from hostnet.ledger.panels import Series
from hostnet.ledger.power_quantities import demand_frequency, late_sleeps, onset, reaction, surges
from hostnet.ledger.quantities import Outcome

STEP_US = 500.0

ROWS_THAT_HOLD = {
    "ncap.apache.low.slo_all/ncap.cons",
    "ncap.wake",
    "ncap.race/frequency",
    "ncap.race/asleep",
}
"""Some rows that are not fitted."""


def steps_of(**columns: list[float]) -> list[dict[str, Any]]:
    """Returns a time series with these columns; other columns are 0."""
    count = len(next(iter(columns.values())))
    blank = {"received_gbps": 0.0, "sent_gbps": 0.0, "running_share": 0.0, "ghz_mean": 1.0, "sleeps": 0}
    return [
        {**blank, "time_us": (at + 1) * STEP_US, **{name: values[at] for name, values in columns.items()}}
        for at in range(count)
    ]


def outcome(steps: list[dict[str, Any]], rises_us: tuple[float, ...] = ()) -> Outcome:
    """Returns a run with this time series, whose frequency rises and falls again at these times."""
    changes = [{"at_us": at + late, "ghz": ghz} for at in rises_us for late, ghz in ((0.0, 3.0), (100.0, 1.0))]
    return Outcome("run", {"power_series": steps, "frequencies": [{"at_us": 0.0, "ghz": 1.0}, *changes]})


def pulse(at: int, length: int, steps: int = 100) -> list[float]:
    """Returns a column that is high for a number of steps."""
    return [1.0 if at <= step < at + length else 0.0 for step in range(steps)]


def both(*columns: list[float]) -> list[float]:
    """Returns the sum of columns."""
    return [sum(values) for values in zip(*columns, strict=True)]


def test_surges_close_to_each_other_are_one_and_one_that_was_on_does_not_count() -> None:
    column = both(pulse(0, 2), pulse(20, 4), pulse(26, 2), pulse(60, 1))
    assert surges(steps_of(received_gbps=column), "received_gbps") == [(10_000, 14_000), (30_000, 30_500)]
    assert surges(steps_of(received_gbps=[0.0] * 10), "received_gbps") == []


def test_a_reaction_is_from_the_first_packets_to_the_next_rise() -> None:
    steps = steps_of(received_gbps=both(pulse(20, 4), pulse(60, 4)))
    run = outcome(steps, (10_050.0, 33_000.0))
    mean, most = (reaction(Series("s", percentile=which), run, None).value for which in ("mean", "max"))
    assert mean == pytest.approx(1.525)
    assert most == pytest.approx(3.0)
    assert math.isnan(reaction(Series("s"), outcome(steps), None).value), "nothing rises"


def test_an_onset_tells_which_column_leads() -> None:
    steps = steps_of(received_gbps=pulse(20, 4), sent_gbps=pulse(26, 9))
    forth = Series("s", parts=("received_gbps", "sent_gbps"))
    back = Series("s", parts=("sent_gbps", "received_gbps"))
    assert onset(forth, outcome(steps), None).value == pytest.approx(3)
    assert onset(back, outcome(steps), None).value == pytest.approx(-3)


def test_sleeps_count_from_a_time_on_until_all_has_been_sent() -> None:
    sleeps = [1.0] * 100
    steps = steps_of(received_gbps=pulse(20, 4), sent_gbps=pulse(24, 8), sleeps=sleeps)
    assert late_sleeps(Series("s", constant=0.0), outcome(steps), None).value == 13
    assert late_sleeps(Series("s", constant=2.0), outcome(steps), None).value == 9


def test_the_frequency_in_demand_leaves_idle_steps_out() -> None:
    steps = steps_of(running_share=pulse(20, 4), ghz_mean=both([1.0] * 100, pulse(22, 2)))
    assert demand_frequency(Series("s", constant=0.5), outcome(steps), None).value == pytest.approx(1.5)


def test_what_ncap_is_for_holds_and_is_found_by_the_rows() -> None:
    ledger = validate("ncap", selection="short")
    verdicts = {row.id: row.verdict for row in ledger.rows}
    assert {row: verdicts[row] for row in ROWS_THAT_HOLD} == dict.fromkeys(ROWS_THAT_HOLD, "pass")

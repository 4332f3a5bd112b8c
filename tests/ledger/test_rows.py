"""Scoring: errors, verdicts, groups."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostnet.ledger.panels import Exclusion, Group, Kind, Panel, Published, Relation, Series
from hostnet.ledger.quantities import Estimate
from hostnet.ledger.rows import Row, Verdict, error_of, make_row, score, verdict_of
from hostnet.ledger.study import Study, load_study
from hostnet.report.numbers import row_error_text, row_tolerance_text

RELATIVE = Group("g", "G", "relative", mean=0.03, max=0.08)
ABSOLUTE = Group("g", "G", "absolute", mean=3.0, max=8.0)
WRONG = Exclusion("panel", "series", "known to be wrong")


@pytest.mark.parametrize(
    ("published", "simulated", "kind", "error"),
    [
        (100.0, 92.0, "relative", -0.08),
        (1.25, 1.35, "relative", 0.08),
        (30.0, 38.0, "absolute", 8.0),
        (0.0, 3.0, "absolute", 3.0),
        (0.0, 3.0, "relative", None),
        (5.0, None, "relative", None),
        (5.0, None, "absolute", None),
    ],
)
def test_errors_are_signed(published: float, simulated: float | None, kind: Kind, error: float | None) -> None:
    assert error_of(published, simulated, kind) == (None if error is None else pytest.approx(error))


@pytest.mark.parametrize(
    ("group", "error", "verdict"),
    [
        (RELATIVE, 0.0, "pass"),
        (RELATIVE, 0.08, "pass"),
        (RELATIVE, -0.08, "pass"),
        (RELATIVE, (1.08 - 1.0) / 1.0, "pass"),  # 0.08000000000000007 in binary
        (RELATIVE, 0.0801, "fail"),
        (RELATIVE, -0.0801, "fail"),
        (RELATIVE, None, "fail"),
        (ABSOLUTE, 8.0, "pass"),
        (ABSOLUTE, -8.0, "pass"),
        (ABSOLUTE, -8.001, "fail"),
        (None, 0.5, "context"),
        (None, None, "context"),
    ],
)
def test_verdicts(group: Group | None, error: float | None, verdict: Verdict) -> None:
    assert verdict_of(group, error, None) == verdict


def test_an_excluded_point_is_not_judged() -> None:
    assert verdict_of(RELATIVE, 0.0, WRONG) == "excluded"
    assert verdict_of(RELATIVE, 9.0, WRONG) == "excluded"


def test_an_exclusion_covers_its_series_or_only_some_x() -> None:
    assert WRONG.covers("panel", "series", "3")
    assert not WRONG.covers("panel", "other", "3")
    assert not WRONG.covers("other", "series", "3")
    assert Exclusion("panel", "series", "r", ("1",)).covers("panel", "series", "1")
    assert not Exclusion("panel", "series", "r", ("1",)).covers("panel", "series", "2")


def row(error: float | None, verdict: Verdict) -> Row:
    return Row("i", "s", "3", "p", "s", "1", "simulation", "ns", 1.0, 1.0, None, error, 0.08, "relative", verdict)


def test_a_group_has_the_mean_of_absolute_errors() -> None:
    found = score(RELATIVE, [row(0.02, "pass"), row(-0.04, "pass")])
    assert (found.rows, found.passed, found.max) == (2, 2, 0.04)
    assert found.mean == pytest.approx(0.03)
    assert found.on_target


def test_a_group_with_a_missing_value_is_not_on_target() -> None:
    found = score(RELATIVE, [row(0.01, "pass"), row(None, "fail")])
    assert (found.rows, found.passed, found.without_error) == (2, 1, 1)
    assert not found.on_target
    assert score(RELATIVE, [row(None, "fail")]).mean is None


def test_a_value_that_is_no_number_is_null_and_fails(study: Study) -> None:
    panel = study.panels[0]
    found = make_row(study, panel, panel.series[0], panel.published[0], Estimate(float("nan"), 1.0))
    assert (found.simulated, found.ci95, found.error, found.verdict) == (None, None, None, "fail")


BOUND = Group("g", "G", "relation", mean=0.0, max=0.0)
LOOSE = Group("g", "G", "relation", mean=0.05, max=0.05)


@pytest.mark.parametrize(
    ("relation", "simulated", "group", "error", "verdict"),
    [
        (">", 1.2, BOUND, 0.0, "pass"),
        (">", 1.0, BOUND, 0.0, "fail"),  # equal is not more
        (">", 1.0, LOOSE, 0.0, "pass"),
        (">", 0.96, LOOSE, -0.04, "pass"),
        (">", 0.94, LOOSE, -0.06, "fail"),
        (">=", 1.0, BOUND, 0.0, "pass"),
        (">=", 0.99, BOUND, -0.01, "fail"),
        ("<", 0.9, BOUND, 0.0, "pass"),
        ("<", 1.0, BOUND, 0.0, "fail"),
        ("<", 1.1, BOUND, 0.1, "fail"),
        ("<=", 1.0, BOUND, 0.0, "pass"),
        ("<=", 1.05, LOOSE, 0.05, "pass"),
        ("<=", 1.06, LOOSE, 0.06, "fail"),
        ("<=", float("nan"), LOOSE, None, "fail"),
    ],
)
def test_a_bound_is_met_on_its_side(
    study: Study, relation: Relation, simulated: float, group: Group, error: float | None, verdict: Verdict
) -> None:
    row = row_of(study, group, y=1.0, relation=relation, simulated=simulated)
    assert row.verdict == verdict
    assert row.error == (None if error is None else pytest.approx(error))
    assert (row.kind, row.published, row.as_dict()["relation"]) == ("relation", 1.0, relation)


RANGE = Group("g", "G", "range", mean=0.05, max=0.1)


@pytest.mark.parametrize(
    ("simulated", "error", "verdict"),
    [
        (1.25, 0.0, "pass"),
        (1.32, 0.0, "pass"),
        (1.32 * 1.1, 0.1, "pass"),
        (1.25 * 0.9, -0.1, "pass"),
        (1.32 * 1.101, 0.101, "fail"),
        (1.25 * 0.899, -0.101, "fail"),
    ],
)
def test_a_range_may_be_missed_by_the_tolerance(study: Study, simulated: float, error: float, verdict: Verdict) -> None:
    row = row_of(study, RANGE, y=1.25, other=1.32, simulated=simulated)
    assert (row.kind, row.verdict) == ("range", verdict)
    assert row.error == pytest.approx(error)


def test_what_was_not_published_is_context_whatever_its_group(study: Study) -> None:
    row = row_of(study, RANGE, y=None, simulated=1.3)
    assert (row.kind, row.verdict, row.published, row.simulated) == ("context", "context", None, 1.3)
    assert row.error is None
    assert row.tolerance is None
    assert "other" not in row.as_dict()
    assert "relation" not in row.as_dict()


FLOORED = Group("g", "G", "relative", mean=0.25, max=0.25, floor=16.0)


@given(
    published=st.floats(0.5, 200.0),
    times=st.floats(0.05, 5.0),
    floor=st.sampled_from([0.0, 16.0]),
)
def test_what_is_shown_is_the_plain_share_or_the_difference_with_its_floor(
    published: float, times: float, floor: float
) -> None:
    study = load_study("host_network")
    simulated = published * times
    row = row_of(study, replace(FLOORED, floor=floor), y=published, simulated=simulated)
    facts, error, tolerance = row.as_dict(), row.error, row.tolerance
    assert error is not None
    assert tolerance is not None
    shown, limit = row_error_text(error, facts, "+"), row_tolerance_text(tolerance, facts)
    if published < floor:
        assert (row.floor, facts["floor"], limit) == (16.0, 16.0, "25.0 % of 16 x")
        assert float(shown.removesuffix(" x")) == pytest.approx(simulated - published, abs=0.051)
        assert (row.verdict == "pass") == (abs(simulated - published) <= 4.0 + 1e-7)
    else:
        assert (row.floor, "floor" in facts, limit) == (None, False, "25.0 %")
        assert float(shown.removesuffix("%")) == pytest.approx(100 * (times - 1), abs=0.051)


def row_of(
    study: Study,
    group: Group,
    *,
    y: float | None,
    simulated: float,
    other: float | None = None,
    relation: Relation | None = None,
) -> Row:
    """The row of one published value of a group."""
    value = Published("1", "s", "3", "cores", y, "Degradation", "x", other, relation)
    series = Series("s", group="g", quantity="degradation", point="p")
    panel = Panel("fig01_p", "P", (series,), (value,))
    return make_row(replace(study, groups={"g": group}), panel, series, value, Estimate(simulated, 0.01))

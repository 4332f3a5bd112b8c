"""Operating points composed of fragments, and rows that compare several of them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostnet.ledger.dependencies import Dependencies, Pair, dependencies_of, estimate_of, extreme, relation_of
from hostnet.ledger.errors import LedgerError
from hostnet.ledger.panels import Against, Series
from hostnet.ledger.points import Composition, fill_template, merge_tables
from hostnet.ledger.quantities import Estimate, Outcome
from hostnet.ledger.study import Study
from tests.support import raises_code

STREAM = {"workload": {"stream": {"kind": "stream", "cores": "0-{last}", "list": ["{x}", 7]}}}
DRIVES = {"workload": {"fio": {"kind": "fio", "cores": "6-7"}}, "run": {"warmup": "9 us"}}
RUN = {"seed": 1, "warmup": "5 us"}

TREES = st.recursive(
    st.integers() | st.text(max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
).filter(lambda tree: isinstance(tree, dict))


def family(*x: int, preset: str | None = None) -> Composition:
    return Composition("mix", "Mix", (STREAM, DRIVES), x, preset)


@pytest.fixture
def composed(study: Study) -> Study:
    """Returns a study with the families `mix` (1, 3 and 5 cores), `alone` (the same) and `drives` (one point)."""
    alone = Composition("alone", "Alone", (STREAM,), (1, 3, 5))
    drives = Composition("drives", "Drives", (DRIVES,))
    return replace(study, families={"mix": family(1, 3, 5), "alone": alone, "drives": drives})


def test_a_point_is_its_fragments_with_the_value_in_their_texts() -> None:
    _, three = family(1, 3).points()
    assert (three.name, three.x) == ("mix:3", "3")
    assert three.config("cascade-lake-6234", RUN) == {
        "server": {"preset": "cascade-lake-6234"},
        "run": {"name": "mix:3", "seed": 1, "warmup": "9 us"},
        "workload": {
            "stream": {"kind": "stream", "cores": "0-2", "list": ["3", 7]},
            "fio": {"kind": "fio", "cores": "6-7"},
        },
    }


def test_a_family_can_have_a_server_of_its_own() -> None:
    (point,) = family(2, preset="ice-lake-8362").points()
    assert point.config("cascade-lake-6234", RUN)["server"] == {"preset": "ice-lake-8362"}


def test_without_values_there_is_one_point() -> None:
    (point,) = Composition("drives", "Drives", (DRIVES,)).points()
    assert (point.name, point.x) == ("drives", "0")


def test_fragments_stay_as_they_are() -> None:
    before = repr((STREAM, DRIVES))
    for point in family(1, 3).points():
        point.config("cascade-lake-6234", RUN)
    assert repr((STREAM, DRIVES)) == before


@given(TREES, TREES)
def test_later_fragments_win_and_nothing_is_lost(base: dict[str, Any], more: dict[str, Any]) -> None:
    together = merge_tables(base, more)
    assert together.keys() == base.keys() | more.keys()
    assert merge_tables(together, more) == together
    assert merge_tables(base, {}) == base
    for key, value in more.items():
        if not isinstance(value, dict):
            assert together[key] == value


def test_only_texts_are_filled() -> None:
    assert fill_template({"a": 1, "b": [True, 0.5], "c": "{last} of {x}"}, 4) == {
        "a": 1,
        "b": [True, 0.5],
        "c": "3 of 4",
    }


def series(**fields: Any) -> Series:
    return Series("s", quantity="degradation", workload="fio", **fields)


def test_a_row_needs_its_point_and_baseline(composed: Study) -> None:
    found = dependencies_of(composed, series(point="mix", baseline="drives"), "3")
    assert found == Dependencies((Pair("mix:3", "drives"),))
    assert found.names() == {"mix:3", "drives"}
    assert dependencies_of(composed, series(point="mix", baseline="alone"), "3") == Dependencies(
        (Pair("mix:3", "alone:3"),)
    )


def test_a_trend_needs_the_point_before(composed: Study) -> None:
    trend = series(point="mix", against=Against("mix", "alone", previous=True), baseline="alone")
    assert dependencies_of(composed, trend, "5") == Dependencies((Pair("mix:5", "alone:5"),), Pair("mix:3", "alone:3"))
    with raises_code("malformed-file | x = 1", LedgerError):
        dependencies_of(composed, trend, "1")
    with raises_code("malformed-file | x = 4", LedgerError):
        dependencies_of(composed, trend, "4")


def test_an_extreme_needs_all_points_of_the_family(composed: Study) -> None:
    found = dependencies_of(composed, series(point="mix", baseline="alone", over="most"), "1-5")
    assert found is not None
    assert found.names() == {f"{name}:{cores}" for name in ("mix", "alone") for cores in (1, 3, 5)}


def test_the_extreme_counts() -> None:
    estimates = [Estimate(1.3, 0.1), Estimate(1.25, 0.2), Estimate(1.32, None)]
    assert extreme(series(over="least"), estimates) == estimates[1]
    assert extreme(series(over="most"), estimates) == estimates[2]
    assert extreme(series(), estimates[:1]) == estimates[0]
    for over in ("least", "most"):
        assert math.isnan(extreme(series(over=over), [*estimates, Estimate(math.nan, None)]).value)


@pytest.mark.parametrize(
    ("here", "compare", "value", "ci95"),
    [
        (1.5, "ratio", 1.5, 0.015),
        (0.96, "change", 4.0, 0.96),
        (1.04, "change", 4.0, 1.04),
        (1.0, "change", 0.0, 1.0),
        (0.96, "more", -4.0, 0.96),
        (1.04, "more", 4.0, 1.04),
    ],
)
def test_a_comparison_is_a_ratio_or_a_change_in_percent(here: float, compare: Any, value: float, ci95: float) -> None:
    found = relation_of(series(compare=compare), Estimate(here, here / 100), Estimate(1.0, None))
    assert found.value == pytest.approx(value)
    assert found.ci95 == pytest.approx(ci95)


def test_nothing_compares_with_zero() -> None:
    assert math.isnan(relation_of(series(), Estimate(1.0, None), Estimate(0.0, None)).value)


def test_a_degradation_is_compared_with_another() -> None:
    runs = {"a": 10.0, "a0": 20.0, "b": 16.0, "b0": 24.0}
    outcomes = {
        name: Outcome(name, {"workloads": [{"workload": "fio", "throughput_gb_per_s": rate, "throughput_ci95": None}]})
        for name, rate in runs.items()
    }
    found = estimate_of(series(against=Against("b", "b0")), Dependencies((Pair("a", "a0"),), Pair("b", "b0")), outcomes)
    assert found.value == pytest.approx(2.0 / 1.5)


def test_it_may_be_compared_with_another_quantity_of_another_workload() -> None:
    here = {"workload": "fio", "throughput_gb_per_s": 10.0}
    there = {"workload": "stream", "read_gb_per_s": 3.0, "write_gb_per_s": 1.0, "throughput_gb_per_s": 9.0}
    outcomes = {name: Outcome(name, {"workloads": [here, there]}) for name in ("a", "a0", "b")}
    compared_with = Against("b", quantity="traffic", workload="stream")
    found = estimate_of(series(against=compared_with), Dependencies((Pair("a", "a0"),), Pair("b")), outcomes)
    assert found.value == pytest.approx(1.0 / 4.0)

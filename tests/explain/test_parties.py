"""A workload of a side is named only if another one is known to gain without it."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hostnet
from hostnet.explanation import explain_results
from hostnet.explanation.aggressors import ADDS_MIN, KEPT_MIN, name_aggressors
from hostnet.explanation.reduced import SideNotSimulatedError, without
from hostnet.regimes import GAIN_MIN
from tests.explain.random_sides import crowd

BYSTANDERS = {"core", "drive"}


def rate(config: dict[str, Any], workload: str) -> tuple[float, float]:
    """Returns the rate of a workload in a longer run with another seed, and half of its confidence interval."""
    run = {**config["run"], "seed": 77, "duration": "1 ms" if "host" in config else "400 us"}
    summary = hostnet.run({**config, "run": run}).summary
    rows = summary["servers"]["busy"]["workloads"] if "host" in config else summary["workloads"]
    (row,) = (row for row in rows if row["workload"] == workload)
    return row["app_gb_per_s"] or 0.0, row["throughput_ci95"] or math.inf


def check(seed: int) -> int:
    """Asserts that no nearly idle workload is named, and that a workload gains without those named."""
    config = crowd(seed)
    regime = explain_results(hostnet.run(config)).explanation["regime"]
    slowed = [one for one in regime["slowed"] if one["workload"] not in BYSTANDERS]
    for one in slowed:
        assert not BYSTANDERS.intersection(one["because_of"]), (seed, one)
        if not {"the cores", "the devices"}.intersection(one["because_of"]):
            fewer = without(config, "busy" if "host" in config else None, one["because_of"])
            (now, near), (then, far) = (rate(part, one["workload"]) for part in (config, fewer))
            assert then / now - 1 + math.hypot(far, near * then / now) / now >= GAIN_MIN, (seed, one)
    return len(slowed)


@pytest.mark.parametrize("seed", [1, 4, 6])
def test_bystanders_are_not_named(seed: int) -> None:
    assert check(seed)


@pytest.mark.long
def test_of_100_random_crowds_no_bystander_is_named() -> None:
    assert sum(check(seed) for seed in range(100)) >= 30


def judged(shares: dict[str, float], rates: Any, gain: float = 0.5) -> dict[str, Any]:
    """Returns the workloads that are named if each causes the given share of the traffic of its side."""
    facts: list[dict[str, Any]] = [
        {"workload": name, "kind": "stream", "gb_per_s": share, "alone": None} for name, share in shares.items()
    ]
    facts.append({"workload": "w", "kind": "fio", "gb_per_s": 1.0, "alone": {"basis": "predicted"}})
    slowed = [{"workload": "w", "times": 1 + gain, "because_of": list(shares)}]
    found: list[dict[str, Any]] = name_aggressors({"slowed": slowed}, facts, {"predicted": rates})["slowed"]
    return found[0]


@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=8).filter(lambda adds: sum(adds) > 0.1))
def test_who_adds_nothing_is_not_named_and_the_gain_is_that_without_those_named(adds: list[float]) -> None:
    added = {f"c{number}": add for number, add in enumerate(adds)}

    def gain(names: Collection[str]) -> float:
        return sum(added[name] for name in names)

    def rates(names: Collection[str]) -> dict[str, tuple[float, None]]:
        return {"w": (1 + gain(names), None)}

    found = judged(added, rates, gain(added))
    if found["because_of"] == ["the cores"]:
        assert gain(added) * KEPT_MIN < GAIN_MIN
        return
    assert found["times"] == pytest.approx(1 + gain(found["because_of"]))
    assert gain(found["because_of"]) >= KEPT_MIN * gain(added) - 1e-9
    for name in added:
        assert (
            added[name] >= ADDS_MIN * gain(added)
            or name not in found["because_of"]
            or gain(set(found["because_of"]) - {name}) < KEPT_MIN * gain(added)
        )


def test_of_two_that_only_slow_down_together_the_larger_is_named() -> None:
    found = judged({"a": 1.0, "b": 2.0}, lambda names: {"w": (1.5 if names else 1.0, 0.0)})
    assert (found["because_of"], found["times"]) == (["b"], 1.5)


def test_of_two_that_slow_down_each_on_its_own_both_are_named() -> None:
    found = judged({"a": 1.0, "b": 2.0}, lambda names: {"w": (1.5 if len(names) == 2 else 1.0, 0.0)})
    assert (found["because_of"], found["times"]) == (["a", "b"], 1.5)


def test_a_side_is_named_as_a_whole_where_its_workloads_cannot_be_told_apart() -> None:
    def unknown(_: Collection[str]) -> Any:
        raise SideNotSimulatedError

    for rates in (unknown, lambda _: {}, lambda _: {"w": (1.0, 0.0)}):
        assert judged({"a": 1.0, "b": 2.0}, rates)["because_of"] == ["the cores"]

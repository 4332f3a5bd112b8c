"""Limits that are raised in simulations where nothing is predicted, and what they confirm."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import pytest

from hostnet._core import Plan
from hostnet.explain.raises import limits, raise_limit
from hostnet.explain.steps import Progress, Step, Steps, Summary, plan_of
from hostnet.explain.trials import (
    EVENTS,
    LONGEST_NS,
    PROBE_NS,
    TRIALS_MAX,
    TRIALS_MIN,
    Trials,
    affordable,
    confirmed,
    likely,
    tried,
)

CONFIG = {
    "server": {"preset": "skylake-8160", "sockets": 2},
    "socket": {"1": {"cha": {"tor": {"entries": 10}}}},
    "workload": {"w": {"kind": "stream", "cores": "0-3"}},
    "run": {"duration": "20 us"},
}


def row(**changed: Any) -> dict[str, Any]:
    pools = [{"domain": "C2M-Read", "credits": 40.0}]
    return {
        "workload": "w",
        "kind": "stream",
        "doubtful": True,
        "binding": ["C2M-Read"],
        "limited": "may be",
        "pools": pools,
        **changed,
    }


def trials(*gains: tuple[str, float, float]) -> Trials:
    steps = [
        Step(name, f"key of {name}", "1", "2", 1.25, name, gains={"w": gain}, noise={"w": noise}, reach=1.25)
        for name, gain, noise in gains
    ]
    return Trials(Steps("run", "w", steps), ())


def test_the_limit_that_helps_most_is_confirmed_with_those_that_help_half_as_much() -> None:
    found = confirmed(row(), trials(("CHA TOR", 0.2, 0.01), ("LFB", 0.12, 0.01), ("RPQ", 0.05, 0.01)))
    assert (found["binding"], found["doubtful"]) == (["CHA TOR", "C2M-Read"], False)
    assert "+20 %" in found["limited"]


@pytest.mark.parametrize("gains", [(("LFB", 0.019, 0.0),), (("LFB", 0.04, 0.03),), (("offered load", 0.2, 0.01),), ()])
def test_what_no_trial_confirms_is_not_known(gains: tuple[tuple[str, float, float], ...]) -> None:
    found = confirmed(row(), trials(*gains))
    assert (found["binding"], found["doubtful"]) == (["not known"], True)


def test_what_is_sure_is_kept() -> None:
    sure = row(doubtful=False, binding=["offered load"])
    assert confirmed(sure, trials(("LFB", 0.2, 0.0))) == sure


def test_likely_limits_come_in_the_order_of_their_evidence() -> None:
    stages = [
        {"limit": "RPQ", "place": "socket 0", "load": {"pool": {"depth": 7, "full": 0.3}}},
        {"limit": "DRAM channel", "place": "channel 1", "load": {"rate": {"used": 0.8}}},
    ]
    other = row(workload="f", binding=["P2M-Write"])
    assert likely([other, row(stages=stages)], "w") == ["LFB", "P2M-Write", "DRAM channel", "RPQ"]


def test_trials_are_as_long_and_as_many_as_their_events_allow() -> None:
    small = {"events": 20_000, "warm_up_ns": 10_000.0, "window_ns": PROBE_NS}
    assert affordable(small) == (LONGEST_NS, TRIALS_MAX)
    large = {"events": 100 * EVENTS, "warm_up_ns": 10_000.0, "window_ns": PROBE_NS}
    assert affordable(large) == (PROBE_NS, TRIALS_MIN)
    assert affordable(small, filling=EVENTS)[1] == TRIALS_MIN, "filling caches costs time, not trials"


def test_limits_are_raised_at_every_socket() -> None:
    complete = json.loads(plan_of(CONFIG, ".").effective_json())
    (tor,) = (limit for limit in limits() if limit.path == "cha.tor.entries")
    ((_, _, changed),) = raise_limit(complete, tor, 2.0)
    assert changed["cha"]["tor"]["entries"] == 2 * complete["cha"]["tor"]["entries"]
    assert changed["socket"]["1"]["cha"]["tor"]["entries"] == 20
    (others,) = (limit for limit in limits() if limit.path == "upi.tor_entries")
    ((_, after, changed),) = raise_limit(complete, others, 2.0)
    assert int(after) == changed["upi"]["tor_entries"] == complete["cha"]["tor"]["entries"] // 2 * 2


def test_the_likeliest_limits_are_tried_first_under_the_warm_up_of_the_probe() -> None:
    complete = json.loads(plan_of(CONFIG, ".").effective_json())
    asked: list[list[dict[str, Any]]] = []

    def engine(plans: Sequence[Plan], _: Progress | None) -> list[Summary]:
        asked.append([json.loads(plan.effective_json()) for plan in plans])
        rates = [10.0 + number for number in range(len(plans))]
        rows = ({"workload": "w", "app_gb_per_s": rate, "throughput_ci95": 0.1} for rate in rates)
        cost = {"events": 10 * EVENTS, "warm_up_ns": 7000.0, "window_ns": PROBE_NS}
        return [{**cost, "workloads": [row]} for row in rows]

    found = tried(complete, [row(binding=["CHA TOR"])], "w", offered={}, engine=engine)
    (probe,), (base, first, *_) = asked
    assert probe["run"]["duration"] == "20 us"
    assert base["run"]["warmup"] == "7 us"
    assert first["cha"]["tor"]["entries"] == math.ceil(complete["cha"]["tor"]["entries"] * 1.25)
    assert len(found.steps.steps) == TRIALS_MIN
    assert found.untried
    assert [step.gains["w"] for step in found.steps.steps] == pytest.approx([0.6, 0.5, 0.4, 0.3, 0.2, 0.1])

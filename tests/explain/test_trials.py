"""Limits that are raised in simulations if they cannot be predicted, and the confirmation of limits by them."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import pytest

from hostnet._core import Plan
from hostnet.explanation.raises import limits, raise_limit
from hostnet.explanation.steps import Progress, Step, Steps, Summary, resolve_complete
from hostnet.explanation.trials import (
    ALWAYS_RAISED,
    EVENTS_MAX,
    LONGEST_NS,
    PROBE_NS,
    TRIALS_MAX,
    TRIALS_MIN,
    Trials,
    likely_limits,
    run_trials,
    trial_budget,
    with_confirmed_limit,
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
    found = with_confirmed_limit(row(), trials(("CHA TOR", 0.2, 0.01), ("LFB", 0.12, 0.01), ("RPQ", 0.05, 0.01)))
    assert (found["binding"], found["doubtful"]) == (["CHA TOR", "C2M-Read"], False)
    assert "+20 %" in found["limited"]


@pytest.mark.parametrize("gains", [(("LFB", 0.019, 0.0),), (("LFB", 0.04, 0.03),), (("offered load", 0.2, 0.01),), ()])
def test_what_no_trial_confirms_is_not_known(gains: tuple[tuple[str, float, float], ...]) -> None:
    found = with_confirmed_limit(row(), trials(*gains))
    assert (found["binding"], found["doubtful"]) == (["not known"], True)


@pytest.mark.parametrize(
    ("gains", "said"),
    [
        (
            (("LFB", 0.19, 0.14), ("RPQ", 0.21, 0.3)),
            "gained +19 % ±14 with LFB 1 -> 2, which probably helps: uncertain",
        ),
        ((("LFB", 0.10, 0.14),), "gained +10 % ±14 at most, with LFB 1 -> 2: within the noise"),
        ((("LFB", 0.01, 0.0), ("offered load", 0.2, 0.01)), "raising 1 limit in simulations, one at a time, never"),
    ],
)
def test_no_gain_beyond_its_noise_is_said_to_be_within(gains: tuple[tuple[str, float, float], ...], said: str) -> None:
    found = with_confirmed_limit(row(), trials(*gains))
    assert found["binding"] == ["not known"]
    assert said in found["limited"]
    assert ("within the noise" in said) == ("within the noise" in found["limited"])


def test_what_is_sure_is_kept() -> None:
    sure = row(doubtful=False, binding=["offered load"])
    assert with_confirmed_limit(sure, trials(("LFB", 0.2, 0.0))) == sure


def test_likely_limits_come_in_the_order_of_their_evidence() -> None:
    stages = [
        {"limit": "RPQ", "place": "socket 0", "load": {"pool": {"depth": 7, "full": 0.3}}},
        {"limit": "DRAM channel", "place": "channel 1", "load": {"rate": {"used": 0.8}}},
    ]
    other = row(workload="f", binding=["P2M-Write"])
    assert likely_limits([other, row(stages=stages)], "w") == ["LFB", "P2M-Write", "DRAM channel", "RPQ"]


def test_trials_are_as_long_and_as_many_as_their_events_allow() -> None:
    small = {"events": 20_000, "warm_up_ns": 10_000.0, "window_ns": PROBE_NS}
    assert trial_budget(small) == (LONGEST_NS, TRIALS_MAX)
    large = {"events": 100 * EVENTS_MAX, "warm_up_ns": 10_000.0, "window_ns": PROBE_NS}
    assert trial_budget(large) == (PROBE_NS, TRIALS_MIN)
    assert trial_budget(small, filling=EVENTS_MAX)[1] == TRIALS_MIN, "filling caches costs time, not trials"


def test_limits_are_raised_at_every_socket() -> None:
    complete = json.loads(resolve_complete(CONFIG, ".").effective_json())
    (tor,) = (limit for limit in limits() if limit.path == "cha.tor.entries")
    raised = raise_limit(complete, tor, 2.0)
    assert raised is not None
    changed = raised[-1]
    assert changed["cha"]["tor"]["entries"] == 2 * complete["cha"]["tor"]["entries"]
    assert changed["socket"]["1"]["cha"]["tor"]["entries"] == 20
    (others,) = (limit for limit in limits() if limit.path == "upi.tor_entries")
    raised = raise_limit(complete, others, 2.0)
    assert raised is not None
    _, after, changed = raised
    assert int(after) == changed["upi"]["tor_entries"] == complete["cha"]["tor"]["entries"] // 2 * 2


def test_the_likeliest_limits_are_tried_first_under_the_warm_up_of_the_probe() -> None:
    complete = json.loads(resolve_complete(CONFIG, ".").effective_json())
    asked: list[list[dict[str, Any]]] = []

    def engine(plans: Sequence[Plan], _: Progress | None) -> list[Summary]:
        asked.append([json.loads(plan.effective_json()) for plan in plans])
        rates = [10.0 + number for number in range(len(plans))]
        rows = ({"workload": "w", "app_gb_per_s": rate, "throughput_ci95": 0.1} for rate in rates)
        cost = {"events": 10 * EVENTS_MAX, "warm_up_ns": 7000.0, "window_ns": PROBE_NS}
        return [{**cost, "workloads": [row]} for row in rows]

    found = run_trials(complete, [row(binding=["CHA TOR"])], "w", offered={}, engine=engine)
    (probe,), (base, first, *_) = asked
    assert probe["run"]["duration"] == "20 us"
    assert base["run"]["warmup"] == "7 us"
    assert first["cha"]["tor"]["entries"] == math.ceil(complete["cha"]["tor"]["entries"] * 1.25)
    always = [key for key in ALWAYS_RAISED if key.split(".")[0] in complete]
    assert len(found.steps.steps) == TRIALS_MIN + len(always)
    assert found.untried
    assert [step.gains["w"] for step in found.steps.steps] == pytest.approx([0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1])


def test_a_raise_that_probably_helps_is_simulated_longer() -> None:
    complete = json.loads(resolve_complete(CONFIG, ".").effective_json())
    entries = complete["cha"]["tor"]["entries"]
    windows: list[list[str]] = []

    def engine(plans: Sequence[Plan], _: Progress | None) -> list[Summary]:
        configs = [json.loads(plan.effective_json()) for plan in plans]
        windows.append([config["run"]["duration"] for config in configs])
        near = 0.08 if len(windows) < 3 else 0.05
        rates = [1.0 + 0.15 * (config["cha"]["tor"]["entries"] > entries) for config in configs]
        cost = {"events": 10 * EVENTS_MAX, "warm_up_ns": 7000.0, "window_ns": PROBE_NS}
        rows = [{"workload": "w", "app_gb_per_s": rate, "throughput_ci95": near} for rate in rates]
        return [{**cost, "workloads": [one]} for one in rows]

    found = run_trials(complete, [row(binding=["CHA TOR"])], "w", offered={}, engine=engine)
    assert [len(plans) for plans in windows][2] == 2, "the server as it is, and the one raise"
    assert windows[2] == ["80 us", "80 us"]
    assert with_confirmed_limit(row(binding=["CHA TOR"]), found)["binding"] == ["CHA TOR"]


def test_more_memory_channels_are_tried_whatever_else_is() -> None:
    complete = json.loads(resolve_complete(CONFIG, ".").effective_json())

    def engine(plans: Sequence[Plan], _: Progress | None) -> list[Summary]:
        cost = {"events": 10 * EVENTS_MAX, "warm_up_ns": 7000.0, "window_ns": PROBE_NS}
        rows = [{"workload": "w", "app_gb_per_s": 1.0, "throughput_ci95": 0.1}]
        return [{**cost, "workloads": rows} for _ in plans]

    found = run_trials(complete, [row(binding=["CHA TOR"])], "w", offered={}, engine=engine)
    assert "memory.channels" in {step.path for step in found.steps.steps}


@pytest.mark.parametrize(("channels", "after"), [(4, "5"), (8, "10"), (6, None)])
def test_channels_are_raised_by_a_quarter_where_that_is_a_whole_number(channels: int, after: str | None) -> None:
    complete = json.loads(resolve_complete(CONFIG, ".").effective_json())
    complete["memory"]["channels"] = channels
    by_path = {limit.path: limit for limit in limits()}
    raised = raise_limit(complete, by_path["memory.channels"], 1.25)
    assert (raised and raised[1]) == after
    assert raise_limit(complete, by_path["pcie.lanes"], 1.25) is None, "lanes come in powers of two"


def test_the_clock_of_the_fabric_is_named_by_the_fullest_link() -> None:
    fabric = trials(("CCD link", 0.2, 0.01))
    assert with_confirmed_limit(row(mesh={"kind": "Fabric"}), fabric)["binding"] == ["fabric link"]
    assert with_confirmed_limit(row(mesh={"kind": "Ccd"}), fabric)["binding"] == ["CCD link"]
    assert with_confirmed_limit(row(), fabric)["binding"] == ["CCD link"]


def test_a_larger_step_that_helps_is_told_where_no_limit_is_known() -> None:
    steps = trials(("RPQ", 0.01, 0.02)).steps
    larger = Step("channels", "memory.channels", "24", "32", 1.25, "DRAM channel", gains={"w": 0.2}, noise={"w": 0.1})
    found = with_confirmed_limit(row(), Trials(Steps("run", "w", [*steps.steps, larger]), ()))
    assert found["binding"] == ["not known"]
    assert "channels 24 -> 32, a larger step, gained +20 %" in found["limited"]

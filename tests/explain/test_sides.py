"""The regime is judged by simulating each side without the other, and no side is named otherwise."""

from __future__ import annotations

import json
import math
import tomllib
from dataclasses import replace
from typing import Any

import pytest

import hostnet
from hostnet import _core
from hostnet.explanation import explain_results, page_text
from hostnet.explanation.counter_server import resolve_server
from hostnet.explanation.page import explain_window
from hostnet.explanation.reduced import SideNotSimulatedError
from hostnet.explanation.refuted import NOTHING_HELPS, apply_simulated_steps
from hostnet.explanation.sides import TOO_LONG, JointRun, cache_fill_events, simulate_sides
from hostnet.explanation.steps import Step, Steps
from hostnet.regimes import GAIN_MIN, regime_headline
from tests.explain.random_sides import pair


def rates(config: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Returns the rate of each workload in a longer run with another seed, and half of its confidence interval."""
    # Losses of connections come in rounds of hundreds of microseconds.
    run = {**config["run"], "seed": 77, "duration": "1 ms" if "host" in config else "250 us"}
    summary = hostnet.run({**config, "run": run}).summary
    rows = summary["servers"]["busy"]["workloads"] if "host" in config else summary["workloads"]
    return {row["workload"]: (row["app_gb_per_s"] or 0.0, row["throughput_ci95"] or math.inf) for row in rows}


def without(config: dict[str, Any], name: str) -> dict[str, Any]:
    """Returns the pair without one of its sides."""
    if "host" not in config:
        return {**config, "workload": {key: kept for key, kept in config["workload"].items() if key != name}}
    if name == "devices":
        return {**config, "flow": {}}
    return {**config, "host": {**config["host"], "busy": {**config["host"]["busy"], "workload": {}}}}


def check(seed: int) -> str:
    """Asserts that a named side slows the other one down. Returns the regime."""
    config = pair(seed)
    regime = explain_results(hostnet.run(config)).explanation["regime"]
    assert bool(regime["slowed"]) or regime["name"] not in ("red", "blue"), regime
    for slowed in regime["slowed"]:
        (other,) = slowed["because_of"]
        (now, near), (alone, far) = (rates(part)[slowed["workload"]] for part in (config, without(config, other)))
        noise = math.hypot(far, near * alone / now) / now
        assert alone / now - 1 + noise >= GAIN_MIN, (seed, slowed, alone / now, noise)
    return str(regime["name"])


@pytest.mark.parametrize("seed", [0, 1])
def test_who_is_named_slows_down_the_other(seed: int) -> None:
    check(seed)


@pytest.mark.long
def test_of_200_random_pairs_nobody_innocent_is_accused() -> None:
    found = [check(seed) for seed in range(200)]
    assert len({"red", "blue", "uncontended"} & set(found)) == 3


TINY = tomllib.loads("""
[server]
preset = "cascade-lake-6234"
[cache]
enabled = true
llc.sets = 256
l2.sets = 256
[workload.big]
kind = "stream"
cores = "0-5"
[workload.db]
kind = "fio"
cores = "6"
jobs = [ { rw = "randread", bs = "512 B", iodepth = 1, size = "1 GiB", ssd = 0 } ]
[run]
duration = "60 us"
warmup = "20 us"
""")


def test_a_drive_that_hardly_moves_anything_is_not_accused_of_slow_cores() -> None:
    results = hostnet.run(TINY)
    assert results.summary["regime"]["slowed"] == []
    page = explain_results(results)
    regime = page.explanation["regime"]
    assert (regime["name"], regime["slowed"]) == ("uncontended", [])
    assert "because of" not in page_text(page)
    big = next(row for row in page.explanation["workloads"] if row["workload"] == "big")
    assert (big["alone"]["basis"], abs(big["alone"]["gain"]) < GAIN_MIN) == ("measured", True)


def test_the_core_blames_from_the_same_gain_on() -> None:
    results = hostnet.run(TINY)

    def regime(gain: float) -> dict[str, Any]:
        alone = {"gain": gain, "noise": 0.0, "basis": "measured"}
        facts = json.dumps([{**row, "alone": alone} for row in results.summary["binding"]])
        found = _core.explain(results.plan, json.dumps(results.summary["counters"]), facts=facts)
        told: dict[str, Any] = json.loads(found)["regime"]
        return told

    assert regime(GAIN_MIN)["slowed"]
    assert not regime(GAIN_MIN - 1e-9)["slowed"]


def test_what_would_take_long_is_not_known_and_says_how_to_know_it() -> None:
    results = hostnet.run(TINY)
    page = explain_results(results)
    assert page.config is not None
    rows = page.explanation["workloads"]
    long = JointRun(results.summary["workloads"], 10**9, 60_000.0, 20_000.0, complete=True)
    with pytest.raises(SideNotSimulatedError, match="--confirm"):
        simulate_sides(page.config, None, rows, long)
    unknown = replace(page, together=long, explanation={**page.explanation, "regime": results.summary["regime"]})
    note = unknown.separate_sides().notes[-1]
    # Two sides of 10^9 events each, at 10^7 events per second.
    told = "it takes about 3 min 20 s, more than the limit of 1 s without --confirm"
    assert note == f"{TOO_LONG}: {told}"
    sure = replace(unknown, together=page.together, notes=(note,)).separate_sides(limited=False)
    assert note not in sure.notes
    assert unknown.separate_sides().explanation["regime"]["name"] == "not known"


def test_caches_that_applications_fill_cost_more() -> None:
    cache = {"enabled": True, "llc": {"sets": 2048, "ways": 11}}
    server = {"cache": cache, "cha": {"slices": 18}, "workload": {"w": {"kind": "stream"}}}
    assert cache_fill_events(server) == 3 * 2048 * 11 * 18
    assert cache_fill_events({**server, "workload": {"w": {"kind": "app"}}}) > 10 * cache_fill_events(server)
    assert cache_fill_events({**server, "cache": {"enabled": False}}) == 0


def test_counters_of_a_preset_name_nobody_and_say_what_would_tell() -> None:
    results = hostnet.run(TINY)
    plan, _ = resolve_server("cascade-lake-6234", results.summary["counters"], 6)
    page = explain_window(results.summary["counters"], plan, name="counters.csv", known=False)
    regime = page.explanation["regime"]
    assert (regime["name"], regime["slowed"]) == ("not known", [])
    assert any("--compare alone" in note for note in page.notes)


def test_traffic_that_no_counter_tells_of_is_not_taken_to_be_absent() -> None:
    counters = hostnet.run(TINY).summary["counters"]
    of_dram = {name: value for name, value in counters.items() if not isinstance(value, dict)}
    plan, _ = resolve_server("cascade-lake-6234", of_dram, 6)
    regime = explain_window(of_dram, plan, name="counters.csv", known=False).explanation["regime"]
    assert (regime["name"], regime["slowed"], regime["evidence"]) == ("not known", [], [])
    assert len(regime["open"]) == 3


def test_headlines_say_who_gains_and_by_how_much() -> None:
    slowed = [{"workload": "bigjob", "times": 1.18, "because_of": ["db"]}]
    blue = {"name": "blue", "slowed": slowed, "open": []}
    assert regime_headline(blue).startswith("Blue: bigjob runs 1.18 x slower because of db.")
    unknown = {"name": "not known", "slowed": [], "open": ["the throughput of db without bigjob"]}
    assert regime_headline(unknown) == "Not known: the throughput of db without bigjob."
    assert regime_headline({**unknown, "slowed": slowed}).startswith("bigjob runs 1.18 x slower because of db.")


def row(gain: float) -> dict[str, Any]:
    """Returns a workload that gains this much from more LFB entries, as predicted."""
    gains = [{"limit": "LFB", "key": "core.lfb.entries", "raised": "a quarter more LFB entries", "gain": gain}]
    limited = "is limited by LFB (+47 % with a quarter more LFB entries)"
    return {"workload": "f", "doubtful": False, "binding": ["LFB"], "limited": limited, "limits": {"gains": gains}}


def steps(**confirmed: float) -> Steps:
    """Returns simulated steps of some limits, within 1%."""
    keys = {"lfb": ("core.lfb.entries", "LFB"), "channels": ("DRAM channel", "DRAM channel")}
    found = [
        Step("more", keys[name][0], "1", "2", 1.25, keys[name][1], {"f": 0.0}, {"f": gain}, {"f": 0.01}, reach=1.25)
        for name, gain in confirmed.items()
    ]
    return Steps("predict", "f", found)


def judged(gain: float, **confirmed: float) -> dict[str, Any]:
    found: dict[str, Any] = apply_simulated_steps({"workloads": [row(gain)]}, steps(**confirmed))["workloads"][0]
    return found


def test_a_headline_that_simulations_refute_is_replaced() -> None:
    kept = judged(0.47, lfb=0.45)
    assert {**kept, "limited": row(0.47)["limited"]} == row(0.47)
    assert ("+45 %" in kept["limited"], "+47 %" in kept["limited"]) == (True, False), "the page has the simulated gain"
    refuted = judged(0.47, lfb=0.0, channels=0.37)
    assert (refuted["binding"], refuted["limits"]["gains"]) == (["DRAM channel"], [])
    assert "+37 %" in refuted["limited"]
    nothing = judged(0.47, lfb=0.0)
    assert (nothing["binding"], nothing["limited"]) == (["not known"], NOTHING_HELPS)
    assert "simulated" in judged(0.47, lfb=0.05)["limited"], "the limit is right and its gain is not"
    assert judged(0.47, channels=0.0) == row(0.47), "not simulated"
    assert json.dumps(judged(0.47, lfb=0.0))

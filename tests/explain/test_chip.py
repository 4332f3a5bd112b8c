"""Limits of a chip: planted limits are found, and none is named if nothing helps."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hostnet import _core
from hostnet.chips import ChipExplanation, try_changes
from tests.support import Cli, assert_tells

SMALL: dict[str, Any] = {
    "chip": {"preset": "scale-out-64", "columns": 4, "rows": 2},
    "coherence": {"llc": "1 MiB"},
    "workload": {"mode": "async", "size": "512 B"},
    "run": {"warmup": "2 us", "window": "5 us", "max": 2},
}


def why(*overrides: str) -> ChipExplanation:
    plan = _core.chip_plan(json.dumps(SMALL), format="json", file="chip.json", base_dir=".", overrides=list(overrides))
    return try_changes(plan)


@pytest.mark.parametrize(
    ("planted", "named"),
    [
        (["ni.in_flight=2"], "lines that request generation may have on their way"),
        (["ni.rrpp_in_flight=1", "run.warmup=40 us"], "remote requests that an RRPP may have on their way"),
        (["coherence.entries=1"], "lines of a slice that may wait"),
        (["coherence.bank_busy_cycles=400"], "the time an access occupies a bank of the LLC"),
        (["noc.link=4 B"], "the width of the links"),
        (["noc.vc_flits=1", "noc.credit_cycles=32"], "buffers of the routers"),
        (["ni.wq.entries=8", "workload.size=64 B", "rack.hop=1 us"], "entries of the work queues"),
        (["software.wq_write_cycles=2000", "workload.size=64 B"], "cycles that software takes"),
        (["ni.placement=numa", "software.mshrs=1", "workload.size=64 B"], "loads that a core may have on their way"),
        (["workload.mode=sync", "memory.latency=5 us"], "the latency of memory"),
        (["workload.mode=turns", "rack.hop=1 us", "run.window=200 us"], "the time of a hop between chips"),
    ],
)
def test_a_planted_limit_is_named_first(planted: list[str], named: str) -> None:
    found = why(*planted)
    gains = {trial.what: trial.gain for trial in found.trials if trial.is_limit}
    assert [trial.what for trial in found.limits][:1] == [named], gains


def test_what_is_named_helps_when_it_is_raised() -> None:
    found = why("coherence.bank_busy_cycles=100")
    best = found.limits[0]
    again = why("coherence.bank_busy_cycles=100", *best.overrides)
    assert again.now == best.value
    assert again.now / found.now - 1 == pytest.approx(best.gain)


def test_limits_that_cannot_be_higher_are_told() -> None:
    assert why("workload.mode=sync").untried == ("entries of the work queues",)


def test_the_command_prints_what_it_tried(cli: Cli) -> None:
    (cli.folder / "chip.json").write_text(json.dumps(SMALL), encoding="utf-8")
    shown = cli("explain", "chip.json", "--set", "ni.in_flight=2").stdout
    assert "What limits: lines that request generation may have on their way (2 -> 4: +" in shown
    assert "ni.placement" in shown
    ran = cli("run", "chip.json", "--set", "ni.in_flight=2", "--quiet").stdout.strip()
    of_run = json.loads(cli("explain", ran, "--json").stdout)
    assert of_run["limits"][0] == "lines that request generation may have on their way"


@pytest.mark.parametrize("option", [["--host", "a"], ["--confirm"], ["--brief"]])
def test_options_that_mean_nothing_for_a_chip_are_refused(cli: Cli, option: list[str]) -> None:
    (cli.folder / "chip.json").write_text(json.dumps(SMALL), encoding="utf-8")
    assert_tells(cli.fails("explain", "chip.json", *option), f"wrong-kind | {option[0]} | chip.json")

"""Sweeps over chips."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import hostnet
from hostnet import _core
from hostnet.chips import chip_plan
from hostnet.running.simulate import source_of
from hostnet.sweeps import chips
from tests.support import Cli, assert_tells, complaint_of

CONFIG = {
    "chip": {"preset": "scale-out-64", "columns": 4, "rows": 2},
    "coherence": {"llc": "256 KiB"},
    "run": {"warmup": "2 us", "window": "20 us", "max": 2},
}


def test_a_row_has_what_the_run_of_its_point_has() -> None:
    results = hostnet.sweep(CONFIG, {"ni.placement": ["edge", "split"], "workload.mode": ["turns", "async"]})
    rows = results.table.to_pylist()
    assert [(row["ni.placement"], row["workload.mode"]) for row in rows] == [
        ("edge", "turns"),
        ("edge", "async"),
        ("split", "turns"),
        ("split", "async"),
    ]
    alone = hostnet.chip(CONFIG, overrides=["ni.placement=split", "workload.mode=turns"])
    row = rows[2]
    assert row["result_hash"] == alone.result_hash
    assert (row["latency_mean_cycles"], row["application_gb_per_s"]) == (
        alone.latency_cycles,
        alone.application_gb_per_s,
    )
    assert (row["op"], row["limited_by"], row["seed"]) == ("read", "latency", 1)
    parts = [part for part in results.domains.to_pylist() if part["point"] == 2]
    assert [part["title"] for part in parts] == [part.title for part in alone.parts]
    assert sum(part["mean_cycles"] for part in parts) == pytest.approx(row["latency_mean_cycles"])
    assert "split" in results._repr_html_()


def test_a_sweep_is_printed_and_drawn(cli: Cli, tmp_path: Path) -> None:
    cli("new", "--chip")
    short = ("--set", "run.warmup=1 us", "--set", "run.window=2 us", "--set", "run.max=1")
    done = cli("sweep", "chip.toml", "--over", "rack.hops=1,2", "--seeds", "2", "--out", "out", *short)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("chip: 4 points simulated: 2 x rack.hops, 2 seeds\n")
    assert "limited by" in done.stdout
    assert (tmp_path / "out/plots/read.png").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--over", "ni.placement=edge,corner"), 'unknown-name | --over ni.placement=corner | "corner"'),
        (("--over", "workload.foo=1,2"), "unknown-key | --over workload.foo=1"),
        (("--over", "rack.hops=1,13"), "out-of-range | --over rack.hops=13"),
        (("--over", "rack.hops=1,2", "--engine", "predict"), "not-supported | --engine predict"),
    ],
)
def test_what_is_wrong_is_told_before_the_first_run(cli: Cli, arguments: tuple[str, ...], message: str) -> None:
    cli("new", "--chip")
    done = cli("sweep", "chip.toml", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert_tells(complaint_of(done.stderr), message)


def test_a_plan_goes_to_another_process() -> None:
    plan = chip_plan(source_of({**CONFIG, "run": {"name": "a/b"}}, ["rack.hops=3"]))
    again = pickle.loads(pickle.dumps(plan))
    assert isinstance(again, _core.ChipPlan)
    assert (again.hash, again.name, again.effective_json()) == (plan.hash, plan.name, plan.effective_json())
    assert chips.is_chip(source_of(CONFIG))

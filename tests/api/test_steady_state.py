"""A run measures a steady state after an automatic warm-up, or reports that it does not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from hostnet import _core
from hostnet.drift import drift_notes
from tests.api.cached_servers import cached_server

if TYPE_CHECKING:
    from collections.abc import Sequence

QUICK = (8, 9)
"""Servers with small LLCs or few cores, for the default tests."""

ENOUGH = 0.95
"""Minimum share of servers of which no throughput may move by more than its interval allows."""


def summary_of(config: dict[str, Any], **run: Any) -> dict[str, Any]:
    document = {**config, "run": {**config["run"], **run}}
    plan = _core.resolve(json.dumps(document), format="json", file=f"server {config['run']['seed']}")
    summary: dict[str, Any] = json.loads(_core.run_many([plan])[0].summary_json)
    return summary


def moved(seed: int) -> list[str]:
    """Returns the throughputs that move by more than both intervals if warm-up and window are doubled."""
    config = cached_server(seed)
    once = summary_of(config)
    twice = summary_of(config, warmup=f"{2 * once['warm_up_ns']:.0f} ns", duration="200 us")
    found = []
    for before, after in zip(once["workloads"], twice["workloads"], strict=True):
        values = [row["throughput_gb_per_s"] for row in (before, after)]
        allowed = sum(row["throughput_ci95"] or 0.0 for row in (before, after))
        # A single line more or less in the window does not count.
        if abs(values[0] - values[1]) > allowed + 0.001:
            found.append(f"server {seed}, {before['workload']}: {values[0]:.2f} and {values[1]:.2f}, ±{allowed:.2f}")
    return found


@pytest.mark.parametrize("seeds", [QUICK, pytest.param(range(200), marks=pytest.mark.long)])
def test_doubling_warm_up_and_window_moves_no_throughput(seeds: Sequence[int]) -> None:
    moving = [found for found in map(moved, seeds) if found]
    assert len(moving) <= (1 - ENOUGH) * len(seeds), "\n".join(line for found in moving for line in found)


def test_the_llc_of_stores_is_as_dirty_as_after_milliseconds() -> None:
    config = {
        "server": {"preset": "cascade-lake-6234"},
        "cache": {"enabled": True, "llc": {"sets": 512}},
        "workload": {"stream": {"kind": "app", "app": "stream", "cores": "0-2"}},
        "run": {"duration": "100 us", "warmup": "auto", "seed": 1},
    }
    row = summary_of(config)["workloads"][0]
    # A triad stores a third of the lines that it reads. Writes come in bursts, of which 100 us contain few, and an
    # LLC that still absorbs dirty lines writes half as many.
    assert row["write_gb_per_s"] == pytest.approx(row["read_gb_per_s"] / 3, rel=0.15)


def test_a_run_that_drifts_says_so() -> None:
    steady = {"workload": "cores", "throughput_gb_per_s": 20.0, "throughput_drift": None}
    drifting = {**steady, "throughput_drift": -3.0}
    assert drift_notes({"workloads": [steady]}) == []
    [note] = drift_notes({"workloads": [steady, drifting]})
    assert "-3 GB/s" in note
    assert "-15 %" in note
    over_seeds = {key: {"mean": value, "ci95": 1.0} if key != "workload" else value for key, value in drifting.items()}
    assert drift_notes({"workloads": [over_seeds]}) == [note]

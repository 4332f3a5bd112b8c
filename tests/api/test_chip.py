"""`hostnet.chip`: arguments, results, progress."""

from __future__ import annotations

from typing import Any

import pytest

import hostnet
from tests.support import raises_code

CONFIG: dict[str, Any] = {
    "chip": {"preset": "scale-out-64"},
    "run": {"warmup": "2 us", "window": "20 us", "max": 2},
}


@pytest.mark.parametrize("placement", ["edge", "per-tile", "split", "numa"])
def test_the_parts_add_up(placement: str) -> None:
    results = hostnet.chip({**CONFIG, "ni": {"placement": placement}})
    assert results.complete
    assert results.latency_cycles is not None
    assert results.latency_ns is not None
    assert results.latency_ns == pytest.approx(results.latency_cycles / 2)
    assert sum(part.sum_cycles for part in results.parts) == results.summary["breakdown"]["sum_cycles"]
    assert sum(part.mean_cycles for part in results.parts) == pytest.approx(results.latency_cycles)
    assert results.noc_gb_per_s > results.application_gb_per_s > 0


def test_edge_is_slower_than_split_and_split_than_loads() -> None:
    latency = [hostnet.chip({**CONFIG, "ni": {"placement": name}}).latency_cycles for name in ("numa", "split", "edge")]
    assert latency == sorted(latency, key=lambda cycles: cycles or 0.0)


def test_the_seed_decides() -> None:
    one, again, other = (hostnet.chip(CONFIG, seed=seed).result_hash for seed in (1, 1, 2))
    assert one == again != other


def test_a_rack_is_the_same_on_any_threads() -> None:
    rack = {**CONFIG, "rack": {"kind": "torus", "size": [3]}, "chip": {"preset": "scale-out-64-nocout"}}
    one, two = (hostnet.chip(rack, overrides=["run.window=2 us"], threads=threads) for threads in (1, 2))
    assert one.result_hash == two.result_hash
    assert [row["at"] for row in one.chips] == [[0, 0, 0], [1, 0, 0], [2, 0, 0]]
    assert hostnet.chip(CONFIG).chips == []
    with raises_code("out-of-range | threads"):
        hostnet.chip(rack, threads=0)


def test_progress_can_stop_a_run() -> None:
    seen = []

    def stop(status: dict[str, Any]) -> bool:
        seen.append(status)
        return False

    long = ["workload.mode=async", "run.window=1 ms"]
    results = hostnet.chip(CONFIG, overrides=long, progress=stop)
    assert not results.complete
    assert "stopped" in repr(results)
    assert seen[0]["phase"] in ("warm-up", "window 1")
    assert 0 <= seen[0]["progress"] <= 1


def test_what_is_wrong_is_a_config_error() -> None:
    with raises_code("unknown-name | ni.placement"):
        hostnet.chip({**CONFIG, "ni": {"placement": "corner"}})
    with raises_code("missing-key | preset"):
        hostnet.chip({"chip": {}})

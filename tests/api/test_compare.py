"""`hostnet.compare`, and the epochs that it is based on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hostnet
from hostnet.comparison import ResultDifference, config_differences, find_divergence, result_differences, side_of
from tests.support import QUADRANT


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "quadrant.toml"
    path.write_text(QUADRANT)
    return path


def test_epochs_end_every_10_us_and_with_the_run(file: Path) -> None:
    epochs = hostnet.run(file).epochs
    assert epochs["time_ns"].to_pylist() == [10000, 20000, 25000]
    assert len(set(epochs["hash"].to_pylist())) == 3
    assert hostnet.run(file).epochs == epochs
    assert hostnet.run_many([file, file], threads=2)[1].epochs == epochs
    assert hostnet.run(file, seed=8).epochs != epochs


def test_results_configurations_files_and_directories_can_be_compared(file: Path, tmp_path: Path) -> None:
    results = hostnet.run(file)
    directory = results.save(tmp_path / "run")
    for other in (results, file, str(file), directory):
        assert hostnet.compare(results, other).identical
    statuses: list[dict[str, Any]] = []
    found = hostnet.compare(directory, hostnet.run(file, seed=8), progress=statuses.append)
    assert [difference.key for difference in found.config] == ["run.seed"]
    assert found.events is not None
    assert found.events["outcome"] == "diverged"
    assert {status["phase"] for status in statuses} <= {"warm-up", "measure"}
    assert hostnet.compare(directory, hostnet.run(file, seed=8), rerun=False).events is None


def test_a_comparison_is_a_line(file: Path) -> None:
    results = hostnet.run(file)
    assert repr(hostnet.compare(results, results)) == "<Comparison identical>"
    found = hostnet.compare(results, hostnet.run(file, seed=8), rerun=False)
    assert repr(found) == f"<Comparison different: config 1, results {len(found.results)}>"


def test_a_stopped_run_is_a_part_of_a_whole_one(file: Path) -> None:
    whole = side_of(hostnet.run(file), "whole")
    stopped = replace(whole, complete=False, epochs=whole.epochs[:2], summary={**whole.summary, "complete": False})
    assert find_divergence(whole, stopped) == {"outcome": "cut-short", "until_ns": 20000}
    told = replace(whole, summary={**whole.summary, "lines": 0})
    assert find_divergence(whole, told) == {"outcome": "told-differently"}


def test_a_prediction_has_no_events(file: Path) -> None:
    side = side_of(hostnet.run(file), "A")
    prediction = replace(side, summary={**side.summary, "engine": "predict"})
    assert find_divergence(side, prediction)["outcome"] == "impossible"


def test_keys_are_dotted_paths_and_those_of_workloads_come_first() -> None:
    a = {"cha": {"slices": 1}, "workload": {"x y": {"jobs": [{"bs": 1}], "cores": [1, 2]}}, "run": {"name": "a"}}
    b = {"cha": {"slices": 2}, "workload": {"x y": {"jobs": [{"bs": 1}, {"bs": 2}], "cores": [1]}}, "run": {"seed": 1}}
    found = {difference.key: (difference.a, difference.b) for difference in config_differences(a, b)}
    assert found == {
        'workload."x y".jobs[1].bs': (None, 2),
        'workload."x y".cores': ([1, 2], [1]),
        "run.seed": (None, 1),
        "cha.slices": (1, 2),
    }
    assert list(found)[-1] == "cha.slices"


def summary(value: float | None, half: float | None, **more: Any) -> dict[str, Any]:
    row = {"workload": "w", "latency_mean_ns": value, "latency_ci95": half, "limited_by": "LFB", **more}
    return {"workloads": [row], "domains": [], "channels": []}


@given(a=st.floats(0, 1e6), b=st.floats(0, 1e6), halves=st.tuples(st.floats(0, 1e5), st.floats(0, 1e5)) | st.just(None))
def test_a_difference_is_beyond_when_the_intervals_do_not_touch(
    a: float, b: float, halves: tuple[float, float] | None
) -> None:
    own = halves or (None, None)
    found = result_differences(summary(a, own[0]), summary(b, own[1]))
    assert len(found) == (a != b)
    for difference in found:
        assert difference.beyond is (None if halves is None else abs(b - a) > sum(halves))
        assert difference.change == (None if a == 0 else (b - a) / a)


def test_counts_come_last_and_what_limits_first() -> None:
    found = result_differences(
        summary(1.0, 0.1, lines=1, latency_p99_ns=2.0),
        summary(1.5, 0.1, lines=9, latency_p99_ns=3.0, limited_by="RPQ"),
    )
    columns = [difference.column for difference in found]
    assert set(columns[:2]) == {"limited_by", "latency_mean_ns"}
    assert columns[2:] == ["latency_p99_ns", "lines"]


def test_a_workload_of_one_run_only_is_told() -> None:
    empty: dict[str, Any] = {"workloads": [], "domains": [], "channels": []}
    found = result_differences(summary(1.0, None), empty)
    latency = next(difference for difference in found if difference.column == "latency_mean_ns")
    assert latency == ResultDifference("workloads", "w", "latency_mean_ns", 1.0, None, None, None, None, None)

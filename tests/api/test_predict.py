"""Predictions have the form of runs, and come close to them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import pytest

import hostnet
from hostnet import _core
from tests.api.random_servers import server
from tests.support import raises_code

EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True)
class Pair:
    """A workload as simulated and as predicted."""

    seed: int
    workload: str
    run_gb_per_s: float
    predicted_gb_per_s: float
    run_limits: set[str]
    predicted_limits: set[str]

    @property
    def error(self) -> float:
        """Returns the error of the predicted throughput."""
        return self.predicted_gb_per_s / self.run_gb_per_s - 1


def plan_of(seed: int) -> _core.Plan:
    return _core.resolve(json.dumps(server(seed)), format="json", file=f"server {seed}")


@pytest.fixture(scope="module", params=[40, pytest.param(300, marks=pytest.mark.long)])
def pairs(request: pytest.FixtureRequest) -> list[Pair]:
    """Returns workloads of servers from seed 5000 on; the predictor was fitted to others."""
    seeds = range(5000, 5000 + request.param)
    plans = [plan_of(seed) for seed in seeds]
    runs = _core.run_many(plans)
    found = []
    for seed, plan, run in zip(seeds, plans, runs, strict=True):
        rows = json.loads(run.summary_json)["workloads"]
        predicted = json.loads(_core.predict(plan).summary_json)["workloads"]
        found += [
            Pair(
                seed,
                row["workload"],
                row["throughput_gb_per_s"],
                told["throughput_gb_per_s"],
                set(row["limited_by"].split(" / ")),
                set(told["limited_by"].split(" / ")),
            )
            for row, told in zip(rows, predicted, strict=True)
            if row["throughput_gb_per_s"] > 0
        ]
    return found


def test_throughput_is_near_that_of_runs(pairs: list[Pair]) -> None:
    errors = sorted(pairs, key=lambda pair: -abs(pair.error))
    worst = [f"{pair.seed} {pair.workload} {pair.error:+.2f}" for pair in errors[:10]]
    assert mean(abs(pair.error) for pair in pairs) < 0.035, worst
    assert sum(abs(pair.error) > 0.10 for pair in pairs) < 0.05 * len(pairs), worst
    assert sum(abs(pair.error) > 0.25 for pair in pairs) < 0.015 * len(pairs), worst


def test_the_same_domain_binds(pairs: list[Pair]) -> None:
    wrong = [pair for pair in pairs if not pair.run_limits & pair.predicted_limits]
    assert len(wrong) <= 0.1 * len(pairs), [(pair.seed, pair.run_limits, pair.predicted_limits) for pair in wrong[:10]]


@pytest.mark.parametrize("name", ["quadrant1.toml", "quadrant3.toml", "stream.toml"])
def test_a_prediction_has_the_form_of_a_run(name: str) -> None:
    predicted = hostnet.predict(EXAMPLES / name)
    assert predicted.summary["engine"] == "predict"
    assert predicted.complete
    assert predicted.summary["uncertainty"]["outside"] == []
    for table in ("workloads", "domains", "channels"):
        assert predicted.tables[table].num_rows > 0
    total = predicted.channels[-1]
    caused = sum(row["read_gb_per_s"] for row in predicted.workloads.values())
    assert total["read_gb_per_s"] == pytest.approx(caused)
    assert total["read_gb_per_s"] == pytest.approx(
        sum(row["read_gb_per_s"] for number, row in predicted.channels.items() if number >= 0)
    )
    assert hostnet.predict(EXAMPLES / name).result_hash == predicted.result_hash


def test_the_regimes_of_the_published_quadrants() -> None:
    assert hostnet.predict(EXAMPLES / "quadrant1.toml").summary["regime"]["name"] == "blue"
    red = hostnet.predict(EXAMPLES / "quadrant3.toml")
    assert red.summary["regime"]["name"] == "red"
    assert "P2M-Write" in red.workloads["disk"]["limited_by"]


def test_a_prediction_can_be_saved_and_reported(tmp_path: Path) -> None:
    path = hostnet.predict(EXAMPLES / "quadrant1.toml").save(tmp_path / "told")
    assert (path / "report.html").stat().st_size > 10_000
    assert json.loads((path / "summary.json").read_text())["engine"] == "predict"


def test_what_is_outside_is_said() -> None:
    plan = _core.resolve(
        '[server]\npreset = "cascade-lake-6234"\n[workload.s]\nkind = "stream"\ncores = "0"\n',
        overrides=['memory.controller.scheduler="fcfs"'],
    )
    outside = json.loads(_core.predict(plan).summary_json)["uncertainty"]["outside"]
    assert outside == ['memory.controller.scheduler = "fcfs"']


def test_a_wrong_configuration_is_refused() -> None:
    config = hostnet.Config(server=hostnet.Server(preset="cascade-lake"))
    with raises_code("unknown-name | cascade-lake-6234"):
        hostnet.predict(config)

"""Sweeps of predictions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import hostnet
from hostnet import ConfigError
from hostnet.running import simulate
from hostnet.running.results import Results
from tests.support import raises_code
from tests.sweeps.conftest import tables_of

OVER = ["workload.stream.cores=0-0,0-1", "iio.write_credits=1..50"]
FEW = [*OVER[:1], "iio.write_credits=1..8"]


class Guess(Results):
    """The answer of a predictor, taken from a run."""

    @property
    def summary(self) -> dict[str, Any]:
        """Returns a summary with the entries that only predictors have."""
        credits_ = next(row["capacity"] for row in super().summary["domains"] if row["domain"] == "P2M-Write")
        return {
            **super().summary,
            "regime": {"name": "red" if credits_ < 8 else "uncontended"},
            "uncertainty": {"throughput_95": 0.1, "outside": ["too few credits", "really"] if credits_ < 3 else []},
        }


@pytest.fixture
def guesses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Returns a predictor that simulates."""

    def predict_plan(plan: Any, source: Any) -> Results:
        run = simulate.run_plan(plan, source)
        return Guess(run.native, plan, source, run.timing)

    monkeypatch.setattr("hostnet.running.simulate.predict_plan", predict_plan)


@pytest.mark.usefixtures("guesses")
def test_predictions_say_regime_and_uncertainty(file: Path, tmp_path: Path) -> None:
    results = hostnet.sweep(file, FEW, engine="predict", out=tmp_path / "one", jobs=1)
    row = {name: column[0] for name, column in results.table.to_pydict().items()}
    assert (row["engine"], row["regime"], row["uncertainty_95"]) == ("predict", "red", 0.1)
    assert row["outside"] == "too few credits; really"
    assert results.table["outside"].to_pylist()[-1] == ""
    assert "4 of 16 points lie outside of what the predictor covers; column outside says why" in results.notes
    hostnet.sweep(file, FEW, engine="predict", out=tmp_path / "two", jobs=2)
    assert tables_of(tmp_path / "one") == tables_of(tmp_path / "two")


@pytest.mark.usefixtures("guesses")
def test_predictions_are_not_continued_with_runs(file: Path, tmp_path: Path) -> None:
    hostnet.sweep(file, ["iio.write_credits=2,8"], engine="predict", out=tmp_path / "out")
    with raises_code("other-configuration | --engine predict"):
        hostnet.sweep(file, ["iio.write_credits=2,8"], out=tmp_path / "out", resume=True)


@pytest.mark.usefixtures("guesses")
def test_predictions_have_no_seeds(file: Path) -> None:
    with pytest.raises(ConfigError, match=re.escape("--seeds: a prediction does not depend on the seed")):
        hostnet.sweep(file, OVER, engine="predict", seeds=2)


def test_the_predictor_is_swept(file: Path, tmp_path: Path) -> None:
    results = hostnet.sweep(file, OVER, engine="predict", out=tmp_path / "out")
    assert results.table.num_rows == 200
    assert set(results.table["regime"].to_pylist()) <= {"red", "blue", "cores", "uncontended", "not known"}
    disk = [row["throughput_gb_per_s"] for row in results.table.to_pylist() if row["workload"] == "disk"]
    assert disk[0] < disk[49], "credits matter"
    plan = simulate.resolve(simulate.source_of(file, ("workload.stream.cores=0-0", "iio.write_credits=1")))
    assert results.table["config_hash"][0].as_py() == plan.hash

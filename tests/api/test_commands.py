"""Commands as functions of the package: their options, and the results that they share with the command line."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

import hostnet
from hostnet.attachments import PLACES
from hostnet.cli.app import load
from hostnet.explanation import Page
from hostnet.explanation.tail import Tails
from tests.counters.support import BASIC, perf
from tests.docs.reference import ROOT
from tests.report.outputs import shown
from tests.support import QUADRANT, Cli, raises_code

FUNCTIONS = ("calibrate", "compare", "curve", "explain", "predict", "sweep", "validate", "whatif")
NAMES = {"file": "config", "slos": "slo", "studies": "study"}
"""Parameters that are named otherwise in functions."""

ONLY_COMMANDS = {
    "calibrate": {"json"},
    "compare": {"json", "html", "no_rerun"},
    "curve": {"json", "csv"},
    "explain": {"json", "html"},
    "predict": {"json", "out"},
    "sweep": {"json", "quiet"},
    "validate": {"json", "strict", "every", "write"},
    "whatif": {"json"},
}
"""Options for output on a terminal and for exit codes. Results of functions are saved by their own methods."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "quadrant.toml"
    path.write_text(QUADRANT, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_the_options_of_its_command(name: str) -> None:
    options = {NAMES.get(parameter.name, parameter.name) for parameter in load(name).params}
    function = getattr(hostnet, name)
    given = set(inspect.signature(function).parameters)
    assert options - ONLY_COMMANDS[name] == given - {"progress", "rerun"}
    documented = str(inspect.getdoc(function))
    assert all(f"    {parameter}: " in documented for parameter in given)


def test_a_configuration_is_explained_as_by_the_command(cli: Cli, file: Path) -> None:
    page = hostnet.explain(file)
    assert isinstance(page, Page)
    assert str(page) == cli("explain", "quadrant.toml").stdout
    results = hostnet.run(file)
    folder = results.save(file.parent / "run")
    assert str(hostnet.explain(results)) == str(hostnet.explain(folder)) == str(page)
    assert hostnet.explain(json.loads(results.plan.effective_json()), brief=True).steps is None


def test_counters_are_explained_with_their_server(tmp_path: Path) -> None:
    counters = tmp_path / "perf.csv"
    counters.write_text(perf(*BASIC), encoding="utf-8")
    page = hostnet.explain(counters, server="cascade-lake-6234", cores=2)
    assert "perf.csv" in shown(page).text
    read = hostnet.counters.read(counters, server="cascade-lake-6234")
    assert ["rpq_occupancy", "3"] in shown(read).tables[0]
    assert all(any(str(missing) in item for item in shown(read).items) for missing in read.missing)
    assert "perf" in repr(read)


def test_objectives_are_checked_on_results() -> None:
    settings = ["run.warmup=1 ms", "run.duration=10 ms"]
    found = hostnet.explain(ROOT / "examples/power.toml", slo="p50 < 1 s", overrides=settings, brief=True)
    assert isinstance(found, Tails)
    assert found.met


def test_a_prediction_is_not_explained(file: Path) -> None:
    with raises_code("wrong-kind | prediction"):
        hostnet.predict(file).explain()


@pytest.mark.parametrize(
    ("what", "given", "message"),
    [
        ("nothing", {}, "file-not-found | nothing"),
        ("quadrant.toml", {"cores": 2}, "no-effect | --cores"),
        ("quadrant.toml", {"confirm": True, "brief": True}, "conflicting-keys"),
        ("quadrant.toml", {"confirm": True, "slo": "p50 < 1 s"}, "conflicting-keys | --slo"),
        (str(ROOT / "examples/chip.toml"), {}, "wrong-kind | hostnet.chip(...).explain()"),
    ],
)
def test_what_cannot_be_explained_is_said(
    file: Path, monkeypatch: pytest.MonkeyPatch, what: str, given: dict[str, Any], message: str
) -> None:
    monkeypatch.chdir(file.parent)
    with raises_code(message):
        hostnet.explain(what, **given)


def test_a_curve_is_that_of_the_command(cli: Cli, tmp_path: Path) -> None:
    found = hostnet.curve("cascade-lake-6234", points=2, reads=[100], engine="predict", out=tmp_path / "mine")
    told = cli("curve", "cascade-lake-6234", "--points", "2", "--reads", "100", "--engine", "predict", "--json")
    assert found.content == json.loads(told.stdout) == json.loads((tmp_path / "mine/curve.json").read_text("utf-8"))
    assert len(found.points) == len(found.to_pandas()) == 2
    assert len(shown(found.plot()).images) == 1
    assert f"{found.content['curves'][0]['bandwidth_max_gb_per_s']:.1f}" in shown(found).text
    assert found.report() == tmp_path / "mine/report.html"
    with raises_code("conflicting-keys | --matrix | --points"):
        hostnet.curve("cascade-lake-6234", points=2, matrix=True)  # type: ignore[call-overload]


def test_a_matrix_has_a_row_for_each_pair() -> None:
    found = hostnet.curve("cascade-lake-6234", matrix=True)
    assert [(pair.node, pair.memory) for pair in found.pairs] == [(0, 0)]
    assert [row[:2] for row in shown(found).tables[0][1:]] == [["0", "0"]]
    assert repr(found).startswith("<MatrixResults cascade-lake-6234: ")


def test_attachments_are_compared_as_by_the_command(cli: Cli, tmp_path: Path) -> None:
    cli("new", "--cluster", "ping")
    settings = ["run.duration=20 us", "run.warmup=5 us"]
    found = hostnet.whatif(cli.folder / "ping.toml", attach=["pcie", "onchip"], overrides=settings)
    options = [word for setting in settings for word in ("--set", setting)]
    told = cli("whatif", "ping.toml", "--attach", "pcie,onchip", *options, "--json")
    assert found.content == json.loads(told.stdout)
    assert list(found) == ["pcie", "onchip"]
    assert found["pcie"].complete
    assert (found.save(tmp_path / "kept") / "onchip/report.html").is_file()
    output = shown(found)
    assert Path(output.links[-1]).resolve() == found.page == found.report()
    assert all(place in output.text for place in found)
    with raises_code("unknown-name | pcei"):
        hostnet.whatif(cli.folder / "ping.toml", attach="pcei")
    assert set(found) < set(PLACES)


def test_a_server_is_calibrated_and_written(tmp_path: Path) -> None:
    data = tmp_path / "stream.csv"
    data.write_text("cores,GB/s\n1,8.2\n", encoding="utf-8")
    out = tmp_path / "mine.toml"
    found = hostnet.calibrate("cascade-lake-6234", data, "core.lfb.refill", engine="predict", out=out)
    assert out.read_text("utf-8") == found.text(out)
    parameters, residuals = shown(found).tables
    assert [row[0] for row in parameters[1:]] == ["core.lfb.refill"]
    assert len(residuals) == 1 + len(found.measurements)
    with pytest.raises(FileExistsError):
        found.save(out)


def test_a_study_is_validated_as_by_the_command(cli: Cli) -> None:
    found = hostnet.validate("netsdm", quick=True)
    told = cli("validate", "netsdm", "--quick", "--json", "rows.json")
    assert told.returncode == 0
    assert json.loads((cli.folder / "rows.json").read_text("utf-8")) == [row.as_dict() for row in found.rows]
    assert repr(found).removeprefix("<Ledger ").removesuffix(">") in told.stdout


def test_a_prediction_takes_overrides(file: Path) -> None:
    assert hostnet.predict(file, overrides=["run.name=other"]).summary["name"] == "other"

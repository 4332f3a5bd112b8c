"""The study of the network on a chip alone: its comparisons and verdicts, and all rows pass."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hostnet import _core
from hostnet.ledger import cli_validate, validate
from hostnet.ledger.noc_peers import PACKETS_MIN, NocPoint, read_noc
from hostnet.ledger.parallel import run_nocs
from hostnet.ledger.runner import Progress
from hostnet.ledger.study import Study, load_study
from tests.docs.reference import ROOT

Summary = dict[str, Any]

COLUMNS = {
    "latency": "packet_lat_mean",
    "latency_network": "network_lat_mean",
    "p99": "packet_lat_p99",
    "bandwidth_accepted": "accepted_flits_node_cycle",
    "hops": "hops_mean",
}


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study("noc")


def full_points(study: Study) -> list[NocPoint]:
    return [point for point in study.selections["full"].points if isinstance(point, NocPoint)]


def test_every_result_is_run_and_is_a_row_in_every_quantity(study: Study) -> None:
    results = read_noc(study.root / "results" / "booksim2.csv")
    assert len(results) == 12
    rings = read_noc(study.root / "results" / "booksim2_rings.csv")
    assert len({point.name for point in full_points(study)}) == len(results) + len(rings) + 2
    for result in results:
        for name, column in COLUMNS.items():
            panel = next(panel for panel in study.panels if panel.name == f"{name}_{result['variant']}")
            assert [value.y for value in panel.published if value.x == result["name"]] == [float(result[column])]


def test_rates_of_few_packets_are_context(study: Study) -> None:
    for panel in study.panels:
        for value in panel.published if panel.name.startswith("bandwidth") else ():
            flits = int(panel.name[-1])
            result = next(
                result
                for result in read_noc(study.root / "results" / "booksim2.csv")
                if (result["name"], int(result["packet_flits"])) == (value.x, flits)
            )
            enough = int(result["flits_measured"]) / flits >= PACKETS_MIN
            assert value.series == ("of 10,000 packets or more" if enough else "of fewer packets")


def test_the_configuration_of_a_point(study: Study) -> None:
    chosen = study.selections["full"]
    points = {point.name: point for point in chosen.points}
    config = chosen.config(points["xy-5:uniform-0.05"], study.preset, 1)
    assert config["traffic"] == {"pattern": "uniform", "rate": 0.05, "packet_flits": 5, "seed": 1}
    assert config["run"] == {"warmup": 6000, "measure": 100_000}
    assert (config["noc"]["topology"], config["noc"]["routing"], config["noc"]["vcs"]) == ("mesh", "xy", 4)
    alone = chosen.config(points["alone:corner-1"], study.preset, 1)
    assert alone["trace"] == {"path": "../studies/noc/traces/corner-1.txt"}


def test_the_default_router_is_the_one_that_is_compared(study: Study) -> None:
    point = next(point for point in full_points(study) if point.name == "xy-1:uniform-0.1")
    config = study.selections["quick"].config(point, study.preset, 1)
    assert _core.noc_plan(json.dumps(config), format="json").hash == _core.noc_plan().hash


def test_the_closed_form_is_that_of_the_other_simulator(study: Study) -> None:
    for result in read_noc(study.root / "results" / "closed_form.csv"):
        flits = int(result["packet_flits"])
        lines = (study.root / "traces" / f"{result['trace']}.txt").read_text().splitlines()[1:]
        links = [int(line.split()[2]) % 8 + int(line.split()[2]) // 8 for line in lines]
        expected = [3 * count + 5 + flits - 1 for count in links]
        assert {line.split()[3] for line in lines} == {str(flits)}
        assert float(result["packet_lat_mean"]) == sum(expected) / len(expected)
        assert float(result["packet_lat_max"]) == max(expected)


def wrong_by(factor: float) -> Any:
    """Returns a simulator whose values are a factor times those of BookSim."""
    root = load_study("noc").root
    results = {
        (result["routing"], int(result["packet_flits"]), float(result["offered_flits_node_cycle"])): result
        for result in read_noc(root / "results" / "booksim2.csv")
    }
    rings = {
        (int(result["nodes"]), float(result["offered_flits_node_cycle"])): result
        for result in read_noc(root / "results" / "booksim2_rings.csv")
    }
    alone = {result["trace"]: result for result in read_noc(root / "results" / "closed_form.csv")}

    def simulate(
        configs: Sequence[dict[str, Any]], base_dir: Path, threads: int, progress: Progress | None
    ) -> list[Summary]:
        del base_dir, threads, progress
        return [summary_of(config) for config in configs]

    def summary_of(config: dict[str, Any]) -> Summary:
        if "trace" in config:
            result = alone[Path(config["trace"]["path"]).stem]
        elif config["noc"]["topology"] == "ring":
            result = rings[config["noc"]["nodes"], config["traffic"]["rate"]]
        else:
            result = results["dor", config["traffic"]["packet_flits"], config["traffic"]["rate"]]
        value = {column: float(text) * factor for column, text in result.items() if text[:1].isdigit()}
        statistics = {"mean_cycles": value.get("packet_lat_mean"), "max_cycles": value.get("packet_lat_max")}
        return {
            "latency": {
                "packet": {**statistics, "p99_cycles": value.get("packet_lat_p99")},
                "network": {"mean_cycles": value.get("network_lat_mean")},
            },
            "rate": {"accepted": value.get("accepted_flits_node_cycle")},
            "packets": {"links_mean": value.get("hops_mean", 1.0) - 1, "arrived": 1},
            "config_hash": "0" * 64,
        }

    return simulate


@pytest.mark.parametrize(
    ("factor", "failing"),
    [
        (1.0, set()),
        (1.001, {"unloaded_mean", "unloaded_max"}),
        (1.029, {"unloaded_mean", "unloaded_max"}),
        (1.031, {"unloaded_mean", "unloaded_max", "latency", "latency_network", "bandwidth_accepted", "overload"}),
        (
            1.11,
            {"unloaded_mean", "unloaded_max", "latency", "latency_network", "bandwidth_accepted", "overload"}
            | {"knee", "p99"},
        ),
    ],
)
def test_tolerances_are_those_asked_for(factor: float, failing: set[str]) -> None:
    rows = validate("noc", simulate=wrong_by(factor)).failing
    assert {row.panel.rsplit("_", 1)[0] for row in rows} == failing


def test_the_command_writes_rows_and_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from hostnet.report.plot import plot

    out = tmp_path / "ledger"
    assert cli_validate("noc", ["latency"], tmp_path / "rows.json", True, True, 0, out) == 0
    assert {row["figure"] for row in json.loads((tmp_path / "rows.json").read_text())} == {"latency"}
    assert "rows pass, 0 fail" in capsys.readouterr().out.splitlines()[-1]
    page = (out / "report.html").read_text()
    assert "Mean packet latency: xy-5" in page
    assert "packets/s" in page
    assert [path.name for path in plot(out)] == ["panels.png", "panels.svg"]


def test_told_to_stop_runs_stop() -> None:
    plans = [_core.noc_plan(overrides=["run.measure=1000000000"])] * 3
    with pytest.raises(KeyboardInterrupt):
        run_nocs(plans, 2, lambda _: False)


def test_progress_ends_at_the_whole() -> None:
    seen: list[dict[str, Any]] = []
    run_nocs([_core.noc_plan(overrides=["run.measure=1000"])] * 3, 2, lambda status: seen.append(status))
    last = seen[-1]
    assert (last["done"], last["total"], last["progress"]) == (3, 3, 1.0)


def test_the_simulator_never_sees_the_results_of_others() -> None:
    for file in [*ROOT.glob("crates/**/*.rs"), *ROOT.glob("crates/**/*.toml"), *ROOT.glob("specs/**/*.toml")]:
        text = file.read_text(encoding="utf-8")
        for name in ("studies/noc", "booksim2.csv"):
            assert name not in text, f"{file} names {name}"


def test_the_ledger_gets_no_worse() -> None:
    """The quick selection. A row that begins to fail is a change of the model to explain."""
    ledger = validate("noc", selection="quick")
    assert {row.id for row in ledger.rows if row.verdict == "fail"} == set()
    assert all(score.on_target for score in ledger.scores)
    assert sum(row.verdict == "pass" for row in ledger.rows) == 48

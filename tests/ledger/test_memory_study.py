"""The study of the memory alone: its comparisons and verdicts, and its quick selection passes."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hostnet import _core
from hostnet.ledger import LedgerError, cli_validate, validate
from hostnet.ledger.panels import Group
from hostnet.ledger.parallel import run_pool
from hostnet.ledger.peers import TrafficPoint, knee, read_results, traffic_name
from hostnet.ledger.rows import Row, error_of, verdict_of
from hostnet.ledger.runner import Progress, Simulate
from hostnet.ledger.study import Study, load_study
from tests.docs.reference import ROOT
from tests.support import raises_code

Summary = dict[str, Any]
Simulator = Callable[..., Simulate]

COLUMNS = {
    "bandwidth": "achieved_GBps",
    "activations": "act_per_req",
    "refreshes": "refreshes",
    "latency_acceptance": "lat_accept_mean_ns",
    "latency_arrival": "lat_arrival_mean_ns",
    "p99_acceptance": "lat_accept_p99_ns",
    "p99_arrival": "lat_arrival_p99_ns",
}

RANGE = Group("g", "G", "range", mean=0.01, max=0.05)


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study("memory")


def summary_of(result: dict[str, str], factor: float) -> Summary:
    """Returns a summary with the values of another simulator, times a factor."""

    def value(column: str) -> float | None:
        return float(result[column]) * factor if result[column] else None

    latency = {
        start: {"mean_ns": value(f"lat_{column}_mean_ns"), "p99_ns": value(f"lat_{column}_p99_ns")}
        for start, column in (("read_from_acceptance", "accept"), ("read_from_arrival", "arrival"))
    }
    refi = 11437
    return {
        "requests": {"accepted": int(result["requests"])},
        "bandwidth": {"gb_per_s": value("achieved_GBps")},
        "rows": {"activations_per_request": value("act_per_req")},
        "commands": {"REF": round(int(result["refreshes"]) * factor)},
        "latency": latency,
        "time": {"elapsed_clocks": int(result["refreshes"]) * refi / 2},
        "memory": {"controllers": 1},
        "config": {"memory": {"dram": {"ranks": 2, "timing": {"refi": refi}}}},
        "config_hash": "0" * 64,
    }


@pytest.fixture
def simulator(study: Study) -> Simulator:
    """Returns a simulator whose values are `factor` times those of Ramulator."""

    def make(factor: float = 1.0) -> Simulate:
        points = {json.dumps(study.selections["full"].config(p, study.preset, 1)): p for p in full_points(study)}

        def simulate(
            configs: Sequence[dict[str, Any]], base_dir: Path, threads: int, progress: Progress | None
        ) -> list[Summary]:
            del base_dir, threads, progress
            return [summary_of(dict(points[json.dumps(config)].result), factor) for config in configs]

        return simulate

    return make


def full_points(study: Study) -> list[TrafficPoint]:
    points = [point for point in study.selections["full"].points if isinstance(point, TrafficPoint)]
    assert len(points) == len(study.selections["full"].points)
    return points


def test_every_result_is_run_with_and_without_warm_up(study: Study) -> None:
    points = full_points(study)
    results = read_results(study.root / "results" / "ramulator2.csv")
    assert len(results) == 140
    assert len({point.name for point in points}) == 2 * len(results)
    assert Counter(point.whole for point in points) == {False: 140, True: 140}


def test_the_quick_selection_is_part_of_the_full_one(study: Study) -> None:
    full = {point.name for point in study.selections["full"].points}
    quick = {point.name for point in study.selections["quick"].points}
    assert quick < full
    assert len({name for name in quick if "-whole:" not in name}) == 16


def test_every_result_is_a_row_in_every_quantity(study: Study) -> None:
    for file, simulator in (("ramulator2", "Ramulator 2.1"), ("dramsim3", "DRAMsim3")):
        for result in read_results(study.root / "results" / f"{file}.csv"):
            for name, column in COLUMNS.items():
                if simulator == "DRAMsim3" and name == "refreshes":
                    continue
                panel = next((p for p in study.panels if p.name == f"{name}_{result['variant']}"), None)
                found = [v.y for v in panel.published if v.x == traffic_name(result)] if panel else []
                assert found == ([float(result[column])] if result[column] else []), (name, result)


def test_the_configuration_of_a_point(study: Study) -> None:
    chosen = study.selections["full"]
    points = {point.name: point for point in chosen.points}
    assert chosen.config(points["rowhit_q64:rand-A-50-p60"], study.preset, 1) == {
        "memory": {
            "device": "DDR4_2933",
            "map": "A",
            "profile": "ramulator",
            "controller": {"rpq": {"entries": 64}, "wpq": {"entries": 64}},
        },
        "traffic": {"pattern": "rand", "reads": 0.5, "requests": 250000, "seed": 1, "load": 0.6},
        "run": {"outstanding": 0, "warmup": 0.1},
    }
    whole = chosen.config(points["frfcfs_q32-whole:seq-A-100-cl1"], study.preset, 1)
    assert whole["memory"]["controller"] == {"protect": "nothing"}
    assert whole["traffic"]["requests"] == 30000
    assert "load" not in whole["traffic"]
    assert whole["run"] == {"outstanding": 1, "warmup": 0.0}


def test_the_settings_mean_what_the_other_simulator_has(study: Study) -> None:
    chosen = study.selections["full"]
    for variant, entries, protect in (
        ("rowhit_q32", 32, "older-hits"),
        ("rowhit_q64", 64, "older-hits"),
        ("rowhit_q128", 128, "older-hits"),
        ("frfcfs_q32", 32, "nothing"),
    ):
        point = next(point for point in chosen.points if point.name.startswith(f"{variant}:"))
        plan = _core.memory_plan(json.dumps(chosen.config(point, study.preset, 1)), format="json")
        controller = json.loads(plan.effective_json())["memory"]["controller"]
        assert controller["scheduler"] == "oldest-ready"
        assert (controller["rpq"]["entries"], controller["wpq"]["entries"]) == (entries, entries)
        assert controller["protect"] == protect
        assert controller["write_high"] == int(0.8 * entries) + 1
        assert controller["write_low"] < 0.2 * entries <= controller["write_low"] + 1


@pytest.mark.parametrize(
    ("closed", "offered", "achieved", "side"),
    [
        ("1", "", "3.4", "below"),
        ("32", "", "22.4", "below"),
        ("0", "", "22.4", "beyond"),
        ("0", "10.0", "9.85", "below"),
        ("0", "10.0", "9.8499", "beyond"),
    ],
)
def test_the_knee(closed: str, offered: str, achieved: str, side: str) -> None:
    assert knee({"closed_reads": closed, "offered_GBps": offered, "achieved_GBps": achieved}) == side


@pytest.mark.parametrize(
    ("simulated", "error", "verdict"),
    [
        (100.0, 0.0, "pass"),
        (110.0, 0.0, "pass"),
        (120.0, 0.0, "pass"),
        (95.0, -0.05, "pass"),
        (94.9, -0.051, "fail"),
        (126.0, 0.05, "pass"),
        (126.2, 0.2 / 120 + 0.05, "fail"),
    ],
)
def test_a_range_is_widened_by_the_tolerance(simulated: float, error: float, verdict: str) -> None:
    for ends in ((100.0, 120.0), (120.0, 100.0)):
        found = error_of(ends[0], simulated, "range", ends[1])
        assert found == pytest.approx(error)
        assert verdict_of(RANGE, found, None) == verdict


def test_a_simulator_that_answers_what_ramulator_got_passes_everywhere(simulator: Simulator) -> None:
    ledger = validate("memory", simulate=simulator())
    assert ledger.failing == []
    assert all(score.on_target and score.max == 0 for score in ledger.scores)
    scored = {score.group.name: score.rows for score in ledger.scores}
    assert scored["bandwidth-sequential"] == 4
    assert scored["bandwidth-sequential"] + scored["bandwidth-reads"] + scored["bandwidth-mixed"] == 140
    assert scored["activations-streams"] + scored["activations-random"] == 140
    assert scored["refresh-surplus"] == 140
    assert scored["unloaded"] == 4
    assert scored["range-bandwidth"] == 46


def test_latency_beyond_the_knee_is_not_scored(simulator: Simulator) -> None:
    rows = validate("memory", simulate=simulator(2.0)).rows
    for row in rows:
        if row.figure in ("latency", "p99"):
            assert (row.verdict == "context") == (row.series in ("beyond the knee", "other queues"))
    assert {row.x.split("-")[-1] for row in rows if row.series == "beyond the knee"} >= {"sat", "p60"}


@pytest.mark.parametrize(
    ("factor", "failing"),
    [
        (1.004, set()),
        (1.006, {"bandwidth-sequential"}),
        (1.021, {"bandwidth-sequential", "bandwidth-reads"}),
        (1.051, {"bandwidth-sequential", "bandwidth-reads", "bandwidth-mixed", "range-bandwidth"}),
    ],
)
def test_tolerances_are_those_asked_for(simulator: Simulator, study: Study, factor: float, failing: set[str]) -> None:
    groups = {(panel.name, series.name): series.group for panel in study.panels for series in panel.series}
    rows = validate("memory", figures=["bandwidth"], simulate=simulator(factor)).failing
    assert {groups[row.panel, row.series] for row in rows} == failing


def test_other_queues_are_context(simulator: Simulator) -> None:
    rows = validate("memory", simulate=simulator()).rows
    other = [row for row in rows if row.panel.endswith(("_cq1_tq32", "_cq16_tq32", "perrank_cq32_tq32"))]
    assert {row.verdict for row in other} == {"context"}
    assert all(row.simulated is not None for row in other)


def test_only_rows_with_a_range_name_its_other_end(simulator: Simulator) -> None:
    rows = validate("memory", simulate=simulator()).rows
    for row in rows:
        assert ("other" in row.as_dict()) == (row.other is not None)
        assert (row.kind == "range") <= (row.other is not None)
    assert len({row.id for row in rows}) == len(rows)


def test_the_command_writes_rows_and_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from hostnet.report.plot import plot

    out = tmp_path / "ledger"
    assert cli_validate("memory", ["latency"], tmp_path / "rows.json", True, True, 0, out) == 0
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert {row["figure"] for row in rows} == {"latency"}
    assert "rows pass, 0 fail" in capsys.readouterr().out.splitlines()[-1]
    assert {file.name for file in out.iterdir()} == {"manifest.json", "summary.json", "points.parquet", "report.html"}
    page = (out / "report.html").read_text()
    assert "Read latency from acceptance: rowhit_q32" in page
    assert "perbank_cq1_tq32</h3>" not in page
    assert [path.name for path in plot(out)] == ["panels.png", "panels.svg"]
    with pytest.raises(FileExistsError):
        cli_validate("memory", ["latency"], None, False, True, 0, out)


def few_plans(requests: int) -> list[_core.MemoryPlan]:
    texts = [json.dumps({"traffic": {"requests": requests, "seed": seed}}) for seed in range(4)]
    return [_core.memory_plan(text, format="json") for text in texts]


def test_results_come_in_order_on_any_number_of_threads() -> None:
    hashes = [[result.result_hash for result in run_pool(few_plans(2000), [2000] * 4, n, None)] for n in (1, 2, 3)]
    assert len(set(hashes[0])) == 4
    assert all(one == other for one, other in pairwise(hashes))


def test_told_to_stop_runs_stop() -> None:
    requests = 100_000_000
    with pytest.raises(KeyboardInterrupt):
        run_pool(few_plans(requests), [requests] * 4, 2, lambda _: False)


def test_progress_ends_at_the_whole() -> None:
    seen: list[dict[str, Any]] = []
    run_pool(few_plans(2000), [2000] * 4, 2, lambda status: seen.append(status))
    last = seen[-1]
    assert (last["done"], last["total"], last["requests"], last["progress"]) == (4, 4, 8000, 1.0)


def test_a_broken_study_names_its_file(tmp_path: Path, study: Study) -> None:
    shutil.copytree(study.root, tmp_path / "memory")
    file = tmp_path / "memory" / "study.toml"
    file.write_text(file.read_text().replace('column = "achieved_GBps"', 'column = "achieved"'))
    with raises_code("malformed-file", LedgerError):
        load_study("memory", tmp_path)


def test_the_simulator_never_sees_the_results_of_others() -> None:
    for file in [*ROOT.glob("crates/**/*.rs"), *ROOT.glob("crates/**/*.toml"), *ROOT.glob("specs/**/*.toml")]:
        text = file.read_text(encoding="utf-8")
        for name in ("studies/memory", "ramulator2.csv", "dramsim3.csv"):
            assert name not in text, f"{file} names {name}"


KNOWN_TO_FAIL: set[str] = set()


def test_the_ledger_gets_no_worse() -> None:
    """The quick selection. A row that begins to fail is a change of the model to explain."""
    ledger = validate("memory", selection="quick")
    rows: list[Row] = ledger.rows
    assert {row.id for row in rows if row.verdict == "fail"} == KNOWN_TO_FAIL
    assert all(score.on_target for score in ledger.scores)
    assert sum(row.verdict == "pass" for row in rows) == 140

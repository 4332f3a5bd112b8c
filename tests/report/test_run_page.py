"""The page of a run: its configuration, its limits, the command to repeat it; and what it leaves out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostnet.report import write_report
from hostnet.report.load import load_run
from hostnet.report.reproduce import time_argument
from hostnet.report.series import POINTS_MAX, ChartSeries, SeriesPoint, series_of_run, thinned
from hostnet.report.server import server_report
from hostnet.units import parse_time_ps
from tests.support import Cli, read_json

MakeRun = Callable[..., Path]

MEASURED_ONLY = re.compile(
    r"ci95|p50|p99|_max$|full_share|over_threshold|^lines$|^io_|activations|precharges|refreshes"
)
"""Columns that a formula does not compute."""


def text_of(report: Path) -> str:
    """Returns the text of a page, without its style and script."""
    content = re.sub(r"<(style|script)>.*?</\1>", "", report.read_text(encoding="utf-8"), flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]*>", "\n", re.sub(r"</?dfn[^>]*>", "", content)))


def predicted(directory: Path) -> Path:
    """Turns a run directory into that of a formula: no intervals, no percentiles, no events."""
    file = directory / "summary.json"
    summary = json.loads(file.read_text())
    for table in ("workloads", "domains", "channels"):
        for row in summary[table]:
            row.update({name: None for name in row if MEASURED_ONLY.search(name)})
    summary.update(engine="predict", events=None, lines=None, window_ns=None, warm_up_ns=None)
    file.write_text(json.dumps(summary))
    (directory / "domains.parquet").unlink()
    return directory


def test_a_prediction_shows_nothing_that_was_not_measured(make_run: MakeRun) -> None:
    text = text_of(write_report(predicted(make_run(series=False))))
    assert "Predicted" in text
    assert "predict (prediction by formula, without events)" in text
    for said in ("null", "None", "nan", " ± ", "P50", "P99", "99th percentile", "confidence", "I/O requests", "Events"):
        assert said not in text, said
    assert re.search(r"\b27\.5\b", text)
    assert "hostnet predict config.toml" in text


def test_headings_are_in_order(make_run: MakeRun, study_run: Path) -> None:
    for report in (write_report(make_run()), write_report(study_run)):
        levels = [int(level) for level in re.findall(r"<h([1-6])[ >]", report.read_text(encoding="utf-8"))]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))


def test_every_drawing_has_a_name_or_is_hidden(make_run: MakeRun, study_run: Path) -> None:
    for report in (write_report(make_run()), write_report(study_run)):
        drawings = re.findall(r"<svg[^>]*>(?:<title>)?", report.read_text(encoding="utf-8"))
        assert drawings
        for drawing in drawings:
            assert 'aria-hidden="true"' in drawing or "aria-label=" in drawing or "<title>" in drawing


def test_the_regime_is_shown_with_its_evidence(make_run: MakeRun, hostile: str) -> None:
    slowed = [{"workload": hostile, "times": 1.18, "because_of": ["db"]}]
    regime = {"name": "blue", "evidence": ["bus busy 41 %", hostile], "slowed": slowed, "open": []}
    report = write_report(make_run(regime=regime))
    assert "regime-blue" in report.read_text(encoding="utf-8")
    text = text_of(report)
    for said in ("Regime", "blue", "runs 1.18 x slower because of db", "bus busy 41\u00a0%", hostile):
        assert said in text
    assert "Regime" not in text_of(write_report(make_run()))
    assert "mauve" in text_of(write_report(make_run(regime={"name": "mauve"})))


def test_an_explanation_is_shown_as_it_was_written(make_run: MakeRun, hostile: str) -> None:
    directory = make_run()
    assert server_report(load_run(directory)).why is None
    (directory / "explain.json").write_text(json.dumps({"text": "from json"}))
    assert "from json" in str(server_report(load_run(directory)).why)
    (directory / "explanation.txt").write_text(f"because\n  {hostile}\n")
    text = text_of(write_report(directory))
    assert f"because\n  {hostile}" in text
    assert "from json" not in text
    (directory / "explanation.txt").write_text(" \n")
    assert server_report(load_run(directory)).why is None


def test_an_explanation_without_text_is_none(make_run: MakeRun) -> None:
    directory = make_run()
    (directory / "explain.json").write_text(json.dumps({"text": 3}))
    assert server_report(load_run(directory)).why is None


def test_limits_that_do_not_belong_to_workloads_are_listed(make_run: MakeRun) -> None:
    text = text_of(write_report(make_run(limits=["one", "two", "three"])))
    assert re.search(r"one\s+two\s+three", text)


def test_the_commands_of_the_page_give_the_same_results(cli: Cli) -> None:
    directory = cli.run("--set", "workload.stream.reads=0.5", "--seed", "9", "--series", "2us", "--out", "first")
    text = text_of(directory / "report.html")
    before = read_json(directory / "manifest.json")
    (directory / "complete.json").write_text(json.dumps(before["config"]))
    commands = re.findall(r"^hostnet run (.*)$", text, re.MULTILINE)
    assert commands == [
        "config.toml --set workload.stream.reads=0.5 --seed 9 --series 2us",
        "complete.json --series 2us",
    ]
    for index, command in enumerate(commands):
        file, *arguments = command.split()
        again = cli.folder / f"again-{index}"
        done = cli("run", directory / file, *arguments, "--out", again)
        assert done.returncode == 0, done.stderr
        after = read_json(again / "manifest.json")
        assert after["config_hash"] == before["config_hash"]
        assert file == "complete.json" or after["result_hash"] == before["result_hash"]
        first, second = read_json(directory / "summary.json"), read_json(again / "summary.json")
        assert {**second, "no_effect": first["no_effect"], "never_met": first["never_met"]} == first


@given(st.integers(1, 10**7))
def test_times_of_commands_are_exact(value_ns: int) -> None:
    assert parse_time_ps(time_argument(float(value_ns)), "series") == value_ns * 1000


@given(st.lists(st.floats(0, 100), min_size=1, max_size=3000))
def test_thinned_series_fit_and_keep_their_values(values: list[float]) -> None:
    plotted = ChartSeries("s", "a", tuple(SeriesPoint(float(x), value) for x, value in enumerate(values)))
    points = thinned(plotted).values
    assert len(points) <= POINTS_MAX
    assert points[-1].x == plotted.values[-1].x
    known = [point.simulated for point in points if point.simulated is not None]
    assert min(values) - 1e-9 <= min(known) <= max(known) <= max(values) + 1e-9
    if len(values) <= POINTS_MAX:
        assert points == plotted.values


def test_a_step_without_a_value_does_not_pull_a_point_down() -> None:
    values = tuple(SeriesPoint(float(x), None if x % 2 else 10.0) for x in range(2 * POINTS_MAX))
    assert {point.simulated for point in thinned(ChartSeries("s", "a", values)).values} == {10.0}


def test_idle_domains_are_not_drawn_and_others_keep_their_colours() -> None:
    rows = [
        {"time_ns": 1000.0, "subject": subject, "quantity": "in_use_mean", "value": value}
        for subject, value in (("C2M-Read", 0.0), ("P2M-Write", 5.0), ("LFB", None), ("other", 1.0))
    ]
    _, _, groups = series_of_run(rows, "in_use_mean")
    drawn = [(name, [(plotted.name, plotted.kind) for plotted in group]) for name, group in groups]
    assert drawn == [("of the domains", [("P2M-Write", "c")]), ("", [("other", "a")])]


def test_an_explanation_is_drawn(make_run: MakeRun, hostile: str) -> None:
    directory = make_run()
    latency = {"domain": "C2M-Read", "mean_ns": 90.0, "unloaded_ns": 60.0, "read_hol_ns": 35.0, "unexplained_ns": -5.0}
    keys = ("unloaded", "write_hol", "read_hol", "unexplained")
    names = {f"{key}_ns": key for key in keys}
    gains = [{"limit": "DRAM channel", "key": "memory.device", "gain": 0.17}]
    row = {
        "workload": hostile,
        "limited": "is limited by DRAM channel",
        "limits": {"gains": gains},
        "latency": latency,
        "doubtful": False,
    }
    step = {"what": "RPQ entries", "path": "rpq", "before": "46", "after": "92", "factor": 2.0, "confirmed": None}
    steps = {"engine": "predict", "workload": "disk", "steps": [{**step, "gains": {"disk": 0.25}}]}
    (directory / "explanation.txt").write_text("because")
    (directory / "explain.json").write_text(json.dumps({"workloads": [row], "parts": names, "steps": steps}))
    text = text_of(write_report(directory))
    for said in (
        hostile,
        "is limited by DRAM channel.",
        "+17\u00a0%",
        "90 ns",
        "35 ns",
        "-5 ns",
        "RPQ entries",
        "+25\u00a0%",
    ):
        assert said in text
    assert text.count("not known") == 1, "the part that is missing"


@pytest.mark.parametrize("damaged", [{"workloads": 3}, {"workloads": [{}]}, {"workloads": [], "steps": {"steps": 1}}])
def test_an_explanation_that_is_damaged_is_shown_as_text(make_run: MakeRun, damaged: dict[str, Any]) -> None:
    directory = make_run()
    (directory / "explanation.txt").write_text("because")
    (directory / "explain.json").write_text(json.dumps(damaged))
    assert "because" in text_of(write_report(directory))

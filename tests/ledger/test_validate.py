"""The whole path from published values to rows, output and exit code."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from hostnet.ledger import LedgerError, cli_validate, validate
from hostnet.ledger import validate as validate_function
from hostnet.ledger.runner import Simulate
from hostnet.ledger.show import floor_lines, left_out_lines, print_table, score_table, show_ledger
from hostnet.ledger.validate import write_json
from tests.support import raises_code

KEYS = [
    "id",
    "study",
    "figure",
    "panel",
    "series",
    "x",
    "engine",
    "unit",
    "published",
    "simulated",
    "ci95",
    "error",
    "tolerance",
    "kind",
    "verdict",
    "statement",
    "role",
]

Simulator = Callable[..., Simulate]

MEASURED = ("3", "6", "7", "8")
"""Figures that the fabricated simulator covers: those of measurements, not of the formula."""


def test_a_simulator_that_answers_what_was_published_passes_everywhere(simulator: Simulator) -> None:
    ledger = validate("host_network", figures=MEASURED, simulate=simulator())
    assert Counter(row.verdict for row in ledger.rows) == {"pass": 239, "excluded": 7, "context": 24}
    assert {score.group.name: score.rows for score in ledger.scores} == {
        "bandwidth": 96,
        "c2m-latency": 42,
        "p2m-latency": 30,
        "cha-mc-write": 12,
        "rpq": 23,
        "row-miss": 24,
        "wpq-full": 12,
    }
    assert all(score.on_target and score.passed == score.rows for score in ledger.scores)
    assert len(ledger.batch.outcomes) == 44


def test_one_that_is_ten_percent_high_fails_where_the_tolerance_is_less(simulator: Simulator) -> None:
    ledger = validate("host_network", simulate=simulator(1.1))
    errors = {row.id: row.error for row in ledger.rows}
    assert errors["host_network/fig03_q3_membw/c2m-traffic/4"] == pytest.approx(0.1)
    assert errors["host_network/fig03_q3_degradation/p2m-traffic/4"] == pytest.approx(0, abs=0.02)
    assert errors["host_network/fig08e_wpq_full_fraction/with-p2m/5"] == pytest.approx(9.777)
    failing = Counter(row.panel for row in ledger.failing)
    assert failing["fig03_q3_membw"] == 12
    assert failing["fig06b_c2mreadwrite_latency"] == 12  # LFB and CHA->DRAM; CHA->MC write has 35%
    assert failing["fig07g_iio_occupancy"] == 0  # exactly on its tolerance
    assert failing["fig08b_rpq_occupancy"] == 0
    assert failing["fig08e_wpq_full_fraction"] == 3


def test_golden_rows(simulator: Simulator) -> None:
    ledger = validate("host_network", simulate=simulator(1.05))
    rows = {row.id: row.as_dict() for row in ledger.rows}
    assert rows["host_network/fig07b_rpq_occupancy/with-p2m/6"] == {
        "id": "host_network/fig07b_rpq_occupancy/with-p2m/6",
        "study": "host_network",
        "figure": "7",
        "panel": "fig07b_rpq_occupancy",
        "series": "With P2M",
        "x": "6",
        "engine": "simulation",
        "unit": "cachelines",
        "published": 21.238,
        "simulated": pytest.approx(21.238 * 1.05),
        "ci95": pytest.approx(21.238 * 1.05 * 0.01),
        "error": pytest.approx(0.05),
        "tolerance": 0.2,
        "kind": "relative",
        "verdict": "pass",
        "statement": "host_network/fig07b_rpq_occupancy/with-p2m/6",
        "role": "calibrated",
    }
    assert rows["host_network/fig07b_rpq_occupancy/without-p2m/1"]["verdict"] == "excluded"
    limit = rows["host_network/fig08f_iio_occupancy/limit/all"]
    assert (limit["simulated"], limit["tolerance"], limit["verdict"]) == (92, None, "context")
    peak = rows["host_network/fig03_q1_membw/theoretical-max/all"]
    assert (peak["published"], peak["simulated"], peak["error"], peak["verdict"]) == (46.9, None, None, "context")
    first = rows["host_network/fig06d_p2mwrite_latency_inflation/iio-latency-inflation/1"]
    assert (first["published"], first["error"], first["kind"], first["verdict"]) == (0, 0, "absolute", "context")
    banks = [row for row in rows.values() if row["panel"] == "fig07d_bank_deviation_cdf"]
    assert len(banks) == 4
    assert {row["simulated"] for row in banks} == {None}


def test_the_json_file(simulator: Simulator, tmp_path: Path) -> None:
    ledger = validate("host_network", figures=MEASURED, simulate=simulator(1.02))
    write_json(tmp_path / "rows.json", ledger.rows)
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert len(rows) == len({row["id"] for row in rows}) == 270
    for row in rows:
        assert list(row) == KEYS
        assert row["kind"] in ("relative", "absolute")
        assert row["verdict"] in ("pass", "fail", "excluded", "context")
        assert row["engine"] == "simulation"
        assert isinstance(row["published"], float | int)
        assert isinstance(row["x"], str)
        if row["verdict"] in ("pass", "fail"):
            assert row["x"] != "all"
            assert all(isinstance(row[key], float) for key in ("simulated", "ci95", "error", "tolerance"))
            difference = row["simulated"] - row["published"]
            expected = difference / row["published"] if row["kind"] == "relative" else difference
            assert row["error"] == pytest.approx(expected)


def test_published_values_and_x_are_those_of_the_files(simulator: Simulator) -> None:
    ledger = validate("host_network", simulate=simulator(1.3))
    published = {
        (panel.name, value.series, value.x, value.y) for panel in ledger.study.panels for value in panel.published
    }
    assert {(row.panel, row.series, row.x, row.published) for row in ledger.rows} <= published


def test_a_figure_alone(simulator: Simulator) -> None:
    ledger = validate("host_network", figures=["7e", "fig08"], simulate=simulator())
    assert {row.figure for row in ledger.rows} == {"7", "8"}
    assert {row.panel for row in ledger.rows if row.figure == "7"} == {"fig07e_p2m_latency"}
    assert "q2:1" not in ledger.batch.outcomes


def test_a_quick_run_has_fewer_points_and_no_row_without_them(simulator: Simulator) -> None:
    ledger = validate("host_network", figures=MEASURED, selection="quick", simulate=simulator())
    assert len(ledger.batch.outcomes) <= 14
    assert {score.group.name for score in ledger.scores} >= {"bandwidth", "c2m-latency", "rpq", "wpq-full"}
    assert all(row.simulated is not None for row in ledger.rows if row.verdict in ("pass", "fail"))


def test_a_figure_of_which_a_quick_run_has_nothing(simulator: Simulator) -> None:
    with raises_code("nothing-to-do | nothing to run", LedgerError):
        validate("host_network", figures=["6c"], selection="quick", simulate=simulator())


@pytest.mark.parametrize(("factor", "strict", "code"), [(1.0, True, 0), (1.2, False, 0), (1.2, True, 1)])
def test_exit_codes(
    simulator: Simulator,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    factor: float,
    strict: bool,
    code: int,
) -> None:
    import sys

    fake = simulator(factor)
    module = sys.modules["hostnet.ledger.validate"]

    def faked(name: str, **arguments: object) -> object:
        return validate_function(name, simulate=fake, **arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "validate", faked)
    file = tmp_path / "new" / "rows.json"
    assert cli_validate("host_network", ["3"], file, strict, False, 1) == code
    assert len(json.loads(file.read_text())) == 100
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("host_network: 96 of 96" if factor == 1 else "host_network: 48 of 96")


def text_of(simulate: Simulate, *, terminal: bool = False) -> str:
    output = StringIO()
    console = Console(file=output, force_terminal=terminal, width=140, highlight=False, no_color=not terminal)
    show_ledger(console, validate("host_network", simulate=simulate))
    return output.getvalue()


def test_the_text_names_groups_failing_rows_and_exclusions(simulator: Simulator) -> None:
    text = text_of(simulator(1.1))
    assert "Bandwidth and degradation" in text
    assert "fig08e_wpq_full_fraction" in text
    assert "+9.8 pp" in text
    assert "+10.0 %" in text
    assert "other panels of the same run imply 0.68 lines" in text
    assert "x = 1, 2, 3, 4, 5, 6: plots the C2M-Read curve" in text
    assert text.splitlines()[-1].startswith("host_network: ")
    assert "\x1b" not in text


def test_a_target_stands_beside_the_mean_that_it_judges(simulator: Simulator) -> None:
    ledger = validate("host_network", figures=MEASURED, simulate=simulator(1.1))
    table = score_table(Console(width=140), ledger)
    headings = [" ".join(str(column.header).split()) for column in table.columns]
    assert headings[-3:] == ["mean error", "target", "mean on target"]
    told = [list(column.cells) for column in table.columns[-3:]]
    for score, cells in zip(ledger.scores, zip(*told, strict=True), strict=True):
        assert score.mean is not None
        assert float(str(cells[0]).split()[0].rstrip("%")) == pytest.approx(
            score.mean * (1 if score.group.kind == "absolute" else 100), abs=0.051
        )
        assert cells[2] == ("yes" if score.on_target else "no")


def test_names_of_groups_wrap_between_words_on_a_narrow_screen(simulator: Simulator) -> None:
    ledger = validate("host_network", figures=MEASURED, simulate=simulator(1.1))
    console = Console(width=64, file=io.StringIO())
    print_table(console, score_table(console, ledger))
    assert isinstance(console.file, io.StringIO)
    words = console.file.getvalue().split()
    assert all(word in words for score in ledger.scores for word in score.group.title.split())


def test_groups_with_rows_below_a_floor_are_named(simulator: Simulator) -> None:
    ledger = validate("host_network", simulate=simulator())
    floored = {row.group for row in ledger.rows if row.floor}
    titles = {score.group.title for score in ledger.scores if score.group.name in floored}
    (line,) = floor_lines(ledger)
    assert floored
    assert set(line.split(" of it in ", 1)[1].split(", ")) == titles
    assert not floor_lines(validate("host_network", figures=MEASURED, simulate=simulator()))


def test_on_a_terminal_it_has_lines_and_bold_type(simulator: Simulator) -> None:
    text = text_of(simulator(), terminal=True)
    assert "\x1b[1m" in text
    assert "─" in text


def test_a_selection_counts_the_rows_that_it_leaves_out() -> None:
    ledger = validate("netsdm", selection="quick")
    all_rows = [value for panel in ledger.study.panels for value in panel.rows()]
    assert 0 < sum(ledger.left_out.values()) == len(all_rows) - len(ledger.rows)
    figures = {value.figure for value in all_rows}
    assert set(ledger.left_out) <= figures
    (line,) = left_out_lines(ledger)
    assert line.startswith("--quick leaves out ")
    assert left_out_lines(replace(ledger, left_out=Counter())) == []

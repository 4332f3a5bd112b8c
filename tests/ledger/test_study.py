"""The data of a study are consistent and define which rows are scored."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from hostnet.ledger.dependencies import points_needed
from hostnet.ledger.errors import LedgerError
from hostnet.ledger.panels import figure_matches, figure_name, with_points
from hostnet.ledger.rows import ledger_rows
from hostnet.ledger.study import Study, load_study, studies_root, study_names
from tests.support import raises_code

OPERATING_POINTS = 6 * 2 + 4 * 6 + 2 + 6


def test_every_row_of_the_scored_panels_has_an_operating_point(study: Study) -> None:
    names = points_needed(study, study.panels)
    assert len(names) == OPERATING_POINTS
    assert names == {point.name for point in study.selections["full"].points}


def test_the_smaller_selections_are_part_of_the_full_one(study: Study) -> None:
    full = {point.name for point in study.selections["full"].points}
    quick = {point.name for point in study.selections["quick"].points}
    demo = {point.name for point in study.selections["demo"].points}
    assert quick < full
    assert demo < full
    assert 10 <= len(quick) <= 14
    assert demo == {name for name in full if not name.startswith("probe")}


def test_exactly_these_points_are_excluded(study: Study) -> None:
    excluded = [
        (panel.name, value.series, value.x)
        for panel in study.panels
        for value in panel.rows()
        if study.exclusion(panel.name, value.series, value.x) is not None
    ]
    expected = [("fig07b_rpq_occupancy", "Without P2M", "1")]
    expected += [("fig08a_c2m_latency", "Without P2M", str(cores)) for cores in range(1, 7)]
    expected += [("fig11_bottom_formula_error_q3", "C2M (Formula)", "6")]
    for series in ("Write HoL", "Top-of-queue"):
        expected += [("fig12e_breakdown_p2m_q3", series, str(cores)) for cores in range(1, 7)]
    assert excluded == expected
    assert all(rule.reason for rule in study.exclusions)


def test_the_figures(study: Study) -> None:
    assert {panel.figure.rstrip("abcdefg") for panel in study.panels} == {"3", "6", "7", "8", "11", "12"}
    assert Counter(panel.figure for panel in study.panels)["3"] == 8


def test_the_constants_of_the_formula_are_those_of_its_authors(study: Study) -> None:
    formula = [series for panel in study.panels for series in panel.series if series.form]
    assert {series.timings["t_trans_ns"] for series in formula} == {2.73}
    errors = [series for series in formula if series.quantity == "formula_error"]
    of_cores = {series.point: series.constant for series in errors if series.domain == "LFB"}
    assert of_cores == {"q1": 71.0, "q2": 71.0, "q4": 71.0, "q3": 81.0}
    assert {series.constant for series in errors if series.domain != "LFB"} == {317.0}
    assert {series.point for series in formula if series.form == "adj-cha"} == {"q4"}


def test_the_tolerances(study: Study) -> None:
    assert {name: (group.kind, group.mean, group.max) for name, group in study.groups.items()} == {
        "bandwidth": ("relative", 0.03, 0.08),
        "c2m-latency": ("relative", 0.03, 0.08),
        "p2m-latency": ("relative", 0.03, 0.10),
        "cha-mc-write": ("relative", 0.15, 0.35),
        "rpq": ("relative", 0.08, 0.20),
        "row-miss": ("relative", 0.08, 0.20),
        "wpq-full": ("absolute", 3.0, 8.0),
        "formula-error": ("absolute", 4.0, 10.0),
        "formula-switching": ("relative", 0.25, 0.25),
        "formula-write-hol": ("relative", 0.25, 0.25),
        "formula-read-hol": ("relative", 0.25, 0.25),
        "formula-top-of-queue": ("relative", 0.25, 0.25),
        "cha-admission": ("relative", 0.25, 0.25),
    }


def test_one_preset_and_no_tuning_per_point(study: Study) -> None:
    selection = study.selections["full"]
    configs = [selection.config(point, study.preset, study.seed) for point in selection.points]
    assert {tuple(config) for config in configs} == {("server", "workload", "run")}
    assert {tuple(config["server"].items()) for config in configs} == {(("preset", "cascade-lake-6234"),)}
    assert len({(config["run"]["seed"], config["run"]["warmup"], config["run"]["duration"]) for config in configs}) == 1


def test_the_configuration_of_a_point(study: Study) -> None:
    selection = study.selections["full"]
    point = next(point for point in selection.points if point.name == "q3:4")
    assert selection.config(point, study.preset, 1)["workload"] == {
        "stream": {"kind": "stream", "cores": "0-3", "reads": 0.0},
        "fio": {"kind": "fio", "job": "quadrant.fio", "cores": "6-7"},
    }


@pytest.mark.parametrize("text", ["7b", "07b", "fig07b", "Fig. 7b", "Figure 7B"])
def test_names_of_figures(text: str) -> None:
    assert figure_name(text) == "7b"


@pytest.mark.parametrize(
    ("figure", "section", "written"),
    [
        ("413a", "Figure 4.13: scale-up", "4.13a"),
        ("49", "Figures 4.9 and 4.10: ping", "4.9"),
        ("table43", "Table 4.3: the way of a packet", "table4.3"),
        ("7b", "Figure 7: latency", "7b"),
        ("413", "Figure 4.1", "413"),
        ("413", "Figure 1.3", "413"),
        ("413", "", "413"),
    ],
)
def test_figures_have_the_points_of_their_section(figure: str, section: str, written: str) -> None:
    assert with_points(figure, section) == written


def test_figures_of_chapters_are_found_with_points_and_without() -> None:
    mcn = load_study("mcn")
    assert {panel.figure for panel in mcn.panels} == {"4.8", "4.9", "table4.3"}
    assert mcn.panels_of(["4.9", "table43"]) == mcn.panels_of(["49", "table4.3"])


def test_a_figure_means_its_panels() -> None:
    assert figure_matches("7", "7b")
    assert figure_matches("7b", "7b")
    assert not figure_matches("7", "17b")
    assert not figure_matches("1", "12a")


def test_a_figure_needs_only_its_points(study: Study) -> None:
    assert points_needed(study, study.panels_of(["6a"])) == {f"c2m-read:{cores}" for cores in range(1, 7)}
    with raises_code("unknown-name | 99 | 11 | 12", LedgerError):
        study.panels_of(["99"])


def test_rows_without_their_points_are_left_out(study: Study) -> None:
    rows = ledger_rows(study, study.panels, {})
    assert {row.verdict for row in rows} == {"context"}
    assert all(row.simulated is None for row in rows)


def test_an_unknown_study_names_those_there_are() -> None:
    assert study_names() == [
        "applications",
        "dctcp",
        "ddio",
        "dist_gem5",
        "host_network",
        "host_network_tcp",
        "hostcc",
        "inceptionn",
        "ioctopus",
        "manycore_ni",
        "mcn",
        "mcn_jobs",
        "memory",
        "ncap",
        "netdimm",
        "netdimm_traces",
        "netsdm",
        "noc",
        "pcie",
        "servers",
    ]
    with raises_code("unknown-name", LedgerError):
        load_study("nonsense")


def test_without_the_studies_the_message_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import hostnet.ledger.study as module

    monkeypatch.setattr(module, "__file__", str(tmp_path / "lib" / "hostnet" / "ledger" / "study.py"))
    with raises_code("file-not-found | lib/hostnet/studies", LedgerError):
        studies_root()


def test_a_broken_study_names_its_file(tmp_path: Path, study: Study) -> None:
    shutil.copytree(study.root, tmp_path / "host_network")
    file = tmp_path / "host_network" / "study.toml"
    file.write_text(file.read_text().replace('group = "rpq"', 'group = "cpq"'))
    with raises_code("malformed-file | study.toml", LedgerError):
        load_study("host_network", tmp_path)

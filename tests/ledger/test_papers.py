"""Papers: the studies of each, and their reproduction as one command."""

from __future__ import annotations

import webbrowser
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from hostnet.ledger import LedgerError, Paper, load_study, open_page, paper_of, papers, reproduce, study_names
from hostnet.ledger.archive import cluster_point_rows
from hostnet.ledger.quantities import Outcome
from tests.support import Cli, assert_tells, raises_code

AGAINST_SIMULATORS = {"memory", "noc", "dctcp"}
"""Studies that compare with other simulators and with laws."""

SMALL = Paper("small", "A Small Paper", ("A. Author",), "A Venue", 2020, ("netsdm", "noc"))


def test_every_study_of_a_paper_belongs_to_exactly_one() -> None:
    count = Counter(study for paper in papers().values() for study in paper.studies)
    assert set(count) == set(study_names()) - AGAINST_SIMULATORS
    assert set(count.values()) == {1}


def test_every_study_of_a_paper_has_a_quick_form() -> None:
    studies = [load_study(study) for paper in papers().values() for study in paper.studies]
    assert [study.name for study in studies if "quick" not in study.selections] == []


def test_an_unknown_paper_names_all() -> None:
    with raises_code(f'unknown-name | did you mean "hostcc" | {", ".join(papers())}', LedgerError):
        paper_of("hostc")


def reproduced(folder: Path, **more: Any) -> tuple[Path, list[str]]:
    """Reproduces the small paper, and returns its page and the lines that were printed."""
    output = StringIO()
    console = Console(file=output, width=140, highlight=False)
    page = reproduce(SMALL, quick=True, out=folder, console=console, **more)
    return page, output.getvalue().splitlines()


def test_a_paper_has_a_table_plots_and_a_page(tmp_path: Path) -> None:
    page, lines = reproduced(tmp_path / "paper")
    plots = sorted((tmp_path / "paper").glob("*/plots/*.png"))
    assert [Path(line) for line in lines[-len(plots) - 1 :]] == [*plots, page]
    rows = {line.split()[0]: line.split()[1:] for line in lines if line.startswith(("netsdm ", "noc "))}
    text = page.read_text(encoding="utf-8")
    for name in SMALL.studies:
        files = {path.name for path in (tmp_path / "paper" / name).iterdir()}
        assert files == {"manifest.json", "summary.json", "points.parquet", "report.html", "plots"}
        assert f'href="{name}/report.html"' in text
        assert rows[name][0].isdecimal()
    assert text.count("<svg") >= len(plots)


def test_a_study_that_is_complete_stays_when_the_next_is_interrupted(tmp_path: Path) -> None:
    from hostnet.ledger.runner import ENGINES

    def simulate(configs: Any, *arguments: Any) -> Any:
        if "noc" in configs[0]:
            raise KeyboardInterrupt
        return ENGINES["cluster"][0](configs, *arguments)

    with pytest.raises(KeyboardInterrupt):
        reproduced(tmp_path / "paper", simulate=simulate)
    assert [path.name for path in (tmp_path / "paper").iterdir()] == ["netsdm"]


def test_a_page_opens_only_on_a_terminal_with_a_display(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    opened: list[str] = []

    def note(address: str) -> bool:
        opened.append(address)
        return True

    monkeypatch.setattr(webbrowser, "open", note)
    for terminal, display in ((False, ":0"), (True, ""), (True, ":0")):
        monkeypatch.setattr("os.isatty", lambda _, terminal=terminal: terminal)
        monkeypatch.setenv("DISPLAY", display)
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        assert open_page(tmp_path / "report.html") == bool(terminal and display)
    assert opened == [(tmp_path / "report.html").as_uri()]


def test_a_server_alone_in_a_study_of_clusters_has_a_row() -> None:
    rows = cluster_point_rows({"alone": Outcome("alone", {"config_hash": "abc"})})
    assert [(row["point"], row["config_hash"], row["class"]) for row in rows] == [("alone", "abc", None)]


def test_the_command_lists_the_papers_and_refuses_a_folder_that_is_not_empty(cli: Cli) -> None:
    assert [line.split()[0] for line in cli("paper").stdout.splitlines() if line[0] != " "] == list(papers())
    assert cli("list", "papers").stdout == cli("paper").stdout
    assert_tells(cli.fails("paper", "hostcc", "--out", cli.folder), "file-access")

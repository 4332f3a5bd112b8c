"""The notebooks run, and each of their results is shown."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest

from hostnet.report.notebook.block import OUTPUT
from scripts import notebooks
from tests.support import raises_code

QUICK = "first_run"
"""The notebook that is executed on every change."""


def parameters() -> list[Any]:
    """Returns the notebooks, all but one as long tests."""
    long = [pytest.param(source, marks=pytest.mark.long) for source in notebooks.SOURCES if source.stem != QUICK]
    return [*(source for source in notebooks.SOURCES if source.stem == QUICK), *long]


@pytest.mark.parametrize("source", parameters(), ids=lambda source: source.stem)
def test_a_notebook_runs_and_shows_its_results(source: Path) -> None:
    cells = [cell for cell in notebooks.executed(source).cells if cell.cell_type == "code"]
    outputs = [output for cell in cells for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "stream" and output.name == "stderr"]
    silent = [cell.source for cell in cells if ends_with_a_value(cell.source) and not cell.outputs]
    assert silent == []
    shown = [output.data["text/html"] for output in outputs if "text/html" in output.get("data", {})]
    assert sum(OUTPUT in html for html in shown) >= 2
    assert not [html for html in shown if "<script" in html]


def ends_with_a_value(code: str) -> bool:
    """Returns True if the last statement of a cell is an expression whose value it shows."""
    last = ast.parse(code).body[-1]
    return isinstance(last, ast.Expr) and not ast.unparse(last).startswith("print(")


def test_there_are_notebooks_for_a_run_a_sweep_and_a_cluster() -> None:
    assert [source.stem for source in notebooks.SOURCES] == ["cluster", "first_run", "sweep"]


@pytest.mark.parametrize("missing", ["jupytext", "nbclient", "ipykernel"])
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with raises_code("missing-package | notebooks | pip install 'hostnet[notebook]'"):
        notebooks.executed(notebooks.SOURCES[0])


def test_a_program_without_the_packages_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "nbformat", None)
    monkeypatch.setattr(sys, "argv", ["notebooks"])
    assert notebooks.main() == 2
    assert capsys.readouterr().err.startswith("error[missing-package]: notebooks: ")

"""The counts in the README and in the pages of studies are those of the ledger."""

from __future__ import annotations

import re
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from hostnet.ledger.pages import read_counts, tables, with_table
from hostnet.ledger.rows import statement_of
from hostnet.ledger.study import load_study, study_names
from hostnet.ledger.tally import tally

ROOT = Path(__file__).resolve().parents[2]

COUNTS = read_counts()


def test_every_study_is_counted() -> None:
    assert list(COUNTS) == study_names()
    for own in COUNTS.values():
        assert 0 <= own["holding"] <= own["targets"]
        assert 0 <= own["passed"] <= own["judged"]
        assert own["judged"] > 0


@pytest.mark.parametrize(("page", "table"), tables(COUNTS).items(), ids=["readme", "validation"])
def test_pages_have_the_counts(page: str, table: str) -> None:
    text = (ROOT / page).read_text()
    assert with_table(text, table) == text


def test_papers_have_studies_once() -> None:
    works = tomllib.loads((ROOT / "studies" / "papers.toml").read_text()).values()
    counted = [study for work in works for study in work["studies"]]
    assert len(counted) == len(set(counted))
    assert set(counted) <= set(study_names())


def test_pages_of_studies_state_no_other_counts() -> None:
    for study, own in COUNTS.items():
        page = (ROOT / "studies" / study / "README.md").read_text()
        stated = re.findall(r"\b(\d+) of (\d+)\*{0,2} rows pass", page)
        stated += [(rows, rows) for rows in re.findall(r"\bAll (\d+) rows pass", page)]
        assert {tuple(map(int, pair)) for pair in stated} <= {(own["passed"], own["judged"])}, study
        held = re.findall(r"\b(\d+) of (\d+) targets hold", page)
        assert {tuple(map(int, pair)) for pair in held} <= {(own["holding"], own["targets"])}, study


@pytest.mark.parametrize(
    "name", [name for name in study_names() if load_study(name).calibrated or load_study(name).unpublished]
)
def test_every_calibrated_pattern_is_of_a_statement(name: str) -> None:
    study = load_study(name)
    statements = {statement_of(study, panel, value) for panel in study.panels for value in panel.rows()}
    for pattern in (*study.calibrated, *study.unpublished):
        assert any(fnmatchcase(statement, pattern) for statement in statements), pattern


def row(statement: str, verdict: str, role: str = "target", error: float | None = None) -> dict[str, Any]:
    """Returns what counts of a row."""
    kind = "relative" if error is not None else "relation"
    return {"statement": statement, "verdict": verdict, "role": role, "kind": kind, "error": error}


def test_statements_hold_if_all_of_their_rows_pass() -> None:
    rows = [
        row("a", "pass", error=-0.02),
        row("a", "fail", error=0.5),
        row("b", "pass", error=0.1),
        row("b", "context", "context"),
        row("c", "pass", "calibrated", 0.9),
        row("c", "pass"),
        row("d", "context", "context"),
        row("e", "skipped"),
        row("f", "pass"),
    ]
    found = tally(rows)
    assert (found.holding, found.targets, found.calibrated, found.context) == (2, 4, 1, 1)
    assert (found.passed, found.judged) == (5, 6)
    assert found.error == 0.1, "a calibrated value is no error"
    assert tally(rows[-1:]).error is None

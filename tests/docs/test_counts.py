"""The counts of passing rows in the README and the pages of studies are those of the ledger."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from scripts import ledger_counts

COUNTS: ledger_counts.Counts = json.loads(ledger_counts.COUNTS.read_text())


def test_every_study_is_counted() -> None:
    assert list(COUNTS) == ledger_counts.studies()
    assert all(0 <= passed <= judged and judged > 0 for passed, judged, _ in COUNTS.values())


@pytest.mark.parametrize("page", ledger_counts.TABLES, ids=lambda page: page.stem)
def test_pages_have_the_counts(page: Path) -> None:
    text = page.read_text()
    assert ledger_counts.with_table(text, ledger_counts.TABLES[page](COUNTS)) == text


def test_the_readme_counts_every_study_once() -> None:
    works = tomllib.loads((ledger_counts.STUDIES / "papers.toml").read_text()).values()
    counted = [study for work in works for study in work["studies"]] + list(ledger_counts.SIMULATORS)
    assert sorted(counted) == ledger_counts.studies()


def test_pages_of_studies_state_no_other_counts() -> None:
    for study, (passed, judged, _) in COUNTS.items():
        page = (ledger_counts.STUDIES / study / "README.md").read_text()
        stated = re.findall(r"\b(\d+) of (\d+)\*{0,2} rows pass", page)
        stated += [(rows, rows) for rows in re.findall(r"\bAll (\d+) rows pass", page)]
        assert {tuple(map(int, pair)) for pair in stated} <= {(passed, judged)}, study


def test_rows_are_counted_by_verdict_and_errors_of_values_alone() -> None:
    rows = [
        {"verdict": verdict, "kind": kind, "error": error}
        for verdict, kind, error in (
            ("pass", "relative", -0.02),
            ("fail", "relative", 0.5),
            ("pass", "relative", 0.1),
            ("fail", "relative", None),
            ("pass", "relation", 0.9),
            ("context", "relative", 0.7),
        )
    ]
    assert ledger_counts.counted(rows) == (3, 5, 0.1)
    assert ledger_counts.counted(rows[-2:]) == (1, 1, None)
    assert ledger_counts.error_text([0.1, None, 0.004]) == "0.4 to 10.0 %"
    assert ledger_counts.error_text([None]) == "-"

"""The counts of passing rows in the README and the pages of studies are those of the ledger."""

from __future__ import annotations

import json
import re

from scripts import ledger_counts

COUNTS: dict[str, list[int]] = json.loads(ledger_counts.COUNTS.read_text())


def test_every_study_is_counted() -> None:
    assert list(COUNTS) == ledger_counts.studies()
    assert all(0 <= passed <= judged and judged > 0 for passed, judged in COUNTS.values())


def test_the_readme_has_the_counts() -> None:
    readme = (ledger_counts.ROOT / "README.md").read_text()
    assert ledger_counts.with_table(readme, COUNTS) == readme


def test_pages_of_studies_state_no_other_counts() -> None:
    for study, (passed, judged) in COUNTS.items():
        page = (ledger_counts.STUDIES / study / "README.md").read_text()
        stated = re.findall(r"\b(\d+) of (\d+)\*{0,2} rows pass", page)
        stated += [(rows, rows) for rows in re.findall(r"\bAll (\d+) rows pass", page)]
        assert {tuple(map(int, pair)) for pair in stated} <= {(passed, judged)}, study

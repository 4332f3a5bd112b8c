"""Counts the rows of the ledger that pass, and writes the counts to `studies/counts.json` and into two pages.

python -m scripts.ledger_counts                 every study
python -m scripts.ledger_counts hostcc netdimm  only these; the others keep their counts
python -m scripts.ledger_counts --table         the pages from the existing counts, without a run

The README has a row for each published work and for each simulator, `docs/validation.md` one for each study.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from scripts.error_cards import write_cards

ROOT = Path(__file__).resolve().parent.parent

STUDIES = ROOT / "studies"

COUNTS = STUDIES / "counts.json"
"""The counts of every study."""

BEGIN, END = "<!-- ledger -->\n", "<!-- /ledger -->"
"""Markers around the table of a page."""

Counts = dict[str, tuple[int, int, float | None]]
"""For each study, the numbers of rows that pass and that are judged, and the median error of values."""


HEADS = "rows within their tolerance | median error of values"

SIMULATORS = {"memory": "Ramulator 2.1 and DRAMsim3", "noc": "BookSim 2", "dctcp": "ns-3, and laws of DCTCP"}
"""Simulators that studies compare hostnet with, in the order of the README."""


def studies() -> list[str]:
    """Returns the names of all studies, sorted."""
    return sorted(file.parent.name for file in STUDIES.glob("*/study.toml"))


def count(study: str) -> tuple[int, int, float | None]:
    """Returns what counts of a study, and writes the error cards if it is that of servers. Takes seconds to minutes."""
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.json"
        command = [str(ROOT / ".venv/bin/hostnet"), "validate", study, "--json", str(rows)]
        subprocess.run(command, cwd=ROOT, check=True)
        found = json.loads(rows.read_text())
    if study == "servers":
        write_cards(found)
    return counted(found)


def counted(rows: Sequence[Mapping[str, Any]]) -> tuple[int, int, float | None]:
    """Returns the numbers of rows that pass and that are judged, and the median error of published values."""
    judged = [row for row in rows if row["verdict"] in ("pass", "fail")]
    errors = [abs(row["error"]) for row in judged if row["kind"] == "relative" and row["error"] is not None]
    passed = sum(row["verdict"] == "pass" for row in judged)
    return passed, len(judged), round(median(errors), 3) if errors else None


def told_of(study: str) -> dict[str, str]:
    """Returns what the head of a study says of it."""
    told: dict[str, str] = tomllib.loads((STUDIES / study / "study.toml").read_text())["study"]
    return told


def links_of(names: Sequence[str]) -> str:
    """Returns links from the README to the pages of studies."""
    return ", ".join(f"[{name}](studies/{name}/README.md)" for name in names)


def error_text(errors: Sequence[float | None]) -> str:
    """Formats the median errors of one study or of several."""
    known = sorted(error for error in errors if error is not None)
    if not known:
        return "-"
    ends = dict.fromkeys(f"{100 * error:.1f}" for error in (known[0], known[-1]))
    return " to ".join(ends) + " %"


def readme_table(counts: Counts) -> str:
    """Returns the counts of works and simulators as a Markdown table."""
    lines = [f"| compared with | studies | {HEADS} |", "|---|---|---|---|"]
    works = tomllib.loads((STUDIES / "papers.toml").read_text()).values()
    rows = [(f"*{work['title']}*, {work['venue']} {work['year']}", work["studies"]) for work in works]
    for name, members in [*rows, *((name, [study]) for study, name in SIMULATORS.items())]:
        passed, judged = sum(counts[study][0] for study in members), sum(counts[study][1] for study in members)
        error = error_text([counts[study][2] for study in members])
        lines.append(f"| {name} | {links_of(members)} | {passed:,} of {judged:,} | {error} |")
    return "\n".join(lines) + "\n"


def page_table(counts: Counts) -> str:
    """Returns the counts of studies as a Markdown table."""
    lines = [f"| study | compared with | {HEADS} |", "|---|---|---|---|"]
    for study in studies():
        told = told_of(study)
        passed, judged, error = counts[study]
        link = f"[{told['title']}](../studies/{study}/README.md)"
        lines.append(f"| {link} | {told['source']} | {passed} of {judged} | {error_text([error])} |")
    return "\n".join(lines) + "\n"


TABLES = {ROOT / "README.md": readme_table, ROOT / "docs/validation.md": page_table}
"""Function that writes the table of each page."""


def with_table(page: str, table: str) -> str:
    """Returns the text of a page with this table."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + "\n" + table + "\n" + END + rest.split(END)[1]


def main(arguments: list[str]) -> None:
    """Counts studies, and writes counts and table after each of them."""
    counts = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    if arguments != ["--table"]:
        for study in arguments or studies():
            counts[study] = count(study)
            lines = (f'  "{name}": {json.dumps(counts[name])}' for name in sorted(counts))
            COUNTS.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    for page, table in TABLES.items():
        page.write_text(with_table(page.read_text(), table(counts)))


if __name__ == "__main__":
    main(sys.argv[1:])

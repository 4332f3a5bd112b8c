"""Counts the rows of the ledger that pass, and writes the counts to `studies/counts.json` and the README.

scripts/ledger_counts.py                 every study
scripts/ledger_counts.py hostcc netdimm  only these; the others keep their counts
scripts/ledger_counts.py --table         the README from the existing counts, without a run
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

STUDIES = ROOT / "studies"

COUNTS = STUDIES / "counts.json"
"""For each study, the numbers of rows that pass and that are judged."""

BEGIN, END = "<!-- ledger -->\n", "<!-- /ledger -->"
"""Markers around the table in the README."""


def studies() -> list[str]:
    """Returns the names of all studies, sorted."""
    return sorted(file.parent.name for file in STUDIES.glob("*/study.toml"))


def count(study: str) -> list[int]:
    """Returns the numbers of rows of a study that pass and that are judged. Takes seconds to minutes."""
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.json"
        command = [str(ROOT / ".venv/bin/hostnet"), "validate", study, "--json", str(rows)]
        subprocess.run(command, cwd=ROOT, check=True)
        verdicts = Counter(row["verdict"] for row in json.loads(rows.read_text()))
    return [verdicts["pass"], verdicts["pass"] + verdicts["fail"]]


def table(counts: dict[str, list[int]]) -> str:
    """Returns the counts as a Markdown table."""
    lines = ["| study | compared with | rows within their tolerance |", "|---|---|---|"]
    for study in studies():
        told = tomllib.loads((STUDIES / study / "study.toml").read_text())["study"]
        passed, judged = counts[study]
        lines.append(f"| [{told['title']}](studies/{study}/README.md) | {told['source']} | {passed} of {judged} |")
    return "\n".join(lines) + "\n"


def with_table(readme: str, counts: dict[str, list[int]]) -> str:
    """Returns the README with the table of these counts."""
    before, rest = readme.split(BEGIN)
    return before + BEGIN + "\n" + table(counts) + "\n" + END + rest.split(END)[1]


def main(arguments: list[str]) -> None:
    """Counts studies, and writes counts and table after each of them."""
    counts = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    if arguments != ["--table"]:
        for study in arguments or studies():
            counts[study] = count(study)
            lines = (f'  "{name}": {json.dumps(counts[name])}' for name in sorted(counts))
            COUNTS.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    readme = ROOT / "README.md"
    readme.write_text(with_table(readme.read_text(), counts))


if __name__ == "__main__":
    main(sys.argv[1:])

"""Keeps what counts of every study in `studies/counts.json`, and writes it into two pages of a checkout.

The README and `docs/validation.md` have a row for each study.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet.files import read_text
from hostnet.ledger.errors import LedgerError
from hostnet.ledger.study import load_study, studies_root, study_names
from hostnet.ledger.tally import tally
from hostnet.units import format_percent

if TYPE_CHECKING:
    from hostnet.ledger.validate import Ledger

BEGIN, END = "<!-- ledger -->\n", "<!-- /ledger -->"
"""Markers around the table of a page."""

HEADS = ("targets that hold", "median error", "seconds")

MORE_HEADS = ("calibrated", "context", "rows within their tolerance")


def checkout() -> Path:
    """Returns the folder of the repository that the studies belong to.

    Raises:
        LedgerError: hostnet was installed without its repository.
    """
    root = studies_root().resolve().parent
    if not (root / "docs" / "validation.md").is_file():
        raise LedgerError("not-supported", "--write: needs a checkout of the repository, installed with make")
    return root


def read_counts() -> dict[str, dict[str, Any]]:
    """Returns what counts of every study, as `counted` does, by the name of the study."""
    counts: dict[str, dict[str, Any]] = json.loads(read_text(studies_root() / "counts.json"))
    return counts


def counted(ledger: Ledger, before: dict[str, Any] | None) -> dict[str, Any]:
    """Returns what counts of a study. The time is that of a validation that ran all points; else that of `before`."""
    found = asdict(tally([row.as_dict() for row in ledger.rows]))
    seconds = round(ledger.batch.wall_time_s) if not ledger.batch.kept else (before or {}).get("seconds")
    return {**found, "seconds": seconds}


def write_counts(counts: dict[str, dict[str, Any]]) -> None:
    """Writes the counts, and the tables of both pages."""
    root = checkout()
    lines = (f'  "{name}": {json.dumps(counts[name])}' for name in sorted(counts))
    (root / "studies" / "counts.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    for name, table in tables(counts).items():
        page = root / name
        page.write_text(with_table(page.read_text(encoding="utf-8"), table), encoding="utf-8")


def write_ledger(ledger: Ledger) -> None:
    """Writes what counts of a study that was validated in full, and the error cards if it is that of servers.

    Raises:
        LedgerError: hostnet was installed without its repository.
    """
    checkout()
    if ledger.study.engine == "curves":
        from hostnet.ledger.card_file import write_cards

        write_cards([row.as_dict() for row in ledger.rows])
    counts = read_counts()
    counts[ledger.study.name] = counted(ledger, counts.get(ledger.study.name))
    write_counts(counts)


def tables(counts: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Returns the table of each page, by the path of the page in the repository."""
    return {"README.md": readme_table(counts), "docs/validation.md": page_table(counts)}


def readme_table(counts: dict[str, dict[str, Any]]) -> str:
    """Returns the counts of all studies as a Markdown table."""
    lines = [row_of("study", "compared with", *HEADS), row_of(*["---"] * 5)]
    for name in study_names():
        link = f"[{name}](studies/{name}/README.md)"
        lines.append(row_of(link, load_study(name).source, *cells_of(counts[name])))
    return "\n".join(lines) + "\n"


def page_table(counts: dict[str, dict[str, Any]]) -> str:
    """Returns the counts of all studies as a Markdown table, with those of other roles and of rows."""
    lines = [row_of("study", *HEADS, *MORE_HEADS), row_of(*["---"] * 7)]
    for name in study_names():
        own = counts[name]
        link = f"[{load_study(name).title}](../studies/{name}/README.md)"
        rows = f"{own['passed']} of {own['judged']}"
        lines.append(row_of(link, *cells_of(own), str(own["calibrated"]), str(own["context"]), rows))
    return "\n".join(lines) + "\n"


def row_of(*cells: str) -> str:
    """Returns a row of a Markdown table."""
    return "|" + "|".join("---" if cell == "---" else f" {cell} " for cell in cells) + "|"


def cells_of(own: dict[str, Any]) -> tuple[str, str, str]:
    """Returns the cells of a study below `HEADS`."""
    error, seconds = own["error"], own["seconds"]
    return (
        f"{own['holding']} of {own['targets']}",
        "-" if error is None else format_percent(error, 1),
        "-" if seconds is None else str(seconds),
    )


def with_table(page: str, table: str) -> str:
    """Returns the text of a page with this table."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + "\n" + table + "\n" + END + rest.split(END)[1]

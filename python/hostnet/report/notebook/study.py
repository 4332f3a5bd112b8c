"""Ledgers as the output of a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.report.html import element
from hostnet.report.notebook.block import block, headline
from hostnet.report.study_page import failing_section, groups_section

if TYPE_CHECKING:
    from pathlib import Path


def study_block(summary: dict[str, Any], verdict: str, page: Path | None) -> str:
    """Returns the output of a cell: the counts, the error of each group of rows, and the rows that fail."""
    study = summary["study"]
    return block(
        headline(str(study["title"]), f"published by {study['source']}"),
        element("p", verdict, class_="verdict"),
        groups_section(summary),
        failing_section(summary),
        page=page,
    )

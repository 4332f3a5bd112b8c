"""Comparisons as the output of a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.report.notebook.block import block, headline, notes_list, small_table
from hostnet.report.numbers import MISSING, with_ci95
from hostnet.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Row = Mapping[str, Any]

RESULTS_MAX = 20
"""Maximum number of results that are shown; they come in descending order of importance."""

TIMES_FROM = 10
"""Smallest relative change that is shown as a factor."""


def comparison_block(
    sides: tuple[str, str], verdict: str, keys: Sequence[tuple[str, Any, Any]], results: Sequence[Row]
) -> str:
    """Returns the output of a cell: the keys and the results that differ between two runs."""
    cells = [[key, value_text(a), value_text(b)] for key, a, b in keys]
    changed = [result_cells(result) for result in results[:RESULTS_MAX]]
    rest = len(results) - RESULTS_MAX
    notes = [f"{rest:,} more results differ; the attribute results has all"] if rest > 0 else []
    if any(result["beyond"] is False for result in results[:RESULTS_MAX]):
        notes.append("~ may be noise: the confidence intervals overlap")
    return block(
        headline("A and B", verdict),
        small_table(["configuration", f"A: {sides[0]}", f"B: {sides[1]}"], cells, texts=3),
        small_table(["result", "", "A", "B", "change"], changed, texts=2),
        notes_list(notes),
    )


def result_cells(result: Row) -> list[str]:
    """Formats the cells of a result."""
    sides = (value_text(result[name], result[f"ci95_{name}"]) for name in ("a", "b"))
    return [result["subject"], result["column"], *sides, change_text(result["change"], result["beyond"])]


def change_text(change: float | None, beyond: bool | None) -> str:
    """Formats a relative change, and marks one that may be noise."""
    if change is None:
        return MISSING
    text = format_percent(change, 1, sign="+") if change < TIMES_FROM else f"x {1 + change:,.0f}"
    return f"~{text}" if beyond is False else text


def value_text(value: Any, ci95: float | None = None) -> str:
    """Formats a value of the configuration or a result."""
    if isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool)):
        return with_ci95(value, ci95)
    return MISSING if value is None else str(value)

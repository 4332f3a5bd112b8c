"""Sections on the page of a comparison with the results that differ: as bars to both sides, and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.comparison.selection import first_of_each_table, without_repetitions
from hostnet.comparison.words import both_values, change_label, column_words, title_of, unit_of, value_texts
from hostnet.glossary import column_meaning
from hostnet.report.changes import Change, change_rows, change_span
from hostnet.report.html import Cell, Child, Html, element, section
from hostnet.report.html import table as html_table
from hostnet.report.numbers import MISSING, exact_text, number
from hostnet.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.comparison.differences import ResultDifference

CHANGES_MAX = 20
"""Maximum number of changes that are drawn."""

PER_CARD = 10
"""Number of changes in a card."""

RESULTS_MAX = 200
"""Maximum number of results in the table."""

TEXT_MAX = 24
"""Longest text in a cell that does not wrap, in characters."""

SMALL = 1e-3
"""Changes below this fraction are only in the table."""

NOTE = (
    "Changes from A to B as ratios on a logarithmic axis, the most important results first. "
    "Lines are the sums of both 95 % confidence intervals. Faint bars and ~ mark changes that may be noise."
)


def changes_section(differences: Sequence[ResultDifference]) -> Html | None:
    """Creates the bars of the most important changes; None if no number changed its size."""
    numbers = [each for each in without_repetitions(differences) if ratio_of(each) is not None]
    shown = [change_of(each) for each in first_of_each_table(numbers, CHANGES_MAX)]
    if not shown:
        return None
    span = change_span(shown)
    cards = [
        element("div", change_rows("Changes from A to B", shown[start : start + PER_CARD], span), class_="card")
        for start in range(0, len(shown), PER_CARD)
    ]
    return section("What changed", element("div", *cards, class_="pair"), note=NOTE)


def ratio_of(difference: ResultDifference) -> float | None:
    """Returns B over A; None unless both are positive numbers that differ noticeably."""
    if difference.change is None or difference.a <= 0 or difference.b <= 0 or abs(difference.change) < SMALL:
        return None
    return float(difference.b / difference.a)


def change_of(difference: ResultDifference) -> Change:
    """Returns the bar of a difference."""
    ratio = ratio_of(difference) or 1.0
    half = ((difference.ci95_a or 0.0) * ratio + (difference.ci95_b or 0.0)) / difference.a
    certain = difference.beyond is not False
    label = change_label(ratio, certain=certain)
    return Change(title_of(difference), both_values(difference), ratio, ratio - half, ratio + half, label, certain)


def results_section(differences: Sequence[ResultDifference]) -> Html | None:
    """Creates the table of the results that differ; None without any."""
    shown = without_repetitions(differences)[:RESULTS_MAX]
    if not shown:
        return None
    heads = [
        Cell("table"),
        Cell("subject"),
        Cell("result", "column"),
        Cell("A", "a\tci95_a"),
        Cell("B", "b\tci95_b"),
        Cell("change"),
        Cell("", ""),
    ]
    hidden = len(differences) - len(shown)
    rest = element("p", f"{hidden:,} more: hostnet compare --json", class_="note below") if hidden > 0 else None
    table = html_table(heads, [result_cells(each) for each in shown], text_columns=3, label="Results")
    return section("Results", element("div", table, class_="long"), rest)


def result_cells(difference: ResultDifference) -> Sequence[Cell]:
    """Creates the cells of a result."""
    a, b, unit = value_texts(difference)
    change = MISSING if difference.change is None else format_percent(difference.change, 1, "+")
    return [
        Cell(difference.table),
        Cell(element("span", difference.subject, class_="name")),
        Cell(
            ", ".join(filter(None, (column_words(difference.column)[0], unit))),
            difference.column,
            about=column_meaning(difference.table, difference.column),
        ),
        Cell(value_cell(a, difference.ci95_a, difference), copied(difference, "a")),
        Cell(value_cell(b, difference.ci95_b, difference), copied(difference, "b")),
        Cell(change, exact_text(difference.change)),
        Cell("may be noise" if difference.beyond is False else None, ""),
    ]


def value_cell(text: str, ci95: float | None, difference: ResultDifference) -> Child:
    """Formats a value with the half-width of its interval; a long text wraps."""
    if len(text) > TEXT_MAX:
        return element("span", text, class_="name")
    return text if ci95 is None else f"{text} \u00b1 {number(ci95 * unit_of(difference)[1], 2)}"


def copied(difference: ResultDifference, side: str) -> str:
    """Returns the exact value and interval of a run, for copying."""
    return f"{exact_text(getattr(difference, side))}\t{exact_text(getattr(difference, f'ci95_{side}'))}"

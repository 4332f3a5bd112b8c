"""Output of `hostnet run` for hosts on a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from hostnet.cli.show import (
    NOTHING,
    buffered_console,
    headline,
    new_table,
    number,
    percent,
    print_items,
    print_notes,
    print_path,
    print_tables,
)
from hostnet.notes import notes_of
from hostnet.units import format_rate, is_small_rate

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hostnet.processes.effort import Shares
    from hostnet.running.results import Results
    from hostnet.terminal.layout import WideTable
    from hostnet.view import View


def print_cluster(results: Results, path: Path) -> None:
    """Prints the results of a cluster; the last line is the path of its directory."""
    from hostnet.cluster_view import cluster_views, limit_reasons, reason_text

    summary = results.summary
    with buffered_console() as console:
        console.print(Text(headline(summary), style="bold"))
        for view in cluster_views(summary, results.rows("flows")):
            print_tables(console, view_table(view))
        print_items(console, "*", [reason_text(*reason) for reason in limit_reasons(summary)])
        print_notes(console, notes_of(summary))
        if results.timing.shares is not None:
            console.print(_effort(results.timing.processes, results.timing.shares))
        print_path(console, path)


def _effort(processes: int, shares: Shares) -> str:
    """Describes the breakdown of the wall-clock time of the processes."""
    return (
        f"{processes} processes: {percent(shares.work)} of their time was work, {percent(shares.imbalance)} waiting "
        f"for the one with most to do, {percent(shares.meeting)} went to {shares.meetings} meetings."
    )


ROWS_MAX = 12
"""Maximum number of rows of a table on the screen; the tables of the run directory have all rows."""


def view_table(view: View) -> WideTable:
    """Creates the table of a view with its first rows."""
    first, *others = view.columns
    left = tuple(index for index, column in enumerate(view.columns) if column.text)
    table = new_table(first.heading, *(column.heading for column in others), left=left)
    for cells in view.cells(ROWS_MAX):
        table.add_row(*_row_of(cells, view))
    if len(view.rows) > ROWS_MAX:
        table.hide_rows(f'{len(view.rows) - ROWS_MAX} more rows of "{view.title}"', view.table)
    return table


def _row_of(cells: Sequence[Any], view: View) -> list[str]:
    """Formats the cells of a row; a row of zeros reads "nothing"."""
    numbers = [index for index, column in enumerate(view.columns) if not column.text]
    texts = [_cell(cell, column.unit) for cell, column in zip(cells, view.columns, strict=True)]
    if len(numbers) > 1 and all(cells[index] in (None, 0) for index in numbers):
        for index in numbers:
            texts[index] = "nothing" if index == numbers[0] else ""
    return texts


def _cell(value: Any, unit: str | None) -> str:
    """Formats a cell."""
    if is_small_rate(value, unit):
        return format_rate(value, str(unit))
    if isinstance(value, str | int):
        return str(value).replace("µ", "u")
    return NOTHING if value is None else number(value)

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
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from hostnet.processes.effort import Shares
    from hostnet.running.results import Results, Timing
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
            print_items(console, "note:", slower_notes(results.timing), "yellow")
        print_path(console, path)


def _effort(processes: int, shares: Shares) -> str:
    """Describes the breakdown of the wall-clock time of the processes."""
    return (
        f"{processes} processes: {percent(shares.work)} of their time was work, {percent(shares.imbalance)} waiting "
        f"for the one with most to do, {percent(shares.meeting)} went to {shares.meetings} meetings."
    )


SLOWER_S_MIN = 1.0
"""Shortest wall-clock time of a run that is compared with that of a single process, in s."""


def slower_notes(timing: Timing) -> list[str]:
    """Returns a note if a single process would have taken less time than several did."""
    if timing.shares is None or timing.wall_time_s < SLOWER_S_MIN:
        return []
    alone_s = timing.shares.alone_s / timing.threads
    if alone_s >= timing.wall_time_s:
        return []
    return [
        f"{timing.processes} processes took {timing.wall_time_s:.1f} s, and one would take about {alone_s:.1f} s: "
        "leave out --processes"
    ]


ROWS_MAX = 12
"""Maximum number of rows of a table on the screen; the tables of the run directory have all rows."""

FEW = 8
"""Largest number of rows that are all shown."""

FOLDED_MAX = 1000
"""Maximum number of rows that are compared with each other."""

FOLD_MIN = 3
"""Least number of equal rows that are shown as one."""


def view_table(view: View) -> WideTable:
    """Creates the table of a view with its first rows."""
    first, *others = view.columns
    left = tuple(index for index, column in enumerate(view.columns) if column.text)
    table = new_table(first.heading, *(column.heading for column in others), left=left)
    every = [_row_of(cells, view) for cells in view.cells(FOLDED_MAX)]
    rows = list(fold_equal_rows(every, left)) if len(every) > FEW else [(1, row) for row in every]
    for _, row in rows[:ROWS_MAX]:
        table.add_row(*row)
    hidden = len(view.rows) - sum(count for count, _ in rows[:ROWS_MAX])
    if hidden:
        table.hide_rows(f'{hidden} more rows of "{view.title}"', view.table)
    return table


def fold_equal_rows(rows: Iterable[list[str]], texts: Sequence[int]) -> Iterator[tuple[int, list[str]]]:
    """Yields each row and how many it stands for: adjacent rows that differ in a single name become one."""
    group: list[list[str]] = []
    for row in rows:
        if group and not _same_but_one([*group, row], texts):
            yield from _folded(group)
            group = []
        group.append(row)
    yield from _folded(group)


def _same_but_one(rows: Sequence[list[str]], texts: Sequence[int]) -> bool:
    """Returns True if rows are equal in all columns but one of text."""
    differing = [index for index, cells in enumerate(zip(*rows, strict=True)) if len(set(cells)) > 1]
    return len(differing) == 1 and differing[0] in texts


def _folded(group: Sequence[list[str]]) -> Iterator[tuple[int, list[str]]]:
    """Yields the rows of a group, or one row that counts them if they are many."""
    if len(group) < FOLD_MIN:
        yield from ((1, row) for row in group)
        return
    others = f" and {len(group) - 1} more"
    yield (
        len(group),
        [cells[0] if len(set(cells)) == 1 else f"{cells[0]}{others}" for cells in zip(*group, strict=True)],
    )


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
        return str(value)
    return NOTHING if value is None else number(value)

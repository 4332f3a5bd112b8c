"""Formats of numbers and tables on the screen."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from hostnet.terminal.console import Screen
from hostnet.terminal.layout import WideTable, wrapped_text
from hostnet.terminal.screen import screen_width
from hostnet.units import format_percent, format_rate, format_time, is_small_rate, unit_of_rate, without_negative_zero

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rich.console import Console

    Row = dict[str, Any]

DECIMALS_MAX = 2
"""Maximum number of digits after the decimal point."""

NOTHING = "-"
"""Placeholder for a missing value."""


@contextmanager
def buffered_console() -> Iterator[Console]:
    """Yields a console whose text is written to stdout at the end: coloured on a terminal, else plain."""
    console = Screen() if sys.stdout.isatty() else Screen(color_system=None)
    console.width = screen_width()
    with console.capture() as capture:
        yield console
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def headline(summary: Row) -> str:
    """Returns the name, seed and duration of a run."""
    parts = [
        str(summary["name"]),
        f"seed {summary['seed']}",
        f"{time_text(summary['window_ns'])} measured {_warm_up_text(summary['warm_up_ns'])}",
    ]
    return ", ".join(parts)


def _warm_up_text(warm_up_ns: float) -> str:
    """Describes the warm-up before the measurement."""
    return f"after {time_text(warm_up_ns)} of warm-up" if warm_up_ns else "without warm-up"


def new_table(*headings: str, left: Sequence[int], names: int = 1) -> WideTable:
    """Creates a table of numbers; the columns in `left` are text, and the first `names` columns identify a row."""
    table = WideTable(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1), header_style="bold", show_edge=False)
    table.names = names
    for index, heading in enumerate(headings):
        table.add_column(heading, justify="left" if index in left else "right")
    return table


def print_tables(console: Console, *tables: Table) -> None:
    """Prints tables with an empty line before each."""
    for table in tables:
        for part in table.fitted(console.width) if isinstance(table, WideTable) else [table]:
            console.print()
            console.print(part)


def print_items(console: Console, mark: str, lines: Sequence[str], style: str = "") -> None:
    """Prints paragraphs with a mark and a hanging indent, after an empty line."""
    if not lines:
        return
    grid = Table.grid(padding=(0, 1, 0, 0))
    room = console.width - len(mark) - 1
    for line in lines:
        grid.add_row(Text(mark, style=style), Text(wrapped_text(line, room), style=style))
    console.print()
    console.print(grid)


def print_notes(console: Console, lines: Sequence[str]) -> None:
    """Prints notes on the validity of the results."""
    print_items(console, "note:", lines, "yellow")


def print_path(console: Console, path: Path) -> None:
    """Prints a path on a line of its own, without breaking it."""
    console.print()
    console.print(str(path), soft_wrap=True)


def number(value: float | None, least: int = 0) -> str:
    """Formats a value with at least three digits, `least` of them after the decimal point."""
    if value is None:
        return NOTHING
    return "0" if value == 0 else without_negative_zero(f"{value:.{max(decimals(value), least)}f}")


def decimals(value: float) -> int:
    """Returns the number of digits after the decimal point for a value of this size."""
    magnitude = abs(value)
    return 0 if magnitude >= 100 else 1 if magnitude >= 10 else DECIMALS_MAX


def with_interval(value: float | None, half_width: float | None, least: int = 0) -> str:
    """Formats a mean and the half-width of its 95 % confidence interval, with at least `least` decimals."""
    if value is None or half_width is None:
        return number(value, least)
    digits = max(decimals(value), least)
    if 0 < half_width < 10.0**-digits:
        digits = max(digits, min(digits + 1, DECIMALS_MAX))
    return f"{without_negative_zero(f'{value:.{digits}f}')} ±{half_width:.{digits}f}"


def rate(row: Row, column: str, interval: str | None = None) -> str:
    """Formats a rate with its confidence interval, in the unit of its column, or in a smaller one if it is small."""
    value, half_width = row[column], None if interval is None else row[interval]
    unit = unit_of_rate(column)
    if unit is not None and is_small_rate(value, unit):
        return format_rate(value, unit, half_width)
    return with_interval(value, half_width)


def percent(share: float | None) -> str:
    """Formats a fraction in percent."""
    return NOTHING if share is None else format_percent(share, 1)


def change_text(change: float | None) -> str:
    """Formats a relative change with its sign."""
    return NOTHING if change is None else format_percent(change, 1, "+")


def time_text(time_ns: float) -> str:
    """Formats a simulated time."""
    return format_time(time_ns * 1000)

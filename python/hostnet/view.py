"""Tables for people: a few columns of the tables of a run, with headings that people read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hostnet.units import unit_of_rate

Row = Mapping[str, Any]
Read = Callable[[Row], Any]


@dataclass(frozen=True)
class Column:
    """A column: its heading, and what it shows of a row."""

    heading: str
    read: Read
    text: bool = False
    always: bool = False
    """Whether it is shown when no row has anything there."""
    unit: str | None = None
    """The unit of a rate, whose prefix does not suit small ones."""


@dataclass(frozen=True)
class View:
    """A table for people. `about` says how to read it, and `table` names the file of the run that has all rows."""

    title: str
    about: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    table: str | None = None

    def cells(self, rows_max: int | None = None) -> list[list[Any]]:
        """What stands in each row, or in the first ones."""
        return [[column.read(row) for column in self.columns] for row in self.rows[:rows_max]]

    def without_empty(self) -> View:
        """The same without the columns, after the first, that say nothing in any row."""
        told = [
            column.always or any(column.read(row) not in (None, 0, 0.0, "") for row in self.rows)
            for column in self.columns
        ]
        kept = [
            column for index, (column, said) in enumerate(zip(self.columns, told, strict=True)) if said or not index
        ]
        return replace(self, columns=kept)


def name_of(heading: str, key: str) -> Column:
    """A column of text."""
    return Column(heading, lambda row: row[key], text=True)


def plain(heading: str, key: str) -> Column:
    """A column as it stands in the table."""
    return Column(heading, lambda row: row[key], unit=unit_of_rate(key))


def maybe(heading: str, key: str) -> Column:
    """A column that not every row has."""
    return Column(heading, lambda row: row.get(key))


def percent(heading: str, key: str) -> Column:
    """A share of one, in percent."""
    return Column(heading, lambda row: None if row[key] is None else 100 * row[key])


def part(heading: str, key: str, whole: str) -> Column:
    """One column as percent of another."""
    return Column(heading, lambda row: 100 * (row[key] or 0) / row[whole] if row.get(whole) else None)

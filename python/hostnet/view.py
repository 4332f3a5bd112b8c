"""Tables for readers: some columns of the result tables of a run, with readable headings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hostnet.glossary import column_meaning, heading_definition
from hostnet.units import unit_of_rate

Row = Mapping[str, Any]
Read = Callable[[Row], Any]


@dataclass(frozen=True)
class Column:
    """A column: its heading, and how its cell is read from a row."""

    heading: str
    read: Read
    text: bool = False
    always: bool = False
    """True if the column is shown even when all its cells are empty."""
    unit: str | None = None
    """Unit of a rate that may need a smaller prefix."""
    key: str | None = None
    """Column of the result table that defines it."""
    about: str | None = None
    """Definition of a column that no result table has."""


@dataclass(frozen=True)
class View:
    """A table for readers. `about` explains it, and `table` names the file of the run that holds all rows.

    `source` names the result table that defines its columns, if that is another one.
    """

    title: str
    about: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    table: str | None = None
    source: str | None = None

    def definition(self, column: Column) -> str | None:
        """Returns the definition of a column."""
        table = self.source or self.table
        known = None if table is None or column.key is None else column_meaning(table, column.key)
        return column.about or known or heading_definition(column.heading)

    def cells(self, rows_max: int | None = None) -> list[list[Any]]:
        """Returns the cells of all rows, or of the first `rows_max`."""
        return [[column.read(row) for column in self.columns] for row in self.rows[:rows_max]]

    def without_empty(self) -> View:
        """Returns the view without columns whose cells are all empty or zero; the first column stays."""
        has_values = [
            column.always or any(column.read(row) not in (None, 0, 0.0, "") for row in self.rows)
            for column in self.columns
        ]
        kept = [
            column
            for index, (column, has_value) in enumerate(zip(self.columns, has_values, strict=True))
            if has_value or not index
        ]
        return replace(self, columns=kept)


def text_column(heading: str, key: str) -> Column:
    """Creates a column of text."""
    return Column(heading, lambda row: row[key], text=True, key=key)


def value_column(heading: str, key: str) -> Column:
    """Creates a column with the values of the result table."""
    return Column(heading, lambda row: row[key], unit=unit_of_rate(key), key=key)


def optional_column(heading: str, key: str) -> Column:
    """Creates a column of a key that some rows lack."""
    return Column(heading, lambda row: row.get(key), key=key)


def defined_column(heading: str, key: str, about: str) -> Column:
    """Creates a column of values that no result table has, with its definition."""
    return replace(value_column(heading, key), about=about)


def percent_column(heading: str, key: str) -> Column:
    """Creates a column of a fraction, in percent."""
    return Column(heading, lambda row: None if row[key] is None else 100 * row[key], key=key)


def ratio_column(heading: str, key: str, whole: str) -> Column:
    """Creates a column of the ratio of two columns, in percent."""
    return Column(heading, lambda row: 100 * (row[key] or 0) / row[whole] if row.get(whole) else None, key=key)

"""Table of the points on the page of a sweep, to whose rows the points of the charts link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.comparison.differences import INTERVALS
from hostnet.glossary import heading_definition
from hostnet.report.html import Cell, Child, Html, element, section
from hostnet.report.html import table as html_table
from hostnet.report.numbers import MISSING, exact_text, number, with_ci95
from hostnet.report.subjects import SUBJECTS, subject_of
from hostnet.sweeps.series import COUNT, is_too_few
from hostnet.terminal.layout import short_paths
from hostnet.units import format_si

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.sweeps.axis import Axis
    from hostnet.sweeps.page import SweepPage
    from hostnet.sweeps.page_charts import Link
    from hostnet.sweeps.series import Choice

    Row = dict[str, Any]

ROWS_MAX = 400
"""Maximum number of rows on the page; the others are only in the file."""

MORE_COLUMNS = {
    "requests": COUNT,
    "cores W": "cores_w",
    "all W": "energy_w",
    "energy per byte": "pj_per_byte",
    "iteration µs": "iteration_us",
}
"""Headings and columns that are shown only if they have values."""

LONG = 40
"""Largest number of rows that are all visible; more are scrolled."""

NAME_MAX = 20
"""Longest name that does not wrap, in characters."""

PJ = 1e-12


def shown_columns(names: Sequence[str]) -> set[str]:
    """Returns the columns of a table that its rows on the page show, beside those of the swept parameters."""
    subject = subject_of(names)
    columns = {*SUBJECTS[subject].values(), *MORE_COLUMNS.values()}
    intervals = {INTERVALS[column] for column in columns & INTERVALS.keys()}
    return {"point", "seed", "config_hash", "limited_by", "limited_at", *columns, *intervals} & set(names)


def row_id(row: Row, subject: str) -> str:
    """Returns the name of the place of a row on the page."""
    return f"point-{row['point']}-{row[subject]}".replace(" ", "-")


def shown_rows(content: SweepPage) -> list[Row]:
    """Returns the rows that the page shows."""
    rows: list[Row] = content.table.slice(length=ROWS_MAX).to_pylist()
    return rows


def links_of(content: SweepPage, axes: Sequence[Axis]) -> Link:
    """Returns the function that finds the row of a workload at a combination of the plotted parameters."""
    subject = subject_of(content.table.column_names)
    places = [{value: index for index, value in enumerate(axis.columns)} for axis in axes]
    known: dict[tuple[str, Choice], str] = {}
    for row in shown_rows(content):
        choice = tuple(place[row[axis.path]] for axis, place in zip(axes, places, strict=True))
        known.setdefault((row[subject], choice), row_id(row, subject))
    return lambda workload, choice: known.get((workload, choice))


def points_section(content: SweepPage) -> Html:
    """Creates the table: the values of each point, its results, and its limit."""
    rows = shown_rows(content)
    subject = subject_of(content.table.column_names)
    paths = [axis.path for axis in content.axes]
    seed = ["seed"] if content.manifest["seeds"] else []
    columns = {**SUBJECTS[subject], **MORE_COLUMNS}
    columns = {title: name for title, name in columns.items() if any(row.get(name) is not None for row in rows)}
    texts = ["point", *short_paths(paths, [*seed, subject, *columns]), *seed, subject, "limited by"]
    keys = ["point", *paths, *seed, subject, "limited_by"]
    titles = [Cell(title, key, about=heading_definition(key)) for title, key in zip(texts, keys, strict=True)]
    heads = [
        *titles,
        *(Cell(title, "\t".join(copied(name))) for title, name in columns.items()),
        Cell("run", "config_hash"),
    ]
    names = (*paths, *seed, subject)
    cells = [row_cells(row, names, list(columns.values()), row_id(row, subject)) for row in rows]
    hidden = content.table.num_rows - len(rows)
    rest = element("p", f"{hidden:,} more rows are in sweep.parquet.", class_="note") if hidden else None
    table = html_table(heads, cells, text_columns=len(texts), label="Points")
    return section("Points", element("div", table, class_="long") if len(rows) > LONG else table, rest, note=NOTE)


NOTE = "Each point of a chart links to its row. The last column is the hash of the configuration of its run."


def row_cells(row: Row, names: Sequence[str], columns: Sequence[str], name: str) -> list[Child | Cell]:
    """Creates the cells of a row: its point, values and subject, its limit, its results, and its configuration."""
    return [
        Cell(element("span", str(row["point"]), id=name), str(row["point"])),
        *(name_cell(str(row[key])) for key in names),
        Cell(element("span", limit_text(row), class_="sources"), exact_text(row["limited_by"])),
        *(value_cell(row, column) for column in columns),
        Cell(element("code", row["config_hash"][:8]), row["config_hash"]),
    ]


def name_cell(name: str) -> Html:
    """Creates the cell of a name, which wraps if it is long."""
    return element("span", name, class_="name" if len(name) > NAME_MAX else None)


def copied(column: str) -> tuple[str, ...]:
    """Returns the columns that a copy of a column has."""
    return (column, *filter(None, [INTERVALS.get(column)]))


def value_cell(row: Row, column: str) -> Cell:
    """Creates the cell of a result with its interval."""
    return Cell(value_text(row, column), "\t".join(exact_text(row.get(name)) for name in copied(column)))


def value_text(row: Row, column: str) -> str:
    """Formats a result."""
    value = row.get(column)
    if value is None or is_too_few(column, row.get(COUNT)):
        return MISSING
    if column == "pj_per_byte":
        return format_si(value * PJ, "J")
    return with_ci95(value, row.get(INTERVALS.get(column, ""))) if column in INTERVALS else number(value)


def limit_text(row: Row) -> str:
    """Names the limit of a row and its place."""
    return ", ".join(filter(None, (row["limited_by"], row.get("limited_at")))) or MISSING

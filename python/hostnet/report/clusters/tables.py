"""Section with the tables of a cluster, which are folded; rows without any value other than zero are folded again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.cluster_view import cluster_views, limit_reasons
from hostnet.glossary import column_meaning
from hostnet.report.html import Cell, Html, details, element, section, table
from hostnet.report.numbers import MISSING, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.report.load import Row, RunFiles
    from hostnet.view import View

ROWS_MAX = 100
"""Maximum number of rows of a table that are shown; writing thousands takes longer than a short run."""

OPEN = ("Traffic", "Request latencies", "Jobs", "Services")
"""Titles of the tables that are open at first: the results that a reader compares."""

RAW = (
    *("classes", "latencies", "services", "stages", "hosts", "memory", "queues", "drops", "control", "limits"),
    *("jobs", "steps", "path", "power", "power_states", "energy", "efficiency"),
)
"""Tables of the summary whose columns are all shown on demand."""


def tables_section(run: RunFiles) -> Html:
    """Creates the section."""
    summary = run.summary
    views = cluster_views(summary, run.flows)
    folded = [limits_table(summary), *(folded_view(view) for view in views)]
    return section("Tables", *folded, all_columns(summary))


def limits_table(summary: Row) -> Html | None:
    """Creates the table of the limit of each class; None without any."""
    found = limit_reasons(summary)
    if not found:
        return None
    goodput = {row["class"]: row["goodput_gbps"] for row in summary["classes"]}
    rows = [
        [name, number(goodput.get(name)), limit, element("span", why, class_="reason")] for name, limit, why in found
    ]
    title = "What limits it"
    return details(title, table(["class", "Gbps", "limited by", "why"], rows, text_columns=4, label=title))


def folded_view(view: View) -> Html:
    """Creates the folded table of a view."""
    about = element("p", view.about, class_="note")
    content = [about, *view_tables(view)]
    return details(view.title, *content, opened=view.title in OPEN)


def view_section(view: View) -> Html:
    """Creates a section with the table of a view."""
    return section(view.title, *view_tables(view), note=view.about)


def view_tables(view: View) -> list[Html]:
    """Creates the table of a view, and a folded one of the rows that have no value other than zero."""
    rows = view.cells(ROWS_MAX)
    numbers = [index for index, column in enumerate(view.columns) if not column.text]
    empty = [all(not row[index] for index in numbers) for row in rows]
    if not numbers or all(empty):
        empty = [False] * len(rows)
    shown = [row for row, is_empty in zip(rows, empty, strict=True) if not is_empty]
    hidden = [row for row, is_empty in zip(rows, empty, strict=True) if is_empty]
    parts = [view_table(view, shown), omitted_text(len(view.rows))]
    if hidden:
        parts.append(details(f"{len(hidden)} rows of zeros", view_table(view, hidden)))
    return [part for part in parts if part is not None]


def view_table(view: View, rows: Sequence[Sequence[Any]]) -> Html:
    """Creates a table with some rows of a view."""
    texts = sum(column.text for column in view.columns)
    headings = [Cell(column.heading, about=view.definition(column)) for column in view.columns]
    return table(headings, [[cell_text(cell) for cell in row] for row in rows], text_columns=texts, label=view.title)


def omitted_text(rows: int) -> Html | None:
    """Says how many rows are not shown."""
    if rows <= ROWS_MAX:
        return None
    return element("p", f"{rows - ROWS_MAX} more rows are in the tables beside this page.", class_="note")


def all_columns(summary: Row) -> Html:
    """Creates the folded tables with every column of the summary."""
    shown = [(name, summary[name]) for name in RAW if summary.get(name)]
    tables = [details(name, raw_table(name, rows[:ROWS_MAX]), omitted_text(len(rows))) for name, rows in shown]
    return details("All columns", *tables)


def raw_table(title: str, rows: Sequence[Row]) -> Html:
    """Creates a table with all columns of some rows."""
    known = list(dict.fromkeys(name for row in rows for name in row))
    texts = [name for name in known if any(isinstance(row.get(name), str) for row in rows)]
    names = texts + [name for name in known if name not in texts]
    cells = [[cell_text(row.get(name)) for name in names] for row in rows]
    headings = [Cell(name.replace("_", " "), about=column_meaning(title, name)) for name in names]
    return table(headings, cells, text_columns=len(texts), label=title)


def cell_text(value: Any) -> str:
    """Formats a cell."""
    if value is None:
        return MISSING
    if isinstance(value, str):
        return value
    # Five decimals suffice: a queue of a millionth of a packet is shown as 0.
    return number(round(value, 5) if isinstance(value, float) else value)

"""Output of `hostnet run` for a server, and the tables of a server on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from hostnet import server_view
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
    rate,
    with_interval,
)
from hostnet.notes import notes_of
from hostnet.pools import with_directions
from hostnet.server_columns import TEXTS, Column, Format

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from rich.console import Console

    from hostnet.server_view import ServerTable
    from hostnet.terminal.layout import WideTable

    Row = dict[str, Any]


def print_run(
    summary: Row, path: Path | None, predicted: Row | None = None, queues: Mapping[str, int] | None = None
) -> None:
    """Prints the summary of a run, and its prediction if given; the last line is the path, if given.

    `queues` has the number of commands that each storage workload starts with.
    """
    with buffered_console() as console:
        console.print(Text(headline(summary), style="bold"))
        print_workloads(console, summary, queues or {})
        tables = [*server_view.cache_tables(summary), server_view.domain_table(summary)]
        tables.append(server_view.channel_table(summary))
        if "upi" in summary:
            tables.append(server_view.link_table(summary))
        if "dies" in summary:
            tables.append(server_view.mesh_table(summary))
        if "tiering" in summary:
            tables.append(server_view.tiering_table(summary))
        print_tables(console, *map(screen_table, tables))
        if "dies" in summary:
            console.print(fullest_mesh_link(summary["mesh"]))
        if "energy" in summary:
            from hostnet.cli.show_cluster import view_table
            from hostnet.energy_view import efficiency_view, energy_view

            views = (energy_view(summary["energy"]), efficiency_view(summary["efficiency"]))
            print_tables(console, *(view_table(view.without_empty()) for view in views))
        if "power" in summary:
            from hostnet.cli.show_cluster import view_table
            from hostnet.power_view import power_view

            print_tables(console, view_table(power_view(summary).without_empty()))
        print_items(console, "*", [with_directions(limit) for limit in summary["limits"]])
        print_notes(console, notes_of(summary))
        if predicted is not None:
            from hostnet.cli.predict import print_disagreement

            print_disagreement(console, summary, predicted)
        if path is not None:
            print_path(console, path)


def print_workloads(console: Console, summary: Row, queues: Mapping[str, int]) -> None:
    """Prints the tables of workloads, and the window that storage workloads need."""
    for table in server_view.workload_tables(summary):
        print_tables(console, screen_table(table))
        if table.title == "I/O requests":
            from hostnet.cli.show_storage import recommended_windows

            windows = recommended_windows(table.rows, summary["window_ns"] or 0.0, queues)
            print_items(console, "*", windows)


def fullest_mesh_link(rows: Sequence[Row]) -> str:
    """Describes the most loaded link of the meshes."""
    rings = ("lines", "requests", "acknowledgements")
    shares = [(row[f"{ring}_busy_share"], ring, row) for row in rows for ring in rings]
    share, ring, row = max(shares, key=lambda found: found[0], default=(0.0, "lines", None))
    if row is None:
        return "nothing went over the mesh"
    where = f"column {row['column']} row {row['row']} {row['side']}"
    return f"fullest link of the mesh: {ring}, {where}, busy {percent(share)}"


def screen_table(table: ServerTable) -> WideTable:
    """Creates the table on the screen, without columns that have no value."""
    columns = [column for column in table.columns if column.screen is not None and table.filled(column)]
    left = [index for index, column in enumerate(columns) if column.format in TEXTS]
    shown = new_table(*(str(column.screen) for column in columns), left=left)
    for row in table.rows if table.screen_rows is None else table.screen_rows:
        if row.get("idle"):
            cells = [SHOW[columns[0].format](row, columns[0]), *[""] * (len(columns) - 1)]
            cells[table.idle_index] = "idle"
        else:
            cells = [SHOW[column.format](row, column) for column in columns]
        shown.add_row(*cells)
    return shown


def with_separators(value: float | None, half_width: float | None) -> str:
    """Formats a rate with its confidence interval, with thousands separators if it is large."""
    if value is None or value < 1000:
        return with_interval(value, half_width)
    return f"{value:,.0f}" + ("" if half_width is None else f" ±{half_width:,.0f}")


def part_of(row: Row, column: Column) -> str:
    """Formats a number and its maximum, if that is known."""
    value, whole = row[column.key], row.get(str(column.whole))
    if whole is None:
        return number(value)
    return f"{number(value)} of {whole if isinstance(whole, int) else number(whole)}"


SHOW: Mapping[Format, Callable[[Row, Column], str]] = {
    Format.TEXT: lambda row, column: str(row[column.key] or column.missing),
    Format.DOMAIN: lambda row, _: str(row["label"]),
    Format.NUMBER: lambda row, column: rate(row, column.key),
    Format.INTERVAL: lambda row, column: rate(row, column.key, column.ci95),
    Format.LARGE: lambda row, column: with_separators(row.get(column.key), row.get(str(column.ci95))),
    Format.COUNT: lambda row, column: f"{row[column.key] or 0:,}",
    Format.EXACT: lambda row, column: f"{row[column.key]:.2f}",
    Format.SHARE: lambda row, column: percent(row[column.key]),
    Format.BUSY: lambda row, column: percent(row[column.key]),
    Format.MICROSECONDS: lambda row, column: number(None if (ns := row.get(column.key)) is None else ns / 1000),
    Format.SECONDS: lambda row, column: NOTHING if (s := row.get(column.key)) is None else f"{number(s)} s",
    Format.OF: part_of,
}
"""Function of each format that shows a cell on the screen."""

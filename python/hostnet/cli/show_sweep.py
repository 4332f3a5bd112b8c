"""Table of `hostnet sweep`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from hostnet.cli.show import (
    NOTHING,
    buffered_console,
    new_table,
    percent,
    print_notes,
    print_path,
    print_tables,
    rate,
)
from hostnet.comparison.differences import INTERVALS
from hostnet.limit_names import limit_notes
from hostnet.report.subjects import SUBJECTS, subject_of
from hostnet.sweeps.gaps import gap_notes
from hostnet.sweeps.outcome import headline
from hostnet.sweeps.series import COUNT, is_too_few
from hostnet.terminal.layout import short_paths
from hostnet.units import format_si

if TYPE_CHECKING:
    from pathlib import Path

    from hostnet.terminal.layout import WideTable

    Row = dict[str, Any]

ROWS_MAX = 40
"""Maximum number of rows that are printed."""


MORE_COLUMNS = {"cores W": "cores_w", "W": "energy_w", "energy per byte": "pj_per_byte", "iteration µs": "iteration_us"}
"""Headings and columns that are shown only if they have values."""


def print_sweep(manifest: Row, path: Path) -> None:
    """Prints the rows of a sweep; the last line is the path of its directory."""
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path / "sweep.parquet")
    rows = next(file.iter_batches(ROWS_MAX)).to_pylist()
    hidden = file.metadata.num_rows - len(rows)
    swept = [axis["path"] for axis in manifest["over"]]
    gaps = gap_notes(file.read(["class", *swept, COUNT]), swept) if COUNT in file.schema_arrow.names else []
    notes = [*gaps, *manifest["notes"], *([f"{hidden} more rows are in sweep.parquet"] if hidden else [])]
    with buffered_console() as console:
        console.print(Text(headline(manifest), style="bold"))
        whole = sweep_table(manifest, rows, intervals=True)
        fits = len(whole.fitted(console.width)) == 1
        print_tables(console, whole if fits else sweep_table(manifest, rows))
        print_notes(console, [*limit_notes(row["limited_by"] for row in rows), *notes])
        print_path(console, path)


def sweep_table(manifest: Row, rows: list[Row], *, intervals: bool = False) -> WideTable:
    """Creates the table of the points: swept values, and the results of each workload, class or chip.

    With `intervals`, results have their confidence intervals.
    """
    paths = [axis["path"] for axis in manifest["over"]]
    seed = ["seed"] if manifest["seeds"] else []
    subject = subject_of(rows[0] if rows else ())
    columns = {**SUBJECTS[subject], **MORE_COLUMNS}
    columns = {title: name for title, name in columns.items() if any(row.get(name) is not None for row in rows)}
    jobs = "iteration_us" in columns.values()
    names = [*seed, subject]
    headings = short_paths(paths, [*names, *columns])
    table = new_table(*headings, *names, *columns, left=(len(paths) + len(seed),), names=len(paths) + len(names))
    table.add_column("limited by")
    if jobs:
        table.add_column("path at")
    for row in rows:
        limit = ", ".join(filter(None, (row["limited_by"], row.get("limited_at"))))
        table.add_row(
            *(str(row[name]) for name in (*paths, *seed, subject)),
            *(_cell(column, row, intervals) for column in columns.values()),
            limit or NOTHING,
            *([path_text(row)] if jobs else []),
        )
    return table


def _cell(column: str, row: Row, intervals: bool) -> str:
    """Formats a cell."""
    value = row[column]
    if is_too_few(column, row.get(COUNT)):
        return NOTHING
    if intervals and column in INTERVALS:
        return rate({INTERVALS[column]: None, **row}, column, INTERVALS[column])
    if column == "pj_per_byte" and value is not None:
        return format_si(value * 1e-12, "J")
    return rate(row, column)


def path_text(row: Row) -> str:
    """Describes the host with the largest share of the critical path of a job."""
    return NOTHING if row["path_host"] is None else f"{row['path_host']}, {percent(row['path_share'])}"

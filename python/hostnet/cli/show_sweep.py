"""The table that `hostnet sweep` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from hostnet.cli.show import NOTHING, new_table, number, page, percent, print_notes, print_path, print_tables
from hostnet.report.subjects import SUBJECTS, subject_of
from hostnet.sweeps.outcome import headline

if TYPE_CHECKING:
    from pathlib import Path

    from rich.table import Table

    Row = dict[str, Any]

ROWS_MAX = 40
"""More rows are not printed."""


def print_sweep(manifest: Row, path: Path) -> None:
    """Prints the rows of a sweep; the last line is the path of its directory."""
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path / "sweep.parquet")
    rows = next(file.iter_batches(ROWS_MAX)).to_pylist()
    hidden = file.metadata.num_rows - len(rows)
    notes = [*manifest["notes"], *([f"{hidden} more rows are in sweep.parquet"] if hidden else [])]
    with page() as console:
        console.print(Text(headline(manifest), style="bold"))
        print_tables(console, sweep_table(manifest, rows))
        print_notes(console, notes)
        print_path(console, path)


def sweep_table(manifest: Row, rows: list[Row]) -> Table:
    """What was swept, and what each workload, class of traffic or chip had of it."""
    paths = [axis["path"] for axis in manifest["over"]]
    seed = ["seed"] if manifest["seeds"] else []
    subject = subject_of(rows[0] if rows else ())
    columns = {**SUBJECTS[subject], "W": "cores_w", "iteration us": "iteration_us"}
    columns = {title: name for title, name in columns.items() if any(row.get(name) is not None for row in rows)}
    jobs = "iteration_us" in columns.values()
    table = new_table(*paths, *seed, subject, *columns, left=(len(paths) + len(seed),))
    table.add_column("limited by")
    if jobs:
        table.add_column("path at")
    for row in rows:
        limit = ", ".join(filter(None, (row["limited_by"], row.get("limited_at"))))
        table.add_row(
            *(str(row[name]) for name in (*paths, *seed, subject)),
            *(number(row[column]) for column in columns.values()),
            limit or NOTHING,
            *([path_words(row)] if jobs else []),
        )
    return table


def path_words(row: Row) -> str:
    """The host that most of the path of a job is at, and how much of it."""
    return NOTHING if row["path_host"] is None else f"{row['path_host']}, {percent(row['path_share'])}"

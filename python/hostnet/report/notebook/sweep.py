"""Results of a sweep as the output of a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.report.notebook.block import ROWS_MAX, block, headline, notes_list, small_table
from hostnet.report.notebook.run import WORKLOADS, workload_cells
from hostnet.report.numbers import number
from hostnet.report.subjects import SUBJECTS, subject_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from hostnet.report.html import Html

    Row = Mapping[str, Any]


def sweep_block(
    title: str,
    paths: Sequence[str],
    table: pa.Table,
    charts: Sequence[Html | None],
    notes: Sequence[str],
    page: Path | None,
) -> str:
    """Returns the output of a cell: charts, the first rows with the swept values, and notes."""
    name, _, facts = title.partition(": ")
    columns, texts = columns_of(paths, table.column_names)
    cells = [cells_of(row, paths) for row in table.slice(length=ROWS_MAX).to_pylist()]
    rows = small_table(columns, cells, texts=texts, total=table.num_rows)
    return block(headline(name, facts), *charts, rows, notes_list(notes), page=page)


def columns_of(paths: Sequence[str], names: Sequence[str]) -> tuple[list[str], int]:
    """Returns the headings of the rows of a sweep, and how many of them are of text."""
    subject = subject_of(names)
    shown = WORKLOADS if subject == "workload" else (subject, *SUBJECTS[subject])
    return [*paths, *shown], len(paths) + 1


def cells_of(row: Row, paths: Sequence[str]) -> list[str]:
    """Formats a row: the swept values, then those of the workload, class or chip."""
    swept = [str(row[path]) for path in paths]
    subject = subject_of(row)
    if subject == "workload":
        return [*swept, *workload_cells(row)]
    return [*swept, row[subject], *(number(row[column]) for column in SUBJECTS[subject].values())]

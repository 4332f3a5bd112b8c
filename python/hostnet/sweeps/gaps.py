"""Notes on points of a sweep at which there was nothing to measure, or too little."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.cluster_view import TAIL
from hostnet.report.subjects import subject_of
from hostnet.sweeps.series import COUNT
from hostnet.terminal.layout import short_paths

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    Row = dict[str, Any]

P99 = "p99_us"

NAMED_MAX = 4
"""Maximum number of points that a note names; it counts the others."""


def gap_notes(table: pa.Table, paths: Sequence[str]) -> list[str]:
    """Returns notes on classes that answered no request at some points, or too few for a percentile.

    `paths` are the columns of the swept parameters.
    """
    subject = subject_of(table.column_names)
    if COUNT not in table.column_names:
        return []
    rows: list[Row] = table.select([subject, *paths, COUNT]).to_pylist()
    return [note for name in dict.fromkeys(row[subject] for row in rows) for note in _notes(name, subject, rows, paths)]


def _notes(name: str, subject: str, rows: Sequence[Row], paths: Sequence[str]) -> Iterator[str]:
    """Yields the notes on a class."""
    own = [row for row in rows if row[subject] == name and row[COUNT] is not None]
    silent = [row for row in own if not row[COUNT]]
    if silent and len(silent) < len(own):
        yield f"{name}: no request was answered at {_points(silent, paths)}; its rates and latencies there mean nothing"
    heading, least = TAIL[P99]
    few = [row for row in own if 0 < row[COUNT] < least]
    if few:
        lowest = min(row[COUNT] for row in few)
        missing = f"{lowest} of {least}" if len(few) == 1 else f"as few as {lowest} of {least}"
        yield f"{name}: too few requests for {heading} at {_points(few, paths)} ({missing}); use a longer run.duration"


def _points(rows: Sequence[Row], paths: Sequence[str]) -> str:
    """Names the points of some rows by the values of their parameters."""
    names = short_paths(paths)
    # Points that differ only in their seed have the same name.
    points = dict.fromkeys(
        " and ".join(f"{name}={row[path]}" for name, path in zip(names, paths, strict=True)) for row in rows
    )
    named = list(points)[:NAMED_MAX]
    others = [f"{len(points) - NAMED_MAX} more points"] if len(points) > NAMED_MAX else []
    return ", ".join([*named, *others])

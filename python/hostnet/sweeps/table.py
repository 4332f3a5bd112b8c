"""Tables of a sweep, in the order of its points."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from hostnet.sweeps.outcome import EXTRAS, MEMORY_COLUMNS
from hostnet.tables import PARQUET

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import pyarrow as pa

    from hostnet.sweeps.job import Job
    from hostnet.sweeps.journal import Journal
    from hostnet.sweeps.outcome import Outcome, Types

    Columns = dict[str, list[Any]]

POINTS_PER_BATCH = 1024
"""Points per row group, which bounds the memory for any number of points."""

OMITTED_COLUMNS = {"domains": ("part",)}
"""Columns that are constant because a sweep stores the domains of the whole server."""


def write_table(job: Job, journal: Journal, name: str, path: Path) -> None:
    """Writes the table `traffic` or `domains`, with the swept values at the start of every row.

    Raises:
        OSError: The table cannot be written.
    """
    import pyarrow.parquet as pq

    schema = _schema(job, journal, name)
    with pq.ParquetWriter(path, schema, **PARQUET) as writer:
        for start in range(0, len(job.grid), POINTS_PER_BATCH):
            points = range(start, min(start + POINTS_PER_BATCH, len(job.grid)))
            writer.write_table(_table(job, map(journal.outcome, points), journal.types, name, schema))


def table_of(job: Job, journal: Journal, points: Iterable[int]) -> pa.Table:
    """Returns the table `traffic` of some points that are finished."""
    points = list(points)
    schema = _schema(job, journal, "traffic", points[0])
    return _table(job, map(journal.outcome, points), journal.types, "traffic", schema)


def write_tables(job: Job, journal: Journal, folder: Path) -> list[str]:
    """Writes all other result tables into a new folder, with the swept values at the start of every row.

    Returns the names of the tables.

    Raises:
        OSError: A table cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schemas = {name: _with_axes(job, types) for name, types in _types_of_tables(job, journal).items()}
    axes = [(axis.path, axis.columns) for axis in job.grid.axes]
    with ExitStack() as stack:
        writers = {
            name: stack.enter_context(pq.ParquetWriter(folder / f"{name}.parquet", schema, **PARQUET))
            for name, schema in schemas.items()
        }
        for start in range(0, len(job.grid), POINTS_PER_BATCH):
            rows: dict[str, list[dict[str, Any]]] = {name: [] for name in schemas}
            for point in range(start, min(start + POINTS_PER_BATCH, len(job.grid))):
                outcome = journal.outcome(point)
                ahead = _leading_values(job, outcome, axes)
                for name, table in outcome["tables"].items():
                    rows[name] += (ahead | dict(zip(table["types"], row, strict=True)) for row in table["rows"])
            for name, writer in writers.items():
                writer.write_table(pa.Table.from_pylist(rows[name], schema=schemas[name]))
    return list(schemas)


def _types_of_tables(job: Job, journal: Journal) -> dict[str, dict[str, str]]:
    """Returns the columns of the tables of all points, and their types."""
    found: dict[str, dict[str, str]] = {}
    for point in range(len(job.grid)):
        for name, table in journal.outcome(point)["tables"].items():
            found.setdefault(name, {}).update(table["types"])
    return found


def _with_axes(job: Job, types: dict[str, Any]) -> pa.Schema:
    """Returns the schema of a table with the swept values at the start."""
    import pyarrow as pa

    axes = {axis.path: pa.array(axis.columns[:1]).type for axis in job.grid.axes}
    first = {"point": "int64", **axes, "seed": "uint64", "engine": "string", "config_hash": "string"}
    columns: Any = {**first, "result_hash": "string", **types}
    return pa.schema(
        [(column, pa.type_for_alias(kind) if isinstance(kind, str) else kind) for column, kind in columns.items()]
    )


def _schema(job: Job, journal: Journal, name: str, point: int = 0) -> pa.Schema:
    """Returns the schema of the table `traffic` or `domains`, as a finished point has it."""
    types: Any = _kept(journal.types, name)
    if name == "traffic":
        types.update(journal.types["caches"])
        types.update({column: EXTRAS[column] for column in journal.outcome(point)["extras"]})
        types.update({f"memory_{column}": kind for column, kind in journal.types["memory"].items()})
    return _with_axes(job, types)


def _table(job: Job, outcomes: Iterable[Outcome], types: Types, name: str, schema: pa.Schema) -> pa.Table:
    """Returns the rows of some points."""
    import pyarrow as pa

    axes = [(axis.path, axis.columns) for axis in job.grid.axes]
    columns: Columns = {column: [] for column in schema.names}
    for outcome in outcomes:
        ahead = _leading_values(job, outcome, axes)
        behind = _trailing_values(outcome) if name == "traffic" else {}
        caches = outcome["caches"] if name == "traffic" else [[]] * len(outcome[name])
        for row, cached in zip(_rows(outcome, types, name), caches, strict=True):
            of_caches = dict(zip(types["caches"], cached, strict=False))
            for column, value in (ahead | row | of_caches | behind).items():
                columns[column].append(value)
    return pa.table(columns, schema=schema)


def _leading_values(job: Job, outcome: Outcome, axes: list[tuple[str, list[Any]]]) -> dict[str, Any]:
    """Returns the columns at the start of the rows of a point."""
    point = outcome["point"]
    choice = job.grid.choice(point)
    return {
        "point": point,
        **{path: values[index] for (path, values), index in zip(axes, choice, strict=False)},
        "seed": outcome["seed"],
        "engine": job.engine,
        "config_hash": job.checked.hashes[point],
        "result_hash": outcome["result_hash"],
    }


def _trailing_values(outcome: Outcome) -> dict[str, Any]:
    """Returns the columns at the end of the rows of a point."""
    memory = zip(MEMORY_COLUMNS, outcome["memory"], strict=False)
    return {**outcome["extras"], **{f"memory_{column}": value for column, value in memory}}


def _rows(outcome: Outcome, types: Types, name: str) -> Iterator[dict[str, Any]]:
    """Yields the rows of a point."""
    for values in outcome[name]:
        row = dict(zip(types[name], values, strict=True))
        yield {column: row[column] for column in _kept(types, name)}


def _kept(types: Types, name: str) -> dict[str, str]:
    """Returns the columns that a sweep stores, and their types."""
    return {column: kind for column, kind in types[name].items() if column not in OMITTED_COLUMNS.get(name, ())}

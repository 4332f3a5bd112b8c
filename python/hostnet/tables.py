"""The tables of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow as pa

    from hostnet._core import RunResult

TABLES = ("workloads", "domains", "channels")
"""The tables that every run has; `caches`, `upi`, `mesh` and `mesh_ways` come with them where there are any, `series`
when asked for."""

PARQUET: dict[str, Any] = {"version": "2.6", "compression": "zstd", "compression_level": 3, "write_statistics": True}
"""How tables are written: equal tables give equal bytes."""


def build_table(native: RunResult, name: str) -> pa.Table:
    """Makes an Arrow table of what the simulator hands over.

    The simulator knows the types, so that a column of nulls has the same type in every run.
    """
    import pyarrow as pa

    columns, types = native.table(name), native.column_types(name)
    arrays = [pa.array(values, type=pa.type_for_alias(types[column])) for column, values in columns.items()]
    return pa.Table.from_arrays(arrays, names=list(columns))


def rows_of(native: RunResult, name: str) -> list[dict[str, Any]]:
    """The rows of a table of the simulator."""
    columns = native.table(name)
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def write_parquet(table: pa.Table, path: str) -> None:
    """Writes a table so that equal tables give equal bytes."""
    import pyarrow.parquet as pq

    pq.write_table(table, path, **PARQUET)


def write_csv(table: pa.Table, path: str) -> None:
    """Writes a table as comma-separated values with a header; a null is an empty field."""
    import pyarrow.csv as csv

    csv.write_csv(table, path)


def to_pandas(table: pa.Table) -> pandas.DataFrame:
    """A table as a pandas data frame.

    Raises:
        ImportError: pandas is not installed.
    """
    try:
        frame: pandas.DataFrame = table.to_pandas()
    except ModuleNotFoundError as error:
        raise ImportError("to_pandas needs pandas: pip install pandas") from error
    return frame


def to_polars(table: pa.Table) -> polars.DataFrame:
    """A table as a polars data frame.

    Raises:
        ImportError: polars is not installed.
    """
    try:
        import polars
    except ModuleNotFoundError as error:
        raise ImportError("to_polars needs polars: pip install polars") from error
    frame = polars.from_arrow(table)
    assert isinstance(frame, polars.DataFrame)
    return frame

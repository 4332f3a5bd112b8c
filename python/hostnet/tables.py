"""Result tables of a run."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from hostnet import _core
from hostnet.errors import MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas
    import polars
    import pyarrow as pa

    from hostnet._core import RunResult, TableInfo

    Row = dict[str, Any]
    Key = tuple[str | int, ...]

TABLES = ("workloads", "domains", "channels")
"""Tables that every run has. `caches`, `upi`, `mesh`, `mesh_ways` and `tiering` exist if the server has such parts,
`series` on request."""

ROWS_MAX = 10_000
"""Tables with up to this many rows are compared row by row; only tables of flows have more."""

PARQUET: dict[str, Any] = {"version": "2.6", "compression": "zstd", "compression_level": 3, "write_statistics": True}
"""Options of Parquet files with which equal tables give equal bytes."""


def build_table(native: RunResult, name: str) -> pa.Table:
    """Builds an Arrow table from a table of the simulator.

    The simulator supplies the types, so that a column of nulls has the same type in every run.
    """
    import pyarrow as pa

    columns, types = native.table(name), native.column_types(name)
    arrays = [pa.array(values, type=pa.type_for_alias(types[column])) for column, values in columns.items()]
    return pa.Table.from_arrays(arrays, names=list(columns))


def table_rows(native: RunResult, name: str) -> list[dict[str, Any]]:
    """Returns the rows of a table of the simulator."""
    columns = native.table(name)
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


@cache
def table_info() -> Mapping[str, TableInfo]:
    """Returns the description of each result table of any run, in descending order of importance."""
    return _core.table_info()


def result_tables() -> list[str]:
    """Returns the names of the tables that are compared between runs, in descending order of importance."""
    return [name for name, info in table_info().items() if info["results"]]


def key_columns(name: str, row: Mapping[str, Any]) -> list[str]:
    """Returns the columns that identify a row of a table; with several servers, the host comes first."""
    keys = table_info()[name]["keys"]
    return ["host", *keys] if "host" in row and "host" not in keys else list(keys)


def rows_by_key(name: str, rows: Iterable[Row]) -> dict[Key, Row]:
    """Indexes the rows of a table by their keys; from the second on, rows with equal keys get a number."""
    found: dict[Key, Row] = {}
    counts: dict[Key, int] = {}
    for row in rows:
        key = tuple(row[column] for column in key_columns(name, row))
        counts[key] = counts.get(key, 0) + 1
        found[key if counts[key] == 1 else (*key, counts[key])] = row
    return found


def summary_rows(summary: Mapping[str, Any], name: str) -> list[Row]:
    """Returns the rows of a table in a summary; rows of its servers start with the name of the host."""
    rows: list[Row] = list(summary.get(name, ()))
    for host, server in summary.get("servers", {}).items():
        rows += ({"host": host, **row} for row in server.get(name, ()))
    return rows


def all_rows(name: str, summary: Mapping[str, Any], rows: Iterable[Row]) -> list[Row]:
    """Returns the rows of a table, including those that the summary omits."""
    found = rows_by_key(name, summary_rows(summary, name))
    for key, row in rows_by_key(name, rows).items():
        # A summary omits columns that do not apply to a row.
        values = {column: value for column, value in row.items() if value is not None or key not in found}
        found[key] = {**found.get(key, {}), **values}
    return list(found.values())


def write_parquet(table: pa.Table, path: str) -> None:
    """Writes a Parquet file; equal tables give equal bytes."""
    import pyarrow.parquet as pq

    pq.write_table(table, path, **PARQUET)


def write_csv(table: pa.Table, path: str) -> None:
    """Writes a table as comma-separated values with a header; a null is an empty field.

    Text that spreadsheets would evaluate as a formula, even in quotes, is prefixed with an apostrophe.
    """
    import pyarrow.csv as csv

    csv.write_csv(_without_formulas(table), path)


FORMULA = r"^[=+\-@\t\r]."
"""Matches text that spreadsheets would evaluate as a formula."""


def _without_formulas(table: pa.Table) -> pa.Table:
    """Prefixes an apostrophe to text that spreadsheets would evaluate as a formula."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for at, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if pa.types.is_string(column.type):
            formula = pc.match_substring_regex(column, FORMULA)
            if pc.any(formula).as_py():
                quoted = pc.binary_join_element_wise("'", column, "")
                table = table.set_column(at, name, pc.if_else(formula, quoted, column))
    return table


class HasTable(Protocol):
    """Results with one table."""

    @property
    def table(self) -> pa.Table:
        """The table."""


class TableMethods:
    """Conversions of results with one table."""

    def to_pandas(self: HasTable) -> pandas.DataFrame:
        """Returns the table as a pandas data frame.

        Raises:
            MissingPackageError: pandas is not installed.
        """
        return to_pandas(self.table)

    def to_polars(self: HasTable) -> polars.DataFrame:
        """Returns the table as a polars data frame.

        Raises:
            MissingPackageError: polars is not installed.
        """
        return to_polars(self.table)


def table_of_rows(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Builds an Arrow table from rows; columns that some rows lack are null there."""
    import pyarrow as pa

    names = list(dict.fromkeys(name for row in rows for name in row))
    return pa.table({name: [row.get(name) for row in rows] for name in names})


def to_pandas(table: pa.Table) -> pandas.DataFrame:
    """Converts a table to a pandas data frame.

    Raises:
        MissingPackageError: pandas is not installed.
    """
    try:
        frame: pandas.DataFrame = table.to_pandas()
    except ModuleNotFoundError as error:
        raise MissingPackageError("to_pandas", "pandas") from error
    return frame


def to_polars(table: pa.Table) -> polars.DataFrame:
    """Converts a table to a polars data frame.

    Raises:
        MissingPackageError: polars is not installed.
    """
    try:
        import polars
    except ModuleNotFoundError as error:
        raise MissingPackageError("to_polars", "polars") from error
    frame = polars.from_arrow(table)
    assert isinstance(frame, polars.DataFrame)
    return frame

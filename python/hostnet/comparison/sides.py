"""One side of a comparison: a run that was read from a directory or has just been executed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.files import read_object, read_table
from hostnet.multi_run import reject_multi_run
from hostnet.tables import ROWS_MAX, TABLES, all_rows, key_columns, result_tables, table_info

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from hostnet.running.results import Results

    Row = dict[str, Any]

FORMAT = 1
"""Format of manifest.json and summary.json that this version reads."""

MANIFEST = {
    "version": str,
    "seed": int,
    "complete": bool,
    "config_hash": str,
    "simulated_ns": (int, float),
    "config": dict,
}
"""Required keys of manifest.json and their types."""

SUMMARY = {"config_hash": str, "workloads": list, "domains": list, "channels": list}
"""Required keys of summary.json of a server, and their types."""

SUMMARY_OF_HOSTS = {"config_hash": str, "classes": list, "servers": dict}
"""Required keys of summary.json of hosts on a network, and their types."""

WINDOW_ONLY = ("warm_up_ns", "window_ns", "lines")
"""Measured keys of summary.json beside the tables; all others depend on how the configuration is written."""


@dataclass(frozen=True)
class Side:
    """One of the two runs of a comparison."""

    label: str
    """Name that the user gave the run."""
    version: str
    """Version of hostnet that executed the run."""
    seed: int
    """Seed of the run."""
    complete: bool
    """True if the run reached its planned end."""
    config_hash: str
    """Hash of the configuration, including the seed."""
    simulated_ns: float
    """Simulated time, in ns."""
    config: dict[str, Any] = field(repr=False)
    """Complete configuration."""
    summary: dict[str, Any] = field(repr=False)
    """Content of summary.json."""
    tables: dict[str, list[dict[str, Any]]] = field(repr=False)
    """Rows of every result table."""
    epochs: tuple[tuple[int, int], ...] = field(repr=False)
    """End in ps and hash of the state, for every epoch."""

    @property
    def measured(self) -> dict[str, Any]:
        """All measured values."""
        return {**{key: self.summary.get(key) for key in WINDOW_ONLY}, **self.tables}

    @property
    def servers(self) -> dict[str, dict[str, Any]]:
        """Summary of each server, by host; without a network, the key is ""."""
        servers: dict[str, dict[str, Any]] = self.summary.get("servers", {"": self.summary})
        return servers

    @property
    def simulated(self) -> bool:
        """True if the results come from a simulation; False for a prediction, which has no events."""
        return str(self.summary.get("engine", "run")) != "predict"

    def to_dict(self) -> dict[str, Any]:
        """Returns the run in the format of `hostnet compare --json`."""
        keys = ("label", "version", "seed", "complete", "config_hash", "simulated_ns")
        return {"name": self.config.get("run", {}).get("name"), **{key: getattr(self, key) for key in keys}}


def side_of(results: Results, label: str) -> Side:
    """Returns the results of a run as one side of a comparison."""
    return Side(
        label=label,
        version=_version(),
        seed=results.plan.seed,
        complete=results.complete,
        config_hash=results.plan.hash,
        simulated_ns=results.native.simulated_ps / 1000,
        config=json.loads(results.plan.effective_json()),
        summary=results.summary,
        tables=_tables_of(results),
        epochs=_epochs(results.epochs),
    )


def read_side(path: Path) -> Side:
    """Reads a run directory.

    Raises:
        ConfigError: The folder is no run directory, is damaged or incomplete, or has another format.
        OSError: A file cannot be read.
    """
    reject_multi_run(path)
    if not path.is_dir():
        raise FileNotFoundError(f"{path}: is neither a run directory nor a configuration file")
    if not (path / "manifest.json").is_file():
        raise ConfigError("wrong-kind", f"{path}: is not a run directory (it has no manifest.json)")
    names = ("manifest.json", "summary.json", *(f"{table}.parquet" for table in (*TABLES, "epochs")))
    missing = [name for name in names if not (path / name).is_file()]
    if missing:
        raise ConfigError(
            "malformed-file", f"{path}: is not a whole run directory: {', '.join(missing)} missing; run it again"
        )
    manifest = _read_object(path / "manifest.json", MANIFEST)
    of_hosts = "host" in manifest["config"]
    summary = _read_object(path / "summary.json", SUMMARY_OF_HOSTS if of_hosts else SUMMARY)
    if summary["config_hash"] != manifest["config_hash"]:
        raise ConfigError("other-configuration", f"{path}: manifest.json and summary.json are of different runs")
    return Side(
        label=str(path),
        summary=summary,
        tables=_read_tables(path, summary),
        epochs=_read_epochs(path / "epochs.parquet"),
        **{key: manifest[key] for key in MANIFEST},
    )


def _read_object(path: Path, needed: dict[str, Any]) -> dict[str, Any]:
    """Reads a JSON file and checks its format and required keys."""
    content = read_object(path)
    if "format" not in content:
        raise ConfigError("malformed-file", f"{path}: was not written by hostnet run (it names no format)")
    if content["format"] != FORMAT:
        raise ConfigError(
            "other-version", f"{path}: has format {content['format']}; this version reads format {FORMAT}"
        )
    for key, kind in needed.items():
        if not isinstance(content.get(key), kind):
            raise ConfigError("malformed-file", f'{path}: is damaged: "{key}" is missing or of another type')
    return content


def _tables_of(results: Results) -> dict[str, list[Row]]:
    """Returns the rows of the tables of a run of this process."""
    found = {}
    for name in result_tables():
        rows = results.rows(name)
        if len(rows) > ROWS_MAX:
            rows = _hashed_row(name, results.native.parquet(name))
        found[name] = all_rows(name, results.summary, rows)
    return {name: rows for name, rows in found.items() if rows}


def _read_tables(path: Path, summary: Row) -> dict[str, list[Row]]:
    """Reads the rows of the tables of a run directory, and checks that every row can be identified."""
    found = {}
    for name in result_tables():
        file = path / f"{name}.parquet"
        _check_rows(path / "summary.json", name, summary)
        rows: list[Row] = []
        if file.is_file():
            table = read_table(file)
            many = table.num_rows > ROWS_MAX
            rows = _hashed_row(name, file.read_bytes()) if many else table.to_pylist()
            _check_rows(file, name, {name: rows})
        found[name] = all_rows(name, summary, rows)
    return {name: rows for name, rows in found.items() if rows}


def _hashed_row(name: str, content: bytes) -> list[Row]:
    """Returns a single row with a hash, for a table with too many rows."""
    return [{**dict.fromkeys(table_info()[name]["keys"], "all"), "hash": hashlib.sha256(content).hexdigest()}]


def _check_rows(path: Path, name: str, tables: Row) -> None:
    """Checks that every row of a table has the columns that identify it."""
    places = [tables, *tables.get("servers", {}).values()]
    if not all(isinstance(place, dict) and _have_keys(name, place.get(name, [])) for place in places):
        raise ConfigError("malformed-file", f"{path}: is damaged: a row of {name} lacks the columns that identify it")


def _have_keys(name: str, rows: Any) -> bool:
    """Returns True if every row has the columns that identify it."""
    return isinstance(rows, list) and all(
        isinstance(row, dict) and all(isinstance(row.get(key), str | int) for key in key_columns(name, row))
        for row in rows
    )


def _read_epochs(path: Path) -> tuple[tuple[int, int], ...]:
    """Reads the table of epochs."""
    table = read_table(path)
    if table.column_names != ["time_ns", "hash"]:
        raise ConfigError(
            "malformed-file", f"{path}: is not a table of epochs (its columns are {', '.join(table.column_names)})"
        )
    try:
        return _epochs(table)
    except (TypeError, ValueError, OverflowError) as error:
        raise ConfigError("malformed-file", f"{path}: is damaged: {error}") from None


def _epochs(table: pa.Table) -> tuple[tuple[int, int], ...]:
    """Returns the end in ps and the hash of every epoch."""
    columns = table["time_ns"].to_pylist(), table["hash"].to_pylist()
    return tuple((round(time_ns * 1000), int(text, 16)) for time_ns, text in zip(*columns, strict=True))


def common_epochs(sides: Sequence[Side]) -> int:
    """Returns how many leading epochs the runs have in common."""
    count = 0
    for epochs in zip(*(side.epochs for side in sides), strict=False):
        if len(set(epochs)) > 1:
            break
        count += 1
    return count


def _version() -> str:
    """Returns the version of hostnet."""
    from hostnet import _core

    return _core.version()

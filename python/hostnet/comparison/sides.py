"""One of the two runs that are compared: read from a run directory, or made."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.files import read_object, read_table
from hostnet.several import refuse_several
from hostnet.tables import ROWS_MAX, TABLES, all_rows, key_columns, result_tables, table_info

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from hostnet.running.results import Results

    Row = dict[str, Any]

FORMAT = 1
"""The format of manifest.json and summary.json that this version reads."""

MANIFEST = {
    "version": str,
    "seed": int,
    "complete": bool,
    "config_hash": str,
    "simulated_ns": (int, float),
    "config": dict,
}
"""What a comparison needs of manifest.json, and its types."""

SUMMARY = {"config_hash": str, "workloads": list, "domains": list, "channels": list}
"""What it needs of summary.json, of a server."""

SUMMARY_OF_HOSTS = {"config_hash": str, "classes": list, "servers": dict}
"""The same of hosts on a network."""

OF_THE_WINDOW = ("warm_up_ns", "window_ns", "lines")
"""Measured parts of summary.json beside the tables; the rest depends on how the configuration was written."""


@dataclass(frozen=True)
class Side:
    """One of the two runs."""

    label: str
    """What the user called it."""
    version: str
    """The version of hostnet that ran it."""
    seed: int
    """Its seed."""
    complete: bool
    """Whether it came to its planned end."""
    config_hash: str
    """Hash of its configuration, the seed included."""
    simulated_ns: float
    """How far it came."""
    config: dict[str, Any] = field(repr=False)
    """Its complete configuration."""
    summary: dict[str, Any] = field(repr=False)
    """The content of summary.json."""
    tables: dict[str, list[dict[str, Any]]] = field(repr=False)
    """Returns the rows of every table of results."""
    epochs: tuple[tuple[int, int], ...] = field(repr=False)
    """End in ps, and hash of the state, of every epoch."""

    @property
    def measured(self) -> dict[str, Any]:
        """What was measured."""
        return {**{key: self.summary.get(key) for key in OF_THE_WINDOW}, **self.tables}

    @property
    def servers(self) -> dict[str, dict[str, Any]]:
        """What the summary says of each server, by the name of its host; "" without a network."""
        servers: dict[str, dict[str, Any]] = self.summary.get("servers", {"": self.summary})
        return servers

    @property
    def simulated(self) -> bool:
        """Whether events made these results; a prediction has none."""
        return str(self.summary.get("engine", "run")) != "predict"

    def to_dict(self) -> dict[str, Any]:
        """The run as `hostnet compare --json` names it."""
        keys = ("label", "version", "seed", "complete", "config_hash", "simulated_ns")
        return {"name": self.config.get("run", {}).get("name"), **{key: getattr(self, key) for key in keys}}


def side_of(results: Results, label: str) -> Side:
    """The results of a run as one of two."""
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
        ConfigError: It is none, it is damaged, something is missing, or another format than this version's.
        OSError: A file cannot be read.
    """
    refuse_several(path)
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
    """Reads one of the JSON files and checks what is needed of it."""
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
    """Returns the rows of the tables of a run from this process."""
    found = {}
    for name in result_tables():
        rows = results.rows(name)
        if len(rows) > ROWS_MAX:
            rows = _as_a_whole(name, results.native.parquet(name))
        found[name] = all_rows(name, results.summary, rows)
    return {name: rows for name, rows in found.items() if rows}


def _read_tables(path: Path, summary: Row) -> dict[str, list[Row]]:
    """Returns the rows of the tables of a run directory, and checks that every row can be identified."""
    found = {}
    for name in result_tables():
        file = path / f"{name}.parquet"
        _check_rows(path / "summary.json", name, summary)
        rows: list[Row] = []
        if file.is_file():
            table = read_table(file)
            many = table.num_rows > ROWS_MAX
            rows = _as_a_whole(name, file.read_bytes()) if many else table.to_pylist()
            _check_rows(file, name, {name: rows})
        found[name] = all_rows(name, summary, rows)
    return {name: rows for name, rows in found.items() if rows}


def _as_a_whole(name: str, content: bytes) -> list[Row]:
    """Returns a single row that stands for a table with too many rows."""
    return [{**dict.fromkeys(table_info()[name]["keys"], "all"), "hash": hashlib.sha256(content).hexdigest()}]


def _check_rows(path: Path, name: str, tables: Row) -> None:
    """Makes sure that every row says what it is about."""
    places = [tables, *tables.get("servers", {}).values()]
    if not all(isinstance(place, dict) and _are_named(name, place.get(name, [])) for place in places):
        raise ConfigError("malformed-file", f"{path}: is damaged: a row of {name} lacks the columns that identify it")


def _are_named(name: str, rows: Any) -> bool:
    return isinstance(rows, list) and all(
        isinstance(row, dict) and all(isinstance(row.get(key), str | int) for key in key_columns(name, row))
        for row in rows
    )


def _read_epochs(path: Path) -> tuple[tuple[int, int], ...]:
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
    columns = table["time_ns"].to_pylist(), table["hash"].to_pylist()
    return tuple((round(time_ns * 1000), int(text, 16)) for time_ns, text in zip(*columns, strict=True))


def common_epochs(sides: Sequence[Side]) -> int:
    """How many epochs at the start the runs have in common."""
    count = 0
    for epochs in zip(*(side.epochs for side in sides), strict=False):
        if len(set(epochs)) > 1:
            break
        count += 1
    return count


def _version() -> str:
    from hostnet import _core

    return _core.version()

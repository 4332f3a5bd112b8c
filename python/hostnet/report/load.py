"""Reads the files of a run directory."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class RunFiles:
    """What a run directory holds. Tables that are absent are empty; `config` is None without a config file."""

    directory: Path
    summary: dict[str, Any]
    manifest: dict[str, Any]
    domains: list[Row]
    series: list[Row]
    config: str | None

    @property
    def is_study(self) -> bool:
        """Whether the run recomputed a study rather than running one configuration."""
        return self.summary.get("kind") == "study"


def load_run(directory: Path) -> RunFiles:
    """Reads a run directory.

    Raises:
        FileNotFoundError: It holds no summary.json.
        ValueError: One of its files is not what it should be.
    """
    file = directory / "summary.json"
    if not file.is_file():
        raise FileNotFoundError(f"{directory}: not a run directory (it has no summary.json)")
    return RunFiles(
        directory=directory,
        summary=read_object(file),
        manifest=read_object(directory / "manifest.json"),
        domains=read_table(directory / "domains.parquet"),
        series=read_table(directory / "series.parquet"),
        config=read_config(directory),
    )


def read_object(file: Path) -> dict[str, Any]:
    """The object in a JSON file; empty when there is no such file."""
    if not file.is_file():
        return {}
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{file}: not JSON: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{file}: must hold an object")
    return content


def read_table(file: Path) -> list[Row]:
    """The rows of a Parquet file; none when there is no such file."""
    if not file.is_file():
        return []
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows: list[Row] = pq.read_table(file).to_pylist()
    except pa.ArrowInvalid as error:
        raise ValueError(f"{file}: not a Parquet file: {error}") from error
    return rows


def read_config(directory: Path) -> str | None:
    """The text of the configuration as the user wrote it."""
    for name in ("config.toml", "config.json"):
        if (directory / name).is_file():
            return (directory / name).read_text(encoding="utf-8")
    return None

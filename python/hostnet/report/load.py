"""Reads the files of a run directory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hostnet import files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Row = dict[str, Any]

CONFIG_FILES = ("config.toml", "config.json")
"""What the configuration as the user wrote it is called."""


@dataclass(frozen=True)
class Known:
    """What the files of a run directory hold, known without reading them."""

    summary: dict[str, Any]
    rows: Callable[[str], list[Row]]
    """The rows of a table; none of one that the run does not have."""


@dataclass(frozen=True)
class RunFiles:
    """What a run directory holds. Tables that are absent are empty; `config` is None without a config file."""

    directory: Path
    summary: dict[str, Any]
    manifest: dict[str, Any]
    domains: list[Row]
    series: list[Row]
    flows: list[Row]
    """Of a cluster."""
    config: str | None
    config_file: str | None
    """The name of the file that `config` is from."""
    explanation: str | None
    """Why the run came out as it did, in plain text."""
    why: dict[str, Any]
    """The same as it was written for programs; empty without it."""
    power_series: list[Row] = field(default_factory=list)

    @property
    def is_cluster(self) -> bool:
        """Whether the run was of hosts on a network."""
        return self.summary.get("engine") == "cluster"

    @property
    def is_study(self) -> bool:
        """Whether the run recomputed a study rather than running one configuration."""
        return self.summary.get("kind") == "study"


def load_run(directory: Path, known: Known | None = None) -> RunFiles:
    """Reads a run directory, but for what is known of it.

    Raises:
        FileNotFoundError: It holds no summary.json.
        ConfigError: One of its files is not what it should be.
    """
    file = directory / "summary.json"
    if not file.is_file():
        raise FileNotFoundError(f"{directory}: not a run directory (it has no summary.json)")
    config_file = next((name for name in CONFIG_FILES if (directory / name).is_file()), None)

    def rows(name: str) -> list[Row]:
        return read_table(directory / f"{name}.parquet") if known is None else known.rows(name)

    return RunFiles(
        directory=directory,
        summary=read_object(file) if known is None else known.summary,
        manifest=read_object(directory / "manifest.json"),
        domains=rows("domains"),
        series=rows("series"),
        flows=rows("flows"),
        config=None if config_file is None else files.read_text(directory / config_file),
        config_file=config_file,
        explanation=read_explanation(directory),
        why=read_object(directory / "explain.json"),
        power_series=rows("power_series"),
    )


def read_object(file: Path) -> dict[str, Any]:
    """The object in a JSON file; empty when there is no such file."""
    return files.read_object(file) if file.is_file() else {}


def read_table(file: Path) -> list[Row]:
    """The rows of a Parquet file; none when there is no such file."""
    if not file.is_file():
        return []
    rows: list[Row] = files.read_table(file).to_pylist()
    return rows


def read_explanation(directory: Path) -> str | None:
    """What the run's explanation says: explanation.txt, or the entry "text" of explain.json."""
    file = directory / "explanation.txt"
    text = files.read_text(file) if file.is_file() else read_object(directory / "explain.json").get("text")
    return text.strip() or None if isinstance(text, str) else None

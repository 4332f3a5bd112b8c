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
"""File names of the configuration as the user wrote it."""


@dataclass(frozen=True)
class KnownResults:
    """Contents of a run directory that are known without reading its files."""

    summary: dict[str, Any]
    rows: Callable[[str], list[Row]]
    """Returns the rows of a table; empty if the run has no such table."""


@dataclass(frozen=True)
class RunFiles:
    """Contents of a run directory. Absent tables are empty; `config` is None without a configuration file."""

    directory: Path
    summary: dict[str, Any]
    manifest: dict[str, Any]
    domains: list[Row] = field(default_factory=list)
    series: list[Row] = field(default_factory=list)
    flows: list[Row] = field(default_factory=list)
    """Flows of a cluster."""
    config: str | None = None
    config_file: str | None = None
    """Name of the file of `config`."""
    explanation: str | None = None
    """Explanation of the results as plain text."""
    why: dict[str, Any] = field(default_factory=dict)
    """Explanation in machine-readable form; empty without one."""
    power_series: list[Row] = field(default_factory=list)
    ranks: list[Row] = field(default_factory=list)
    """Ranks of the jobs of a cluster; `timeline` has their steps, and `path_pieces` their critical paths."""
    timeline: list[Row] = field(default_factory=list)
    path_pieces: list[Row] = field(default_factory=list)
    latency_histogram: list[Row] = field(default_factory=list)
    """Latencies of the classes of a cluster, and how many requests had each."""

    @property
    def is_cluster(self) -> bool:
        """True for a run of hosts on a network."""
        return self.summary.get("engine") == "cluster"

    @property
    def is_study(self) -> bool:
        """True for a reproduced study instead of a single configuration."""
        return self.summary.get("kind") == "study"


def load_run(directory: Path, known: KnownResults | None = None) -> RunFiles:
    """Reads a run directory, except for values that are known.

    Raises:
        FileNotFoundError: The directory has no summary.json.
        ConfigError: One of its files is damaged.
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
        ranks=rows("ranks"),
        timeline=rows("timeline"),
        path_pieces=rows("path_pieces"),
        latency_histogram=rows("latency_histogram"),
    )


def read_object(file: Path) -> dict[str, Any]:
    """Reads the object in a JSON file; empty if there is no such file."""
    return files.read_object(file) if file.is_file() else {}


def read_table(file: Path) -> list[Row]:
    """Reads the rows of a Parquet file; empty if there is no such file."""
    if not file.is_file():
        return []
    rows: list[Row] = files.read_table(file).to_pylist()
    return rows


def read_explanation(directory: Path) -> str | None:
    """Reads the explanation from explanation.txt, or from the entry "text" of explain.json."""
    file = directory / "explanation.txt"
    text = files.read_text(file) if file.is_file() else read_object(directory / "explain.json").get("text")
    return text.strip() or None if isinstance(text, str) else None

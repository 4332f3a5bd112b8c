"""Directories that hold the results of several runs."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.files import read_object

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def refuse_several(path: Path) -> None:
    """Refuses a directory that holds the results of several runs.

    Raises:
        ConfigError: Names one of its runs, or says how to make one.
    """
    if (path / "seeds.json").is_file():
        seeds = sorted(folder.name for folder in path.glob("seed-*") if (folder / "manifest.json").is_file())
        example = f", for example {path / seeds[0]}" if seeds else ""
        raise ConfigError(f"{path}: holds the runs of several seeds; name one of them{example}")
    if (path / "sweep.json").is_file():
        settings = _first_point(read_object(path / "sweep.json"))
        command = shlex.join(["hostnet", "run", "FILE", *(word for text in settings for word in ("--set", text))])
        raise ConfigError(f"{path}: holds the tables of a sweep, not its runs; make one, for example: {command}")
    summary = path / "summary.json"
    if summary.is_file() and read_object(summary).get("kind") == "study":
        raise ConfigError(f"{path}: holds the points of a study, not its runs")


def _first_point(sweep: Mapping[str, Any]) -> list[str]:
    """Returns the settings of the first point of a sweep; nothing where its manifest is damaged."""
    try:
        return [*sweep["set"], *(f"{axis['path']}={axis['values'][0]}" for axis in sweep["over"])]
    except (KeyError, IndexError, TypeError):
        return []

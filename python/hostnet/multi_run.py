"""Detects folders that hold the results of several runs."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.files import read_object

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


CONTENTS_BY_FILE = {"seeds.json": "the runs of several seeds", "whatif.json": "a run for each place of the NIC"}
"""Contents of a folder, by the name of the file that it has."""


def reject_multi_run(path: Path) -> None:
    """Raises an error if a folder holds the results of several runs.

    Raises:
        ConfigError: It does; the message names one of its runs, or says how to make one.
    """
    for name, runs in CONTENTS_BY_FILE.items():
        if (path / name).is_file():
            folders = sorted(file.parent for file in path.glob("*/manifest.json"))
            example = f", for example {folders[0]}" if folders else ""
            raise ConfigError("wrong-kind", f"{path}: holds {runs}; name one of them{example}")
    if (path / "sweep.json").is_file():
        settings = _first_point(read_object(path / "sweep.json"))
        command = shlex.join(["hostnet", "run", "FILE", *(word for text in settings for word in ("--set", text))])
        raise ConfigError(
            "wrong-kind", f"{path}: holds the tables of a sweep, not its runs; make one, for example: {command}"
        )
    summary = path / "summary.json"
    if summary.is_file() and read_object(summary).get("kind") == "study":
        raise ConfigError("wrong-kind", f"{path}: holds the points of a study, not its runs")


def _first_point(sweep: Mapping[str, Any]) -> list[str]:
    """Returns the settings of the first point of a sweep, or none if its manifest is damaged."""
    try:
        return [*sweep["set"], *(f"{axis['path']}={axis['values'][0]}" for axis in sweep["over"])]
    except (KeyError, IndexError, TypeError):
        return []

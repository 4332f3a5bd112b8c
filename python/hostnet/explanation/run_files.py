"""Reads the files of a run directory that explanations require."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.files import read_object

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def read_json(folder: Path, name: str) -> dict[str, Any]:
    """Reads a JSON file of a run directory.

    Raises:
        ConfigError: The file is missing or damaged.
    """
    file = folder / name
    if not file.is_file():
        raise ConfigError("wrong-kind", f"{folder}: is no run directory: it has no {name}")
    return read_object(file)


def check_keys(file: Path, content: Mapping[str, Any], *keys: str) -> None:
    """Checks that a file has the keys.

    Raises:
        ConfigError: A key is missing.
    """
    missing = [key for key in keys if content.get(key) is None]
    if missing:
        raise ConfigError(
            "other-version", f"{file}: has no {missing[0]}; it is not of a run of this version of hostnet"
        )

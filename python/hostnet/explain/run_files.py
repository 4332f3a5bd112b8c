"""The files of a run directory that explanations read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.files import read_object

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def read_json(place: Path, name: str) -> dict[str, Any]:
    """A file of a run directory.

    Raises:
        ConfigError: It is missing or damaged.
    """
    file = place / name
    if not file.is_file():
        raise ConfigError("wrong-kind", f"{place}: is no run directory: it has no {name}")
    return read_object(file)


def need(file: Path, content: Mapping[str, Any], *keys: str) -> None:
    """Makes sure that a file has these keys.

    Raises:
        ConfigError: One is missing.
    """
    missing = [key for key in keys if content.get(key) is None]
    if missing:
        raise ConfigError(
            "other-version", f"{file}: has no {missing[0]}; it is not of a run of this version of hostnet"
        )

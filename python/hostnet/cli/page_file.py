"""File of a page that `--html` names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet import rundir
from hostnet._core import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


DOCTYPE = b"<!doctype html>"
"""First bytes of every page."""


def check_page(path: Path) -> None:
    """Checks before a run that a page can be written at `path`.

    Raises:
        ConfigError: `path` is a folder, has no folder, or is a file that is no page, such as an input.
        OSError: Its folder cannot be written.
    """
    if path.is_dir() or not path.parent.is_dir():
        raise ConfigError("file-access", f"--html {path}: name a file in a folder that exists")
    if path.is_file() and not is_page(path):
        raise ConfigError("file-access", f"--html {path}: exists and is not a page; name another file")
    rundir.check_file(path)


def is_page(path: Path) -> bool:
    """Returns True if a file begins like a page, or is empty."""
    with path.open("rb") as file:
        return file.read(len(DOCTYPE)).lower() in (b"", DOCTYPE)


def refuse_input(given: Path, outputs: Mapping[str, Path | None]) -> None:
    """Checks that no output would replace the input.

    Raises:
        ConfigError: An output is the input.
    """
    for option, output in outputs.items():
        if output is not None and output.exists() and given.exists() and output.samefile(given):
            raise ConfigError("file-access", f"{option} {output}: is the input; name another file")

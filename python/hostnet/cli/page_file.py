"""File of a page that `--html` names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet import rundir
from hostnet._core import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


def check_page(path: Path) -> None:
    """Checks before a run that a page can be written at `path`.

    Raises:
        ConfigError: `path` is a folder, or has no folder.
        OSError: Its folder cannot be written.
    """
    if path.is_dir() or not path.parent.is_dir():
        raise ConfigError("file-access", f"--html {path}: name a file in a folder that exists")
    rundir.check_file(path)

"""Checkpoints as folders: a file of each partition, and an index that is there when all others are."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from hostnet._core import CheckpointError, ConfigError
from hostnet.files import errors_about, sync

INDEX = "index"
"""The file that makes a checkpoint whole."""

PARTITION = re.compile(r"partition-\d{5,}")
"""The names of the records."""

WHOLE = re.compile(r"(\d+)ps")
"""The names of the checkpoints in a folder of them: the simulated time."""

UNFINISHED = re.compile(r"\.\d+ps-unfinished")
"""Those that are not whole yet."""


class RecordsFolder:
    """A folder that has the last checkpoint of a run."""

    def __init__(self, path: Path) -> None:
        """The folder `path`, which need not exist."""
        self.path = path

    def check(self) -> None:
        """Makes sure that checkpoints can be put there, and takes away what killed runs left unfinished.

        Raises:
            ConfigError: There is something else.
            OSError: It cannot be written.
        """
        if not self.path.is_dir():
            if self.path.exists():
                raise ConfigError(f"{self.path}: is a file; --checkpoint-every writes a folder")
            return
        for entry in self.path.iterdir():
            if not (WHOLE.fullmatch(entry.name) or UNFINISHED.fullmatch(entry.name)):
                raise ConfigError(f"{self.path}: holds {entry.name}, which is no checkpoint; name another folder")
        for entry in self.path.glob(".*ps-unfinished"):
            shutil.rmtree(entry, ignore_errors=True)

    def write(self, name: str | None, at_ps: int, content: bytes) -> None:
        """Takes in a record or the index of the checkpoint at a simulated time. The index makes it the last one.

        Raises:
            OSError: It cannot be written; the checkpoint before stays.
        """
        assert name is not None
        unfinished = self.path / f".{at_ps}ps-unfinished"
        with errors_about(self.path):
            unfinished.mkdir(parents=True, exist_ok=True)
            (unfinished / name).write_bytes(content)
            sync(unfinished / name)
            if name == INDEX:
                self._finish(unfinished, at_ps)

    def _finish(self, unfinished: Path, at_ps: int) -> None:
        sync(unfinished)
        final = self.path / f"{at_ps}ps"
        if final.exists():
            shutil.rmtree(final)
        unfinished.rename(final)
        sync(self.path)
        for entry in self.path.iterdir():
            if WHOLE.fullmatch(entry.name) and entry != final:
                shutil.rmtree(entry, ignore_errors=True)


def last_checkpoint(path: Path) -> Path | None:
    """The last whole checkpoint in a folder of them, or the folder if it is one itself; none if there is none."""
    if (path / INDEX).is_file():
        return path
    whole = [entry for entry in path.iterdir() if WHOLE.fullmatch(entry.name) and (entry / INDEX).is_file()]
    return max(whole, key=lambda entry: int(entry.name.removesuffix("ps")), default=None)


def read_records(path: Path) -> tuple[bytes, list[bytes]]:
    """The index and the records of the last checkpoint in a folder.

    Raises:
        CheckpointError: There is none.
        OSError: It cannot be read.
    """
    last = last_checkpoint(path)
    if last is None:
        raise CheckpointError("holds no whole checkpoint")
    names = sorted(entry.name for entry in last.iterdir() if PARTITION.fullmatch(entry.name))
    with errors_about(last):
        return (last / INDEX).read_bytes(), [(last / name).read_bytes() for name in names]

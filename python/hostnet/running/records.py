"""Checkpoints as folders: one file per partition, and an index that is written last."""

from __future__ import annotations

import re
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from hostnet._core import CheckpointError, ConfigError
from hostnet.files import errors_naming, sync
from hostnet.locks import exclusive_lock
from hostnet.units import format_time

if TYPE_CHECKING:
    from collections.abc import Iterator

INDEX = "index"
"""File whose presence marks a checkpoint as complete."""

PARTITION = re.compile(r"partition-\d{5,}")
"""File names of the records of partitions."""

WHOLE = re.compile(r"(\d+)ps")
"""Folder names of checkpoints: their simulated time."""

UNFINISHED = re.compile(r"\.\d+ps-unfinished")
"""Folder names of incomplete checkpoints."""

LOCK = ".lock"
"""Lock file in a folder of checkpoints."""


class RecordsFolder:
    """Folder that holds the last checkpoint of a run."""

    def __init__(self, path: Path) -> None:
        """Creates a reference to the folder `path`, which need not exist."""
        self.path = path

    def check(self, continued: Path | None = None) -> None:
        """Checks that the folder has no foreign files and no checkpoint of another run.

        `continued` is the checkpoint that the run continues from, if any: this folder, or a checkpoint in it.

        Raises:
            ConfigError: The folder holds a foreign file, or a checkpoint other than the one that the run continues
                from.
            OSError: The folder cannot be read.
        """
        for entry in self.path.iterdir():
            if not (WHOLE.fullmatch(entry.name) or UNFINISHED.fullmatch(entry.name) or entry.name == LOCK):
                raise ConfigError(
                    "file-access", f"{self.path}: holds {entry.name}, which is no checkpoint; name another folder"
                )
        last = last_checkpoint(self.path)
        if last is None or (continued is not None and _is_last(continued, last)):
            return
        raise ConfigError(
            "file-access",
            f"{self.path}: holds a checkpoint at {format_time(_time_ps(last))}; continue from it with "
            f"--from {self.path}, name another folder with --checkpoint, or delete it",
        )

    @contextmanager
    def locked(self, continued: Path | None = None) -> Iterator[None]:
        """Locks the folder against other runs while the body runs, and removes incomplete checkpoints.

        Raises:
            ConfigError: Another run writes there, or `check` fails.
            OSError: The folder cannot be written.
        """
        if self.path.exists() and not self.path.is_dir():
            raise ConfigError("file-access", f"{self.path}: is a file; --checkpoint-every writes a folder")
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            with exclusive_lock(self.path, self.path / LOCK):
                self.check(continued)
                for entry in self.path.glob(".*ps-unfinished"):
                    shutil.rmtree(entry, ignore_errors=True)
                yield
        finally:
            with suppress(OSError):  # the folder is not empty if it holds checkpoints
                self.path.rmdir()

    def write(self, name: str | None, at_ps: int, content: bytes) -> None:
        """Writes a record or the index of the checkpoint at a simulated time. The index completes the checkpoint.

        Raises:
            OSError: The file cannot be written; the previous checkpoint stays.
        """
        assert name is not None
        unfinished = self.path / f".{at_ps}ps-unfinished"
        with errors_naming(self.path):
            unfinished.mkdir(parents=True, exist_ok=True)
            (unfinished / name).write_bytes(content)
            sync(unfinished / name)
            if name == INDEX:
                self._finish(unfinished, at_ps)

    def _finish(self, unfinished: Path, at_ps: int) -> None:
        """Renames a complete checkpoint to its final name and removes earlier ones."""
        sync(unfinished)
        final = self.path / f"{at_ps}ps"
        if final.exists():
            shutil.rmtree(final)
        unfinished.rename(final)
        sync(self.path)
        for entry in self.path.iterdir():
            # Later checkpoints belong to another run.
            if WHOLE.fullmatch(entry.name) and _time_ps(entry) < at_ps:
                shutil.rmtree(entry, ignore_errors=True)


def last_checkpoint(path: Path) -> Path | None:
    """Returns the last complete checkpoint in a folder, the folder if it is one itself, or None."""
    if (path / INDEX).is_file():
        return path
    whole = [entry for entry in path.iterdir() if WHOLE.fullmatch(entry.name) and (entry / INDEX).is_file()]
    return max(whole, key=_time_ps, default=None)


def _time_ps(checkpoint: Path) -> int:
    """Returns the simulated time of a complete checkpoint."""
    return int(checkpoint.name.removesuffix("ps"))


def _is_last(continued: Path, last: Path) -> bool:
    """Returns True if a run that continues from `continued` starts at the checkpoint `last` of a folder."""
    return continued.resolve() in (last.resolve(), last.parent.resolve())


def read_records(path: Path) -> tuple[bytes, list[bytes]]:
    """Reads the index and the records of the last checkpoint in a folder.

    Raises:
        CheckpointError: There is no complete checkpoint.
        OSError: A file cannot be read.
    """
    last = last_checkpoint(path)
    if last is None:
        raise CheckpointError("bad-checkpoint", "holds no whole checkpoint")
    names = sorted(entry.name for entry in last.iterdir() if PARTITION.fullmatch(entry.name))
    with errors_naming(last):
        return (last / INDEX).read_bytes(), [(last / name).read_bytes() for name in names]

"""Checkpoints as folders: a file of each partition, and an index that is there when all others are."""

from __future__ import annotations

import re
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from hostnet._core import CheckpointError, ConfigError
from hostnet.files import errors_about, sync
from hostnet.locks import owned
from hostnet.units import format_time

if TYPE_CHECKING:
    from collections.abc import Iterator

INDEX = "index"
"""The file that makes a checkpoint whole."""

PARTITION = re.compile(r"partition-\d{5,}")
"""The names of the records."""

WHOLE = re.compile(r"(\d+)ps")
"""The names of the checkpoints in a folder of them: the simulated time."""

UNFINISHED = re.compile(r"\.\d+ps-unfinished")
"""Those that are not whole yet."""

LOCK = ".lock"
"""The file in a folder of checkpoints that says which process writes there."""


class RecordsFolder:
    """A folder that has the last checkpoint of a run."""

    def __init__(self, path: Path) -> None:
        """The folder `path`, which need not exist."""
        self.path = path

    def check(self, continued: Path | None = None) -> None:
        """Checks that checkpoints can be written, and that those of other runs are not overwritten or mixed in.

        `continued` is the checkpoint that the run continues from, if it does: the folder, or one in it.

        Raises:
            ConfigError: It holds something else, or a checkpoint that is not the one that the run continues from.
            OSError: It cannot be read.
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
    def owned(self, continued: Path | None = None) -> Iterator[None]:
        """Locks out other runs while the body runs, and removes unfinished checkpoints of killed runs.

        Raises:
            ConfigError: Another run writes there, or as of `check`.
            OSError: It cannot be written.
        """
        if self.path.exists() and not self.path.is_dir():
            raise ConfigError("file-access", f"{self.path}: is a file; --checkpoint-every writes a folder")
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            with owned(self.path, self.path / LOCK):
                self.check(continued)
                for entry in self.path.glob(".*ps-unfinished"):
                    shutil.rmtree(entry, ignore_errors=True)
                yield
        finally:
            with suppress(OSError):  # it holds checkpoints
                self.path.rmdir()

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
            # Later ones belong to another run.
            if WHOLE.fullmatch(entry.name) and _time_ps(entry) < at_ps:
                shutil.rmtree(entry, ignore_errors=True)


def last_checkpoint(path: Path) -> Path | None:
    """The last whole checkpoint in a folder of them, or the folder if it is one itself; none if there is none."""
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
    """The index and the records of the last checkpoint in a folder.

    Raises:
        CheckpointError: There is none.
        OSError: It cannot be read.
    """
    last = last_checkpoint(path)
    if last is None:
        raise CheckpointError("bad-checkpoint", "holds no whole checkpoint")
    names = sorted(entry.name for entry in last.iterdir() if PARTITION.fullmatch(entry.name))
    with errors_about(last):
        return (last / INDEX).read_bytes(), [(last / name).read_bytes() for name in names]

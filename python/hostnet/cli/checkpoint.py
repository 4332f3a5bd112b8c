"""Checkpoints that a run continues from."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from hostnet._core import CheckpointError
from hostnet.files import errors_about

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAGIC = b"hostnetC"
"""How a checkpoint begins."""


@contextmanager
def continued(path: Path | None) -> Iterator[bytes | None]:
    """The checkpoint at `path`, if there is one, for the body to continue from. What is wrong with it names the file.

    Raises:
        CheckpointError: It is none, or it cannot be continued from.
        OSError: It cannot be read.
    """
    if path is None:
        yield None
        return
    try:
        yield _read(path)
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from None


def _read(path: Path) -> bytes:
    """The whole file. What does not begin as a checkpoint does is read no further: it may have no end."""
    with path.open("rb") as file, errors_about(path):
        start = file.read(len(MAGIC))
        if start != MAGIC:
            raise CheckpointError("not a hostnet checkpoint" if start else "is empty")
        return start + file.read()

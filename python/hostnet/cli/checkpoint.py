"""Checkpoints that a run continues from."""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hostnet._core import CheckpointError
from hostnet.files import errors_about, opened
from hostnet.running.records import read_records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostnet._core import ChipPlan, Plan
    from hostnet.cli.request import Request

CHECKPOINTS = Path("checkpoints")
"""Where folders of checkpoints go unless `--checkpoint` says otherwise."""

MAGIC = b"hostnetC"
"""How a checkpoint begins."""


def checkpoint_folder(request: Request, plan: Plan | ChipPlan) -> Path:
    """The folder of a run's checkpoints."""
    return request.checkpoint or CHECKPOINTS / (re.sub(r"[^\w.-]+", "-", plan.name).strip("-.") or "run")


@contextmanager
def continued(path: Path | None) -> Iterator[tuple[bytes | None, list[bytes]]]:
    """The checkpoint at `path`, if there is one, for the body to continue from, and its records if it is a folder.

    What is wrong with it names the file.

    Raises:
        CheckpointError: It is none, or it cannot be continued from.
        OSError: It cannot be read.
    """
    if path is None:
        yield None, []
        return
    try:
        yield read_records(path) if path.is_dir() else (_read(path), [])
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from None


def _read(path: Path) -> bytes:
    """The whole file. What does not begin as a checkpoint does is read no further: it may have no end."""
    with opened(path) as file, errors_about(path):
        start = file.read(len(MAGIC))
        if start != MAGIC:
            raise CheckpointError("not a hostnet checkpoint" if start else "is empty")
        return start + file.read()

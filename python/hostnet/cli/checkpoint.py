"""Checkpoints that a run writes or continues from."""

from __future__ import annotations

import errno
import os
import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hostnet._core import CheckpointError, ConfigError
from hostnet.files import errors_naming, open_input
from hostnet.rundir import check_file
from hostnet.running.records import read_records
from hostnet.units import format_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostnet._core import ChipPlan, Plan
    from hostnet.cli.request import Request

CHECKPOINTS = Path("checkpoints")
"""Default parent of checkpoint folders."""

MAGIC = b"hostnetC"
"""First bytes of a checkpoint file."""


def checkpoint_folder(request: Request, plan: Plan | ChipPlan) -> Path:
    """Returns the folder of the checkpoints of a run."""
    return request.checkpoint or CHECKPOINTS / (re.sub(r"[^\w.-]+", "-", plan.name).strip("-.") or "run")


def check_checkpoint(request: Request, plan: Plan) -> None:
    """Checks before a run that a checkpoint file can be written, and that the run reaches its time.

    Raises:
        ConfigError: The run ends before the time of the checkpoint.
        OSError: The file cannot be written.
    """
    if request.checkpoint_every is not None or request.checkpoint is None:
        return
    end_ps = plan.latest_end_ps()
    if request.checkpoint_at_ps > end_ps:
        ended = format_time(end_ps)
        raise ConfigError(
            "out-of-range",
            f"--checkpoint-at {request.checkpoint_at}: the run ends before that, at {ended} at the latest",
        )
    check_file(request.checkpoint)


@contextmanager
def continued(path: Path | None) -> Iterator[tuple[bytes | None, list[bytes]]]:
    """Yields the checkpoint at `path`, if any, and its records if it is a folder.

    Errors in the body about the checkpoint name its path.

    Raises:
        CheckpointError: The path is not a checkpoint, or the run cannot continue from it.
        OSError: The path cannot be read.
    """
    if path is None:
        yield None, []
        return
    if not path.exists():
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), f"--from {path}")
    try:
        yield read_records(path) if path.is_dir() else (_read(path), [])
    except CheckpointError as error:
        raise error.reworded(f"{path}: {error}") from None


def _read(path: Path) -> bytes:
    """Reads a checkpoint file. Other files are not read beyond the first bytes, because they may be endless."""
    with open_input(path) as file, errors_naming(path):
        start = file.read(len(MAGIC))
        if start != MAGIC:
            raise CheckpointError("bad-checkpoint", "not a hostnet checkpoint" if start else "is empty")
        return start + file.read()

"""Checks files of DRAM commands against the rules of a device."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hostnet import _core
from hostnet.memory_alone.plan import plan_from
from hostnet.memory_alone.run import named

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from hostnet.memory_alone.run import Progress
    from hostnet.running.settings import Value


def check_commands(
    path: str | PathLike[str],
    *,
    device: str | None = None,
    settings: Mapping[str, Value] | None = None,
    all: bool = False,
    progress: Progress | None = None,
) -> _core.CommandCheck:
    """Checks a file of DRAM commands against the timing rules of a device, independently of the simulator's controller.

    Args:
        path: The file, plain or compressed.
        device: Name of a DRAM device, or the path of a device file; DDR4_2933 if not given.
        settings: Values of other keys, such as {"memory.dram.timing.rcd": 20}; with
            {"memory.controller.refresh": "off"} refreshes are not missed.
        all: Whether to go on after the first violation and count them all.
        progress: Called about ten times a second; as for `memory`.

    Raises:
        ConfigError: An argument or the file is wrong; a broken rule is no error, but the result.
        OSError: The file cannot be read.
    """
    return check_file(path, plan_from({"memory.device": device, **(settings or {})}), all=all, progress=progress)


def check_file(
    path: str | PathLike[str], plan: _core.MemoryPlan, *, all: bool, progress: Progress | None
) -> _core.CommandCheck:
    """Checks a command file against the device of a checked configuration."""
    name = os.fspath(path)
    try:
        return _core.check_commands(name, plan, all=all, progress=progress)
    except OSError as error:
        raise named(error, name) from None

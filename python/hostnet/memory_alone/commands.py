"""Checks files of DRAM commands against the timing rules of a device."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hostnet import _core
from hostnet.memory_alone.plan import resolve_values
from hostnet.memory_alone.run import with_file_name
from hostnet.terminal.progress import follow

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from hostnet.running.settings import Value
    from hostnet.terminal.progress import Progress, ProgressArgument


def check_commands(
    path: str | PathLike[str],
    *,
    device: str | None = None,
    settings: Mapping[str, Value] | None = None,
    all: bool = False,
    progress: ProgressArgument = None,
) -> _core.CommandCheck:
    """Checks a file of DRAM commands against the timing rules of a device.

    The checker is independent of the simulated memory controller.

    Args:
        path: The file, plain or compressed.
        device: Name of a DRAM device, or the path of a device file; DDR4_2933 by default.
        settings: Values of other keys, such as {"memory.dram.timing.rcd": 20}. With
            {"memory.controller.refresh": "off"}, missing refreshes are no violation.
        all: True to count all violations instead of stopping at the first one.
        progress: As for `memory`.

    Returns:
        The result of the check. A violated rule is not an error.

    Raises:
        ConfigError: An argument or the file is invalid.
        OSError: The file cannot be read.
    """
    plan = resolve_values({"memory.device": device, **(settings or {})})
    with follow(progress) as callback:
        return check_file(path, plan, all=all, progress=callback)


def check_file(
    path: str | PathLike[str], plan: _core.MemoryPlan, *, all: bool, progress: Progress | None
) -> _core.CommandCheck:
    """Checks a command file against the device of a resolved configuration."""
    name = os.fspath(path)
    try:
        return _core.check_commands(name, plan, all=all, progress=progress)
    except OSError as error:
        raise with_file_name(error, name) from None

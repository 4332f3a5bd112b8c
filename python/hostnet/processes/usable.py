"""Processors that this process may use."""

from __future__ import annotations

import math
import os
from pathlib import Path

CPU_MAX = Path("/sys/fs/cgroup/cpu.max")
"""Limit of the processor time of a container (cgroup v2): quota and period in us, or "max" without a limit."""


def usable_processors() -> int:
    """Returns the number of processors that this process may use: those of its affinity, and of its container."""
    # macOS has no affinities.
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(count, _container_processors(CPU_MAX)))


def _container_processors(file: Path) -> int:
    """Returns the processors that the quota in `file` is good for, rounded up; a large number without a quota."""
    try:
        quota, period = file.read_text(encoding="ascii").split()
        return math.ceil(int(quota) / int(period))
    except (OSError, ValueError):
        return 1 << 20

"""Checks what the memory alone is to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet import _core
from hostnet.running import settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from hostnet.running.settings import Value


def plan_of(overrides: Sequence[str], config: Path | None = None) -> _core.MemoryPlan:
    """Checks settings, on top of a configuration file if there is one.

    Raises:
        ConfigError: Something is wrong.
        OSError: The file cannot be read.
    """
    return settings.plan_of(_core.memory_plan, overrides, config)


def plan_from(values: Mapping[str, Value | None]) -> _core.MemoryPlan:
    """The plan with these values of keys; None is not given."""
    return settings.plan_from(_core.memory_plan, values, "hostnet.memory")

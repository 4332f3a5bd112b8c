"""Resolves configurations of a memory system without a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet import _core
from hostnet.running import settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from hostnet.running.settings import Value


def resolve_settings(overrides: Sequence[str], config: Path | None = None) -> _core.MemoryPlan:
    """Resolves settings, on top of a configuration file if one is given.

    Raises:
        ConfigError: A setting is invalid.
        OSError: The file cannot be read.
    """
    return settings.resolve_settings(_core.memory_plan, overrides, config)


def resolve_values(values: Mapping[str, Value | None]) -> _core.MemoryPlan:
    """Resolves values of keys; those that are None are omitted."""
    return settings.resolve_values(_core.memory_plan, values, "hostnet.memory")

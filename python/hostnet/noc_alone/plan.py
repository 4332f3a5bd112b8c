"""Resolves configurations of a network on a chip without a server."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hostnet import _core
from hostnet.running import settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from hostnet.running.settings import Value

_SIZE = re.compile(r"\s*(\d{1,6})\s*(?:[xX]\s*(\d{1,6}))?\s*", re.ASCII)


def resolve_settings(overrides: Sequence[str], config: Path | None = None) -> _core.NocPlan:
    """Resolves settings, on top of a configuration file if one is given.

    Raises:
        ConfigError: A setting is invalid.
        OSError: The file cannot be read.
    """
    return settings.resolve_settings(_core.noc_plan, overrides, config)


def resolve_values(values: Mapping[str, Value | None]) -> _core.NocPlan:
    """Resolves values of keys; those that are None are omitted."""
    return settings.resolve_values(_core.noc_plan, values, "hostnet.noc")


def size_of(text: str, shown: str) -> dict[str, int]:
    """Returns the keys of a size: "8x4" is columns and rows of a mesh, "16" nodes of a ring.

    Error messages start with `shown`.

    Raises:
        ConfigError: The text is no size.
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise _core.ConfigError(
            "malformed-value", f"{shown}: must be columns and rows such as 8x8, or the nodes of a ring such as 16"
        )
    if match[2] is None:
        return {"noc.nodes": int(match[1])}
    return {"noc.columns": int(match[1]), "noc.rows": int(match[2])}

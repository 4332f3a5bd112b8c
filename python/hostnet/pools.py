"""Credit pools on the path of a workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet import _core

if TYPE_CHECKING:
    from collections.abc import Mapping

    Row = dict[str, Any]

with_directions = _core.with_directions


def find_pool(facts: Mapping[str, Any], domain: str | None) -> Row | None:
    """Returns the pool of a domain on the path of a workload. With several places, `place` names the fullest."""
    return next((pool for pool in facts.get("pools", ()) if pool["domain"] == domain), None)

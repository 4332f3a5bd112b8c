"""How limits are named that are not known, or not for sure."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

from hostnet import _core

if TYPE_CHECKING:
    from collections.abc import Iterable

NOT_KNOWN = "not known"
"""Name of a limit, of a regime or of a cause that is not known."""

DOUBTFUL = " ?"
"""Follows the name of a limit that may be another one."""

MARKED = (
    "? after a limit: it may be another one, for predictions do not cover the server or are far from what was measured"
)
"""Stands under a table with such a limit and no sentence about it."""


def notes_on(limits: Iterable[str | None]) -> list[str]:
    """What to know of the limits in a table."""
    return [MARKED] if any(limit and limit.endswith(DOUBTFUL) for limit in limits) else []


def divided_text(path: str, factors: Iterable[float]) -> str:
    """Follows the value of a key that says how much a thing takes: raising such a limit divides it by the factors."""
    return " / " + ", / ".join(f"{factor:g}" for factor in sorted(factors)) if path in _divided() else ""


@cache
def _divided() -> frozenset[str]:
    """The keys of limits that are higher where less is taken."""
    return frozenset(way["path"] for way in json.loads(_core.limits()) if way["scale"] == "less")

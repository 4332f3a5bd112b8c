"""How limits are named that are not known, or not for sure."""

from __future__ import annotations

from typing import TYPE_CHECKING

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

"""Names of limits that are unknown or uncertain."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

NOT_KNOWN = "not known"
"""Name of an unknown limit, regime or cause."""

DOUBTFUL = " ?"
"""Suffix of the name of a limit that is uncertain."""

DOUBTFUL_NOTE = (
    "? after a limit: it may be another one, for predictions do not cover the server or are far from what was measured"
)
"""Note under a table with an uncertain limit that no sentence explains."""


def limit_notes(limits: Iterable[str | None]) -> list[str]:
    """Returns the notes on the limits in a table."""
    return [DOUBTFUL_NOTE] if any(limit and limit.endswith(DOUBTFUL) for limit in limits) else []

"""Names of limits that are unknown or uncertain."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

from hostnet import _core

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


def divided_text(path: str, factors: Iterable[float]) -> str:
    """Returns " / " and the factors if raising the limit of a key divides its value; else an empty text."""
    return " / " + ", / ".join(f"{factor:g}" for factor in sorted(factors)) if path in _divided() else ""


@cache
def _divided() -> frozenset[str]:
    """Returns the keys of limits that rise when their value is reduced."""
    return frozenset(way["path"] for way in json.loads(_core.limits()) if way["scale"] == "less")

"""A value of a draft with its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Value:
    """A value of the draft."""

    path: str
    value: Any
    source: str
    """Source of the value, for its comment."""

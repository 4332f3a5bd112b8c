"""Sentences about the regime of contention between cores and devices."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hostnet import _core

if TYPE_CHECKING:
    from collections.abc import Mapping

GAIN_MIN = 0.05
"""Smallest slowdown, as a fraction, for which the regime blames a side."""


def regime_headline(regime: Mapping[str, Any]) -> str:
    """Returns a sentence that says which workloads slow which others down, by how much, and what is unknown."""
    return _core.regime_headline(json.dumps(regime))

"""Limits of a configuration, and how to raise them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from hostnet import _core

Config = dict[str, Any]

RAISE = 1.25
"""Factor by which a limit is raised to test whether it binds."""


@dataclass(frozen=True)
class Limit:
    """A way to raise a limit: the key of its value, its description, and further keys that change with it.

    `limit` is its name in answers. `scale` is "count" for counts, "rate" for throughputs, "less" for costs, "whole" for
    values that only whole multiples suit, "exact" for counts that must be multiplied exactly, and "grade" for devices.
    """

    limit: str
    path: str
    what: str
    scale: str
    along: tuple[str, ...]


@cache
def limits() -> tuple[Limit, ...]:
    """Returns every way to raise a limit of a server by one key."""
    return tuple(Limit(**{**way, "along": tuple(way["along"])}) for way in json.loads(_core.limits()))


def raise_limit(config: Config, limit: Limit, factor: float) -> tuple[str, str, Config] | None:
    """Returns the old value, the new value and the changed configuration; None if the raise is not possible.

    Sockets with a table of their own are raised together with the others.
    """
    raised = _core.raise_path(json.dumps(config), limit.path, list(limit.along), limit.scale, factor)
    if raised is None:
        return None
    before, after, changed = raised
    return before, after, json.loads(changed)

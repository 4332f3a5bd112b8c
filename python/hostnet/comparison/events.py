"""Where two runs part: what their directories say, and what running them again shows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.comparison.sides import common_epochs

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostnet.comparison.sides import Side

    Progress = Callable[[dict[str, Any]], bool | None]

CONTEXT = 20
"""Events kept before the first that differs, and from there on."""


def part(a: Side, b: Side, progress: Progress | None = None) -> dict[str, Any]:
    """Where two runs part, by running them again as far as needed.

    The key `outcome` says what was found: `identical` (they are the same run), `told-differently` (the same events,
    other results), `cut-short` (the same until one was stopped), `deviated` (one or both differ from a run made now, in
    the epoch from `start_ns` to `end_ns`), `reproduced` (a run made now agrees with both as far as it can tell),
    `diverged` (their events differ, from `a` and `b` on), `same-events` (they do not), `stopped`, or `impossible` with
    a `reason`.

    Raises:
        SimulationError: A run could not go on.
    """
    if not (a.simulated and b.simulated):
        return {"outcome": "impossible", "reason": "a prediction has no events"}
    common = common_epochs((a, b))
    if a.config_hash == b.config_hash:
        return _same_configuration(a, b, common, progress)
    try:
        plans = _plan(a), _plan(b)
        found = _core.first_divergence(*plans, from_ps=_end_ps(a, common), context=CONTEXT, progress=progress)
    except _core.ConfigError as error:
        return {"outcome": "impossible", "reason": str(error)}
    return _renamed(found, same="same-events")


def _same_configuration(a: Side, b: Side, common: int, progress: Progress | None) -> dict[str, Any]:
    if a.epochs == b.epochs:
        told = "identical" if a.measured == b.measured else "told-differently"
        return {"outcome": told}
    if common == min(len(a.epochs), len(b.epochs)) and not (a.complete and b.complete):
        return {"outcome": "cut-short", "until_ns": _end_ps(a, common) / 1000}
    try:
        records = [list(side.epochs) for side in (a, b)]
        found = _core.first_deviation(_plan(a), records, context=CONTEXT, progress=progress)
    except _core.ConfigError as error:
        return {"outcome": "impossible", "reason": str(error)}
    return _renamed(found, same="reproduced")


def _end_ps(side: Side, epochs: int) -> int:
    """When the first epochs of a run end, in ps."""
    return side.epochs[epochs - 1][0] if epochs else 0


def _plan(side: Side) -> _core.Plan:
    """The plan of a run, from its complete configuration.

    Raises:
        ConfigError: This version cannot run it.
    """
    try:
        plan = _core.resolve(json.dumps(side.config), format="json", file=side.label)
    except _core.ConfigError as error:
        raise error.reworded(f"this version cannot run {side.label} again: {error}") from None
    if plan.hash != side.config_hash:
        raise _core.ConfigError(
            "other-version",
            f"this version makes another run of the configuration of {side.label} (by hostnet {side.version}): "
            f"its hash is {plan.hash[:12]}, not {side.config_hash[:12]}",
        )
    return plan


def _renamed(found: str, *, same: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(found)
    if content["outcome"] == "same":
        content["outcome"] = same
    return content

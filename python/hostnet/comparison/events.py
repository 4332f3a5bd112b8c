"""Finds the first event in which two runs differ, from their run directories and by running them again."""

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
"""Number of events reported before the first that differs, and from it on."""


def find_divergence(a: Side, b: Side, progress: Progress | None = None) -> dict[str, Any]:
    """Finds where two runs diverge, by running them again as far as needed.

    The key `outcome` of the result is one of

    - `identical`: the runs are the same,
    - `told-differently`: equal events, but other results,
    - `cut-short`: equal until one run was stopped,
    - `deviated`: at least one run differs from a new run, in the epoch from `start_ns` to `end_ns`,
    - `reproduced`: a new run agrees with both as far as can be checked,
    - `diverged`: the events differ, from `a` and `b` on,
    - `same-events`: the events are equal,
    - `stopped`, or `impossible` with a `reason`.

    Raises:
        SimulationError: A run failed.
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
    return _rename_outcome(found, same="same-events")


def _same_configuration(a: Side, b: Side, common: int, progress: Progress | None) -> dict[str, Any]:
    """Compares two runs of the same configuration."""
    if a.epochs == b.epochs:
        outcome = "identical" if a.measured == b.measured else "told-differently"
        return {"outcome": outcome}
    if common == min(len(a.epochs), len(b.epochs)) and not (a.complete and b.complete):
        return {"outcome": "cut-short", "until_ns": _end_ps(a, common) / 1000}
    try:
        records = [list(side.epochs) for side in (a, b)]
        found = _core.first_deviation(_plan(a), records, context=CONTEXT, progress=progress)
    except _core.ConfigError as error:
        return {"outcome": "impossible", "reason": str(error)}
    return _rename_outcome(found, same="reproduced")


def _end_ps(side: Side, epochs: int) -> int:
    """Returns the end of the first `epochs` epochs of a run, in ps."""
    return side.epochs[epochs - 1][0] if epochs else 0


def _plan(side: Side) -> _core.Plan:
    """Resolves the complete configuration of a run again.

    Raises:
        ConfigError: This version cannot run it, or resolves it differently.
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


def _rename_outcome(found: str, *, same: str) -> dict[str, Any]:
    """Parses a result of the core and renames its outcome `same`."""
    content: dict[str, Any] = json.loads(found)
    if content["outcome"] == "same":
        content["outcome"] = same
    return content

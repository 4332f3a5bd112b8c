"""Finds which key of a limit a workload depends on: drives have separate ones for reads and writes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.explanation.raises import RAISE, limits, raise_limit
from hostnet.explanation.steps import NO_GAIN, predicted, resolve_complete, throughputs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hostnet.explanation.raises import Config, Limit
    from hostnet.explanation.steps import Rates

    Row = Mapping[str, Any]
    Changed = Callable[[Limit | None, float], Rates]

LOWERED = 0.25
"""Factor by which a key is lowered to test whether a workload depends on it."""


def with_keys(rows: Sequence[Row], config: Config, base_dir: str = ".") -> list[dict[str, Any]]:
    """Replaces the key of a gain if that key alone has no effect on the workload, and another key of its limit has.

    Args:
        rows: The facts of every workload, as in an explanation.
        config: The configuration of the server.
        base_dir: The folder that paths in the configuration are relative to.
    """

    @cache
    def changed(limit: Limit | None, factor: float) -> Rates:
        raised = None if limit is None else raise_limit(config, limit, factor)
        try:
            (summary,) = predicted([resolve_complete(raised[-1] if raised else config, base_dir)], None)
        except ConfigError:
            return {}
        return throughputs(summary)

    return [_with_keys(row, changed) for row in rows]


def _with_keys(row: Row, changed: Changed) -> dict[str, Any]:
    """Replaces the keys of the gains of a workload."""
    if not row.get("limits"):
        return dict(row)
    gains = [{**gain, "key": _key_of(gain["key"], row["workload"], changed)} for gain in row["limits"]["gains"]]
    return {**row, "limits": {**row["limits"], "gains": gains}}


def _key_of(given: str, workload: str, changed: Changed) -> str:
    """Returns the key of a gain, or its keys if it takes several."""
    together = given.split(", ")
    for limit in limits():
        if limit.along and limit.path in together:
            # Limits that help only together have no effect when raised alone, so they are lowered instead.
            factor = RAISE if len(together) == 1 else LOWERED
            return given.replace(limit.path, _effective_key(limit, factor, workload, changed))
    return given


def _effective_key(limit: Limit, factor: float, workload: str, changed: Changed) -> str:
    """Returns the first key of a limit, or the one with the largest effect if the first has none."""
    (now, _), effects = changed(None, 1.0).get(workload, (0.0, None)), {}
    for key in (limit.path, *limit.along):
        then, _ = changed(replace(limit, path=key, along=()), factor).get(workload, (now, None))
        effects[key] = abs(then / now - 1) if now else 0.0
    most = max(effects, key=lambda key: effects[key])
    return limit.path if effects[limit.path] >= NO_GAIN or effects[most] < NO_GAIN else most

"""Finds which workloads of a side slow down another one; only those whose removal is known to help are named."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.explanation.reduced import SideNotSimulatedError, without
from hostnet.explanation.sides import TOO_LONG, WORK_MAX, is_kept, rates_of, resolve_reduced, rows_of, simulate_cached
from hostnet.explanation.steps import is_settled, predicted
from hostnet.regimes import GAIN_MIN

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from hostnet.explanation.raises import Config
    from hostnet.explanation.sides import JointRun, Rates
    from hostnet.explanation.steps import Progress

    Row = Mapping[str, Any]
    Without = Callable[[Collection[str]], Rates]

ADDS_MIN = 0.1
"""Smallest share of the total gain that a workload must add, beyond noise, to be named."""

KEPT_MIN = 0.9
"""Smallest share of the total gain that the named workloads must account for."""

SIDES = {"stream": "the cores", "fio": "the devices"}
"""Names of the sides, by the kind of their workloads."""


def name_aggressors(regime: Mapping[str, Any], facts: Sequence[Row], engines: Mapping[str, Without]) -> dict[str, Any]:
    """Names the workloads of a side that slow down another one, or the whole side if that is unknown.

    Args:
        regime: A regime that names all workloads of a side.
        facts: The facts of every workload.
        engines: Functions that return the rates of a server without some of its workloads, by the basis of gains.
    """
    return {**regime, "slowed": [_with_aggressors(slowed, facts, engines) for slowed in regime["slowed"]]}


def _with_aggressors(slowed: Row, facts: Sequence[Row], engines: Mapping[str, Without]) -> dict[str, Any]:
    """Names the workloads that slow down one workload."""
    side = [row for row in facts if row["workload"] in slowed["because_of"]]
    if len(side) < 2:
        return dict(slowed)
    smallest_first = [row["workload"] for row in sorted(side, key=lambda row: row["gb_per_s"])]
    basis = next((row["alone"]["basis"] for row in facts if row["workload"] == slowed["workload"] and row["alone"]), "")
    try:
        named, share = _RemovalGain(slowed["workload"], engines[basis]).named_workloads(smallest_first)
    except (KeyError, SideNotSimulatedError):
        named, share = [], 0.0
    gain = share * (slowed["times"] - 1)
    if gain < GAIN_MIN:
        return {**slowed, "because_of": [SIDES[side[0]["kind"]]]}
    return {**slowed, "because_of": [name for name in slowed["because_of"] if name in named], "times": 1 + gain}


@dataclass(frozen=True)
class _RemovalGain:
    """Gain of a workload when others are removed."""

    workload: str
    without: Without

    def named_workloads(self, smallest_first: Sequence[str]) -> tuple[list[str], float]:
        """Returns the workloads of a side to name, and the share of the total gain that their removal achieves.

        Raises:
            NotPartedError: The rates without some of them are unknown.
        """
        (now, _), (most, near) = self._rate(()), self._rate(smallest_first)
        if most <= now:
            raise SideNotSimulatedError
        named, rate = list(smallest_first), most
        for name in smallest_first[:-1]:
            fewer = [other for other in named if other != name]
            found, far = self._rate(fewer)
            noise = math.hypot(near, far) / (most - now)
            lost, kept = (rate - found) / (most - now), (found - now) / (most - now)
            if lost - noise < ADDS_MIN and kept + noise >= KEPT_MIN:
                named, rate, near = fewer, found, far
        return named, (rate - now) / (most - now)

    def _rate(self, names: Collection[str]) -> tuple[float, float]:
        """Returns the rate without some workloads, and the half-width of its interval."""
        rate, near = self.without(names).get(self.workload, (0.0, None))
        if not rate:
            raise SideNotSimulatedError
        return rate, near or 0.0


def predicted_without(config: Config, base_dir: str = ".") -> Without:
    """Returns a function that predicts the rates of a server without some of its workloads."""

    def rates(names: Collection[str]) -> Rates:
        plan = resolve_reduced(without(config, None, names), base_dir)
        try:
            (summary,) = predicted([plan], None)
        except ConfigError as error:
            raise SideNotSimulatedError(str(error)) from None
        return rates_of(summary["workloads"]) if is_settled(summary) else {}

    return rates


def simulated_without(
    config: Config,
    host: str | None,
    together: JointRun,
    run: Config | None,
    *,
    base_dir: str = ".",
    limited: bool = True,
    progress: Progress | None = None,
) -> Without:
    """Returns a function that simulates a server without some of its workloads and returns its rates.

    `run` replaces `[run]`, as in `SeparatedSides`. `limited` simulations take about a second at most.
    """
    left, cost = WORK_MAX if limited else math.inf, 0

    def rates(names: Collection[str]) -> Rates:
        nonlocal left, cost
        if not names and run is None:
            cost = together.events
            return rates_of(together.rows)
        part = without(config, host, names)
        plan = resolve_reduced(part if run is None else {**part, "run": run}, base_dir)
        left -= 0 if is_kept(plan) else cost
        if left < 0:
            raise SideNotSimulatedError(TOO_LONG)
        (summary,) = simulate_cached([plan], progress)
        cost = max(cost, summary["events"])
        return rates_of(rows_of(summary, host))

    return rates

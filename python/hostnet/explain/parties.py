"""Which workloads of a side slow down another one: those are named that it is known to gain without, and no others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.explain.reduced import NotPartedError, without
from hostnet.explain.sides import TOO_LONG, WORK_MAX, is_kept, planned, rates_of, rows_of, simulated_once
from hostnet.explain.steps import is_settled, predicted
from hostnet.regimes import GAIN_MIN

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from hostnet.explain.raises import Config
    from hostnet.explain.sides import Rates, Together
    from hostnet.explain.steps import Progress

    Row = Mapping[str, Any]
    Without = Callable[[Collection[str]], Rates]

ADDS_MIN = 0.1
"""Least share of the gain without all of a side that a workload surely adds if it is named."""

KEPT_MIN = 0.9
"""Least share of that gain that is left without those that are named, with the others still there."""

SIDES = {"stream": "the cores", "fio": "the devices"}
"""What a side is called as a whole, by the kind of its workloads."""


def with_parties(regime: Mapping[str, Any], facts: Sequence[Row], engines: Mapping[str, Without]) -> dict[str, Any]:
    """Names the workloads of a side that slow down another one, or the side as a whole if it is not known which do.

    Args:
        regime: A regime that names all of a side.
        facts: The facts of every workload.
        engines: What tells the rates of a server without some of its workloads, by the basis of gains.
    """
    return {**regime, "slowed": [_judged(slowed, facts, engines) for slowed in regime["slowed"]]}


def _judged(slowed: Row, facts: Sequence[Row], engines: Mapping[str, Without]) -> dict[str, Any]:
    side = [row for row in facts if row["workload"] in slowed["because_of"]]
    if len(side) < 2:
        return dict(slowed)
    smallest_first = [row["workload"] for row in sorted(side, key=lambda row: row["gb_per_s"])]
    basis = next((row["alone"]["basis"] for row in facts if row["workload"] == slowed["workload"] and row["alone"]), "")
    try:
        named, share = _Gain(slowed["workload"], engines[basis]).of(smallest_first)
    except (KeyError, NotPartedError):
        named, share = [], 0.0
    gain = share * (slowed["times"] - 1)
    if gain < GAIN_MIN:
        return {**slowed, "because_of": [SIDES[side[0]["kind"]]]}
    return {**slowed, "because_of": [name for name in slowed["because_of"] if name in named], "times": 1 + gain}


@dataclass(frozen=True)
class _Gain:
    """What a workload gains without others."""

    workload: str
    without: Without

    def of(self, smallest_first: Sequence[str]) -> tuple[list[str], float]:
        """Returns those of a side that it gains without, and the share of the gain without all that this gives.

        Raises:
            NotPartedError: The server without some of them is not known.
        """
        (now, _), (most, near) = self._rate(()), self._rate(smallest_first)
        if most <= now:
            raise NotPartedError
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
        rate, near = self.without(names).get(self.workload, (0.0, None))
        if not rate:
            raise NotPartedError
        return rate, near or 0.0


def predicted_without(config: Config, base_dir: str = ".") -> Without:
    """What predictions tell of a server without some of its workloads."""

    def rates(names: Collection[str]) -> Rates:
        plan = planned(without(config, None, names), base_dir)
        try:
            (summary,) = predicted([plan], None)
        except ConfigError as error:
            raise NotPartedError(str(error)) from None
        return rates_of(summary["workloads"]) if is_settled(summary) else {}

    return rates


def simulated_without(
    config: Config,
    host: str | None,
    together: Together,
    run: Config | None,
    *,
    base_dir: str = ".",
    limited: bool = True,
    progress: Progress | None = None,
) -> Without:
    """What simulations tell of a server without some of its workloads.

    `run` replaces `[run]`, as of `Apart`. `limited` simulations take about a second at most.
    """
    left, cost = WORK_MAX if limited else math.inf, 0

    def rates(names: Collection[str]) -> Rates:
        nonlocal left, cost
        if not names and run is None:
            cost = together.events
            return rates_of(together.rows)
        part = without(config, host, names)
        plan = planned(part if run is None else {**part, "run": run}, base_dir)
        left -= 0 if is_kept(plan) else cost
        if left < 0:
            raise NotPartedError(TOO_LONG)
        (summary,) = simulated_once([plan], progress)
        cost = max(cost, summary["events"])
        return rates_of(rows_of(summary, host))

    return rates

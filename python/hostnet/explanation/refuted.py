"""Replaces the predicted limit of a workload if simulated steps refute it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hostnet.limit_names import NOT_KNOWN
from hostnet.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.explanation.steps import Step, Steps

NAMED_MIN = 0.02
"""Smallest gain for which a limit is named."""

NAMED_WITH = 0.5
"""Smallest share of the largest gain for which a second limit is named."""

NEAR = 0.10
"""A prediction is not refuted if it exceeds the simulated gain by no more than this, beyond its interval."""

SIMULATED = ", simulated"
"""Suffix of a simulated gain among predicted ones."""

NOTHING_HELPS = "has no known limit: no simulated step is sure to gain 2 %"


def apply_simulated_steps(explanation: dict[str, Any], steps: Steps) -> dict[str, Any]:
    """Replaces every limit that the simulated steps refute by one that they confirm."""
    rows = [_with_confirmed_limit(row, steps.steps) for row in explanation["workloads"]]
    return {**explanation, "workloads": rows}


def _with_confirmed_limit(row: dict[str, Any], steps: Sequence[Step]) -> dict[str, Any]:
    """Replaces the limit of a workload if the named one does not help, or else its gain by the simulated one."""
    named = ((row.get("limits") or {}).get("gains") or ())[:1]
    if row["doubtful"] or not named or row["binding"] == [NOT_KNOWN]:
        return row
    claim = named[0]
    tried = [
        step for step in _raises(steps, row["workload"]) if claim["key"] == step.path or claim["limit"] == step.limit
    ]
    borne_out = [step for step in tried if _is_consistent(step, row["workload"], claim["gain"])]
    if borne_out:
        gain = _gain(borne_out[0], row["workload"])
        return {**row, "limited": _with_simulated(row["limited"], gain or 0.0, str(claim["raised"]))}
    return _confirmed(row, steps) if tried else row


def _with_simulated(limited: str, gain: float, raised: str) -> str:
    """Replaces the predicted gain in a sentence by the simulated one."""
    predicted = re.compile(rf"\([+-]?\d+ ?% with {re.escape(raised)}\)")
    simulated = f"({format_percent(gain, sign='+')} with {raised}{SIMULATED})"
    return predicted.sub(lambda _: simulated, limited)


def _raises(steps: Sequence[Step], name: str) -> list[Step]:
    """Returns the simulated raises by a quarter, the step for which the gains of limits are predicted."""
    return [step for step in steps if step.reach is not None and _gain(step, name) is not None]


def _is_consistent(step: Step, name: str, claim: float) -> bool:
    """Returns True if a simulation is consistent with the gain that is claimed for a raise by a quarter."""
    gain, noise = _gain(step, name) or 0.0, (step.noise or {}).get(name, 0.0)
    return claim <= gain + noise + NEAR and gain + noise >= NAMED_MIN


def _confirmed(row: dict[str, Any], steps: Sequence[Step]) -> dict[str, Any]:
    """Names what helps a workload in simulations as its limit, and drops the predicted limits."""
    name = row["workload"]
    sure = [(step, gain) for step in _raises(steps, name) if (gain := _gain_lower_end(step, name)) >= NAMED_MIN]
    sure.sort(key=lambda found: -found[0].per_quarter(found[1]))
    if not sure:
        return _replaced(row, [NOT_KNOWN], NOTHING_HELPS)
    first, most = sure[0]
    least = NAMED_WITH * first.per_quarter(most)
    names = list(dict.fromkeys(str(step.limit) for step, gain in sure if step.per_quarter(gain) >= least))
    gain = _gain(first, name) or 0.0
    limited = f"is limited by {' / '.join(names)} ({format_percent(gain, sign='+')} with {first.text()}{SIMULATED})"
    return _replaced(row, names, limited)


def _replaced(row: dict[str, Any], names: list[str], limited: str) -> dict[str, Any]:
    """Returns a workload with another limit, and without the predictions that were refuted."""
    return {**row, "binding": names, "limited": limited, "limits": {**row["limits"], "gains": []}, "refuted": True}


def _gain(step: Step, name: str) -> float | None:
    """Returns the simulated gain of a workload from a step; None without a simulation."""
    return (step.confirmed or {}).get(name)


def _gain_lower_end(step: Step, name: str) -> float:
    """Returns the lower end of the simulated gain of a workload from a step."""
    return (_gain(step, name) or 0.0) - (step.noise or {}).get(name, 0.0)

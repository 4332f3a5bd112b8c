"""The regime of contention between cores and devices, in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Mapping

GAIN_MIN = 0.05
"""Least gain for which the regime blames a side."""

NAMES_MAX = 2
"""The most workloads that a headline names one by one."""


def regime_headline(regime: Mapping[str, Any]) -> str:
    """Says who is slowed down by whom and by how much, and what of that is not known."""
    name, slowed = str(regime["name"]), regime.get("slowed") or ()
    told = "; ".join(slowed_text(one) for one in slowed)
    untold = regime.get("open") or ()
    not_known = f"Not known: {'; '.join(untold)}." if untold else "Not known."
    match name:
        case "red":
            return f"Red: {told}. P2M is out of credits."
        case "blue":
            return f"Blue: {told}. P2M keeps its rate."
        case "cores":
            return "Cores: the cores slow each other down."
        case "uncontended":
            slows = f"no workload slows another down by {format_percent(GAIN_MIN)} or more."
            return f"Uncontended: {slows}{f' {not_known}' if untold else ''}"
    return f"{told}. {not_known}" if told else not_known


def slowed_text(slowed: Mapping[str, Any]) -> str:
    """Says who is slowed down, by how much, and by whom."""
    others = slowed["because_of"]
    named = " and ".join(others) if len(others) <= NAMES_MAX else f"{others[0]} and {len(others) - 1} others"
    return f"{slowed['workload']} runs {slowed['times']:.2f} x slower because of {named}"

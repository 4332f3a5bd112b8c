"""Sentences about the regime of contention between cores and devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Mapping

GAIN_MIN = 0.05
"""Smallest slowdown, as a fraction, for which the regime blames a side."""

NAMES_MAX = 2
"""Maximum number of workloads that a headline names one by one."""


def regime_headline(regime: Mapping[str, Any]) -> str:
    """Returns a sentence that says which workloads slow which others down, by how much, and what is unknown."""
    name, slowed = str(regime["name"]), regime.get("slowed") or ()
    texts = "; ".join(slowed_text(one) for one in slowed)
    unresolved = regime.get("open") or ()
    not_known = f"Not known: {'; '.join(unresolved)}." if unresolved else "Not known."
    match name:
        case "red":
            return f"Red: {texts}. P2M is out of credits."
        case "blue":
            return f"Blue: {texts}. P2M keeps its rate."
        case "cores":
            return "Cores: the cores slow each other down."
        case "uncontended":
            slows = f"no workload slows another down by {format_percent(GAIN_MIN)} or more."
            return f"Uncontended: {slows}{f' {not_known}' if unresolved else ''}"
    return f"{texts}. {not_known}" if texts else not_known


def slowed_text(slowed: Mapping[str, Any]) -> str:
    """Returns a sentence that says how much a workload is slowed down, and by which others."""
    others = slowed["because_of"]
    named = " and ".join(others) if len(others) <= NAMES_MAX else f"{others[0]} and {len(others) - 1} others"
    return f"{slowed['workload']} runs {slowed['times']:.2f} x slower because of {named}"

"""What the screen, the report and pictures show of frequencies and sleep of cores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.view import Column, View, maybe, name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hostnet.view import Row

BEFORE, AFTER = ("C0", "poll"), ("wake", "halt")
"""States of cores that are no C-states: those that are shown before these, and those after them."""


def states_of(rows: Iterable[Row]) -> list[str]:
    """The states of cores: those that work and poll, then C-states from the lightest, then those in between."""
    known = list(dict.fromkeys(str(row["state"]) for row in rows))
    asleep = [state for state in known if state not in (*BEFORE, *AFTER)]
    return [state for state in (*BEFORE, *asleep, *AFTER) if state in known]


def cores_w(rows: Iterable[Row]) -> float | None:
    """What the cores of all rows take together, in W; nothing without rows."""
    watts = [row["power_w"] for row in rows]
    return sum(watts) if watts else None


def power(summary: Mapping[str, Any]) -> View:
    """Frequencies and sleep of the cores of each server, a row each."""
    rows, states, services = (summary.get(name, ()) for name in ("power", "power_states", "services"))
    names = states_of(states)
    found: dict[str, dict[str, Any]] = {}
    for host in dict.fromkeys(row["host"] for row in rows):
        own = [row for row in rows if row["host"] == host]
        shares = {
            name: sum(row["share"] for row in states if row["host"] == host and row["state"] == name) / len(own)
            for name in names
        }
        energies = (row.get("energy_uj_per_request") for row in services if row["host"] == host)
        found[host] = {
            "host": host or "server",
            "watts": cores_w(own),
            "ghz": sum(row["ghz_mean"] for row in own) / len(own),
            "energy": next((energy for energy in energies if energy is not None), None),
            "shares": shares,
        }
    columns = [
        name_of("cores of", "host"),
        maybe("W", "watts"),
        maybe("GHz", "ghz"),
        *(_share(name) for name in names),
        maybe("µJ per request", "energy"),
    ]
    about = (
        "What all cores take together, their mean frequency, and the share of time in each state, as a mean over the "
        "cores: C0 is at work, poll without work and awake, wake on the way out of sleep, halt while the clock changes."
    )
    return View("Power of cores", about, columns, list(found.values()))


def _share(name: str) -> Column:
    """The share of time in a state, in percent."""
    return Column(f"{name} %", lambda row: 100 * row["shares"][name])

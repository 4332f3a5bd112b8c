"""Table of the frequencies and sleep states of cores, for the screen, the report and plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.glossary import column_meaning
from hostnet.view import Column, View, defined_column, text_column

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hostnet.view import Row

BEFORE, AFTER = ("C0", "poll"), ("wake", "halt")
"""States of cores other than C-states: those listed before the C-states, and those listed after."""


def core_states(rows: Iterable[Row]) -> list[str]:
    """Returns the states of cores: working and polling, then C-states from the lightest, then transitions."""
    known = list(dict.fromkeys(str(row["state"]) for row in rows))
    asleep = [state for state in known if state not in (*BEFORE, *AFTER)]
    return [state for state in (*BEFORE, *asleep, *AFTER) if state in known]


def cores_w(rows: Iterable[Row]) -> float | None:
    """Returns the total power of the cores of all rows, in W; None without rows."""
    watts = [row["power_w"] for row in rows]
    return sum(watts) if watts else None


def power_view(summary: Mapping[str, Any]) -> View:
    """Creates the table of frequencies and sleep of the cores of each server."""
    rows, states, services = (summary.get(name, ()) for name in ("power", "power_states", "services"))
    names = core_states(states)
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
        text_column("cores of", "host"),
        defined_column("W", "watts", "mean power of all cores together, in W"),
        defined_column("GHz", "ghz", "mean frequency of the cores, sleep included"),
        *(_share(name) for name in names),
        defined_column("µJ per request", "energy", "energy of all cores divided by the answered requests"),
    ]
    about = (
        "Total power of all cores, their mean frequency, and the mean share of time of a core in each state: "
        "C0 is at work, poll is awake without work, wake is leaving a sleep state, halt is a change of the clock."
    )
    return View("Power of cores", about, columns, list(found.values()), source="power")


def _share(name: str) -> Column:
    """Creates the column of the time share of a state, in percent."""
    known = column_meaning("power_states", "state", name)
    about = f"share of time {known}" if known else f"share of time in the sleep state {name}"
    return Column(f"{name} %", lambda row: 100 * row["shares"][name], about=about)

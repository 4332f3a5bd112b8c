"""What the screen and the report show of energy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.units import format_si
from hostnet.view import Column, View, maybe, name_of, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.view import Row

METERED = {
    "cores": "cores",
    "DRAM": "DRAM",
    "uncore": "uncore",
    "LLC": "LLC",
    "IO": "IO",
    "NIC": "NIC",
    "switch": "switch",
}
"""Parts of an energy meter by how their names begin, and what they are called."""


def energy(rows: Sequence[Row]) -> View:
    """What servers and switches with a meter consumed, a row each."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        of_host = found.setdefault(row.get("host", ""), {"host": row.get("host", "server")})
        if row["part"] == "all":
            of_host |= {"all": row["power_w"], "low": row["power_low_w"], "high": row["power_high_w"]}
        for start in (start for start in METERED if row["part"].startswith(start)):
            of_host[start] = of_host.get(start, 0.0) + (row["power_w"] or 0.0)
    columns = [
        name_of("energy", "host"),
        maybe("W", "all"),
        maybe("from", "low"),
        maybe("to", "high"),
        *(maybe(f"{name} W", start) for start, name in METERED.items()),
    ]
    about = "Power as a mean over the window: of all parts, how little and how much it may be, and of each."
    if any("host" in row for row in rows) and not any(row["part"].startswith("switch") for row in rows):
        about += " No switch is counted: nobody says what one takes (network.switch.energy)."
    return View("Energy", about, columns, list(found.values()))


def energy_for(heading: str, key: str, joules: float) -> Column:
    """A column of energies in a unit of `joules`, each shown with a suitable prefix."""
    return Column(heading, lambda row: format_si(row[key] * joules, "J") if row[key] else None)


def efficiency(rows: Sequence[Row]) -> View:
    """All the energy of the meters for what was done."""
    columns = [
        name_of("all energy for", "name"),
        energy_for("per byte", "pj_per_byte", 1e-12),
        energy_for("per operation", "nj_per_operation", 1e-9),
        plain("operations", "operations"),
    ]
    about = "All the energy that was metered, for each byte and each operation."
    return View("Energy for what was done", about, columns, rows)

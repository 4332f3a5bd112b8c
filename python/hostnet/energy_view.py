"""Tables of energy for the screen and the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.units import format_si
from hostnet.view import Column, View, text_column, value_column

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
"""Prefixes of the part names of an energy meter, and the headings of their columns."""


def energy_view(rows: Sequence[Row]) -> View:
    """Creates the table of power by server and switch, one row for each that has a meter."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        of_host = found.setdefault(row.get("host", ""), {"host": row.get("host", "server")})
        if row["part"] == "all":
            of_host |= {"all": row["power_w"], "low": row["power_low_w"], "high": row["power_high_w"]}
        for start in (start for start in METERED if row["part"].startswith(start)):
            of_host[start] = of_host.get(start, 0.0) + (row["power_w"] or 0.0)
    columns = [
        Column("energy", lambda row: row["host"], text=True, about="server or switch with an energy meter"),
        Column("W", lambda row: row.get("all"), key="power_w"),
        Column("from", lambda row: row.get("low"), key="power_low_w"),
        Column("to", lambda row: row.get("high"), key="power_high_w"),
        *(_part_column(name, start) for start, name in METERED.items()),
    ]
    about = "Mean power over the window: of all parts, with its range of uncertainty, and of each part."
    if any("host" in row for row in rows) and not any(row["part"].startswith("switch") for row in rows):
        about += " Switches are not included: network.switch.energy is not set."
    return View("Energy", about, columns, list(found.values()), source="energy")


def _part_column(name: str, start: str) -> Column:
    """Creates the column of the power of the parts whose names begin with `start`."""
    return Column(f"{name} W", lambda row: row.get(start), about=f"mean power of {name}, in W")


def energy_column(heading: str, key: str, joules: float) -> Column:
    """Creates a column of energies that the table stores in units of `joules`, shown with an SI prefix."""
    return Column(heading, lambda row: format_si(row[key] * joules, "J") if row[key] else None, key=key)


def efficiency_view(rows: Sequence[Row]) -> View:
    """Creates the table of the total metered energy per byte and per operation."""
    columns = [
        text_column("all energy for", "name"),
        energy_column("per byte", "pj_per_byte", 1e-12),
        energy_column("per operation", "nj_per_operation", 1e-9),
        value_column("operations", "operations"),
    ]
    about = "All the energy that was metered, for each byte and each operation."
    return View("Energy for what was done", about, columns, rows, "efficiency")

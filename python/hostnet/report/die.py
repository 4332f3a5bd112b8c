"""Map of the die of a socket: its parts, and the busy share of every link of its mesh."""

from __future__ import annotations

from typing import Any

from hostnet.report.html import Html, element, section
from hostnet.report.link_lines import heat, wire
from hostnet.report.svg import text
from hostnet.report.tables import page_table
from hostnet.server_view import mesh_table
from hostnet.units import format_percent

Row = dict[str, Any]

PITCH = 92.0
"""Distance between stops, in units of the drawing."""
SIDE = 44.0
"""Side length of a stop."""
BOW = 7.0
"""Distance of each direction from the centre line of its link."""
THICK = 6.0
RINGS = ("lines", "requests", "acknowledgements")
STEPS = {"north": (0, -1), "east": (1, 0), "south": (0, 1), "west": (-1, 0)}
SHORT = {"core": "core", "cha": "CHA", "channel": "MC", "iio": "IIO"}
"""Short names of the parts."""


def die_section(server: Row, title: str = "Mesh") -> Html | None:
    """Creates the maps of the dies of a server, and the table of its routes; None without a mesh."""
    if "dies" not in server:
        return None
    maps = [element("figure", die_map(die, server["mesh"])) for die in server["dies"]]
    note = (
        "Links are coloured by the busiest of their rings, stops by the link from the mesh to them. A way is the time "
        "of a message on an idle mesh; the delays of the configuration include the mean way of the die."
    )
    return section(title, *maps, page_table(mesh_table(server)), note=note)


def die_map(die: Row, rows: list[Row]) -> Html:
    """Draws a die and the links between its stops, coloured by busy share."""
    own = [row for row in rows if row["socket"] == die["socket"]]
    out = {(row["column"], row["row"]): row for row in own if row["side"] == "out"}
    links = [link(row) for row in own if row["side"] in STEPS]
    fullest = max(own, key=busy, default=None)
    label = f"How busy the links of the mesh of socket {die['socket']} are"
    if fullest is not None:
        label += f"; the fullest is {link_text(fullest)}"
    stops = [stop(one, out.get((one["column"], one["row"]))) for one in die["stops"]]
    return element(
        "svg",
        element("title", label),
        *links,
        *(part for drawn in stops for part in drawn),
        viewBox=f"0 0 {die['columns'] * PITCH:g} {die['rows'] * PITCH:g}",
        role="img",
        aria_label=label,
        style="max-width: 760px",
    )


def stop(one: Row, out: Row | None) -> list[Html]:
    """Draws a stop with its parts."""
    x, y = centre_of(one["column"], one["row"])
    parts = ", ".join(one["parts"])
    words = parts if out is None else f"{parts}: {link_text(out)}"
    box = element(
        "rect",
        element("title", words),
        x=x - SIDE / 2,
        y=y - SIDE / 2,
        width=SIDE,
        height=SIDE,
        rx=4,
        style=f"fill: {heat(busy(out) if out else 0.0)}; stroke: var(--line)",
    )
    lines = [f"{SHORT[kind]} {numbers}" for kind, numbers in group_parts(one["parts"]).items()]
    top = y - 6 * (len(lines) - 1) + 4
    return [box, *(text(line, x, top + 12 * index, anchor="middle") for index, line in enumerate(lines))]


def group_parts(parts: list[str]) -> dict[str, str]:
    """Returns the numbers of the parts of each kind."""
    found: dict[str, list[str]] = {}
    for part in parts:
        kind = part.rstrip("0123456789")
        found.setdefault(kind, []).append(part.removeprefix(kind))
    return {kind: numbers[0] if len(numbers) < 3 else f"{numbers[0]}…" for kind, numbers in found.items()}


def link(row: Row) -> Html:
    """Draws one direction between two stops."""
    across, down = STEPS[row["side"]]
    start, end = centre_of(row["column"], row["row"]), centre_of(row["column"] + across, row["row"] + down)
    return wire(start, end, busy(row), link_text(row), gap=SIDE / 2 + 2, bow=BOW, thick=THICK)


def centre_of(column: int, row: int) -> tuple[float, float]:
    """Returns the centre of a stop."""
    return (column + 0.5) * PITCH, (row + 0.5) * PITCH


def busy(row: Row) -> float:
    """Returns the busy share of the busiest ring of a side."""
    return max(float(row[f"{ring}_busy_share"] or 0.0) for ring in RINGS)


def link_text(row: Row) -> str:
    """Describes a side of a stop: the busy shares of its rings, and the waits there."""
    shares = ", ".join(f"{ring} {format_percent(row[f'{ring}_busy_share'] or 0.0, 1)}" for ring in RINGS)
    lost = "" if row["waited_ns"] is None else f"; a message loses {row['waited_ns']:.2f} ns"
    return f"column {row['column']} row {row['row']} {row['side']}: {shares}{lost}"

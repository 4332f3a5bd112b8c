"""The die of a socket as it lies: its parts, and how busy every link of its mesh is."""

from __future__ import annotations

from typing import Any

from hostnet.report.html import Html, element, section
from hostnet.report.link_lines import heat, wire
from hostnet.report.svg import text
from hostnet.report.tables import Column, numeric, record_table
from hostnet.units import format_percent

Row = dict[str, Any]

PITCH = 92.0
"""Distance of stops, in units of the picture."""
SIDE = 44.0
"""Side of a stop."""
BOW = 7.0
"""How far each direction lies beside the middle of its way."""
THICK = 6.0
RINGS = ("lines", "requests", "acknowledgements")
STEPS = {"north": (0, -1), "east": (1, 0), "south": (0, 1), "west": (-1, 0)}
SHORT = {"core": "core", "cha": "CHA", "channel": "MC", "iio": "IIO"}
"""What a part is called in the picture."""

WAYS = (
    Column("Workload", ("workload",), lambda row: str(row["workload"])),
    Column("Leg", ("leg",), lambda row: str(row["leg"])),
    Column("Socket", ("socket",), lambda row: str(row["socket"])),
    numeric("Messages", "messages"),
    numeric("Way ns", "way_ns"),
    numeric("Mean way of the die ns", "mean_way_ns"),
    numeric("Lost to others ns", "waited_ns"),
)


def die_section(server: Row, title: str = "Mesh") -> Html | None:
    """The dies of a server by what a summary says of it, and the ways of its lines; nothing where there is no mesh."""
    if "dies" not in server:
        return None
    maps = [element("figure", die_map(die, server["mesh"])) for die in server["dies"]]
    note = (
        "Links are coloured by the busiest of their rings, stops by the way from the mesh to them. A way is that of a "
        "message with nobody else on the mesh; the delays of the configuration contain the mean way of the die."
    )
    return section(title, *maps, record_table("Ways", WAYS, server["mesh_ways"], text_columns=3), note=note)


def die_map(die: Row, rows: list[Row]) -> Html:
    """A die and the links between its stops, coloured as they are busy."""
    own = [row for row in rows if row["socket"] == die["socket"]]
    out = {(row["column"], row["row"]): row for row in own if row["side"] == "out"}
    links = [link(row) for row in own if row["side"] in STEPS]
    fullest = max(own, key=busy, default=None)
    label = f"How busy the links of the mesh of socket {die['socket']} are"
    if fullest is not None:
        label += f"; the fullest is {said(fullest)}"
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
    """A stop and what lies there."""
    x, y = place(one["column"], one["row"])
    parts = ", ".join(one["parts"])
    words = parts if out is None else f"{parts}: {said(out)}"
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
    lines = [f"{SHORT[kind]} {numbers}" for kind, numbers in together(one["parts"]).items()]
    top = y - 6 * (len(lines) - 1) + 4
    return [box, *(text(line, x, top + 12 * index, anchor="middle") for index, line in enumerate(lines))]


def together(parts: list[str]) -> dict[str, str]:
    """The numbers of the parts of each kind."""
    found: dict[str, list[str]] = {}
    for part in parts:
        kind = part.rstrip("0123456789")
        found.setdefault(kind, []).append(part.removeprefix(kind))
    return {kind: numbers[0] if len(numbers) < 3 else f"{numbers[0]}…" for kind, numbers in found.items()}


def link(row: Row) -> Html:
    """One direction between two stops."""
    across, down = STEPS[row["side"]]
    start, end = place(row["column"], row["row"]), place(row["column"] + across, row["row"] + down)
    return wire(start, end, busy(row), said(row), gap=SIDE / 2 + 2, bow=BOW, thick=THICK)


def place(column: int, row: int) -> tuple[float, float]:
    """The middle of a stop."""
    return (column + 0.5) * PITCH, (row + 0.5) * PITCH


def busy(row: Row) -> float:
    """How busy the busiest ring of a side is."""
    return max(float(row[f"{ring}_busy_share"] or 0.0) for ring in RINGS)


def said(row: Row) -> str:
    """A side of a stop, its rings, and what is lost there, in words."""
    shares = ", ".join(f"{ring} {format_percent(row[f'{ring}_busy_share'] or 0.0, 1)}" for ring in RINGS)
    lost = "" if row["waited_ns"] is None else f"; a message loses {row['waited_ns']:.2f} ns"
    return f"column {row['column']} row {row['row']} {row['side']}: {shares}{lost}"

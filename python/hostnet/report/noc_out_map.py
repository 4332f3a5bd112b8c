"""Map of a NOC-Out: fully connected LLC tiles, and chains of cores above and below them."""

from __future__ import annotations

from typing import Any

from hostnet.report.chip_map import BOW, SIDE, THICK, drawing, link_text, map_scale
from hostnet.report.html import Html, element
from hostnet.report.link_lines import heat, wire
from hostnet.report.svg import text

Row = dict[str, Any]

PITCH = 72.0
"""Distance between columns, in units of the drawing."""
STEP = 40.0
"""Distance between cores along a chain."""
BAND = 84.0
"""Space above and below the LLC tiles for the links between them."""
LEFT, RIGHT = 108.0, 36.0
"""Space beside the outer columns; labels are on the left."""
PART = 16.0
"""Side length of each part of an LLC tile."""
PARTS = ("slice", "edge", "memory")


def noc_out_map(summary: Row) -> Html:
    """Draws the chip and its links, coloured by busy share."""
    chip, links = summary["config"]["chip"], summary["noc"]["links"]
    full = map_scale(links)
    half = chip["rows"] // 2
    width = LEFT + RIGHT + (chip["columns"] - 1) * PITCH
    height = SIDE * 2 + (chip["rows"] - 2) * STEP + 2 * BAND
    middle = SIDE + (half - 1) * STEP + BAND

    def place(where: list[int]) -> tuple[float, float]:
        x, away = LEFT + where[0] * PITCH, where[1] - half
        return x, middle + ((abs(away) - 1) * STEP + BAND) * ((away > 0) - (away < 0))

    drawn = [arc(row, full, *place(row["from"]), *place(row["to"])) for row in links if row["kind"] == "across"]
    drawn += [
        wire(
            place(row["from"]),
            place(row["to"]),
            row["share"] / full,
            link_text(row),
            gap=SIDE / 2 + 1,
            bow=BOW,
            thick=THICK,
        )
        for row in links
        if row["kind"] == "chain"
    ]
    drawn += [unit(row, full, *place(row["from"])) for row in links if row["kind"] not in ("across", "chain")]
    heads = [
        text("cores", 0, SIDE),
        text("LLC, NI,", 0, middle - 3),
        text("memory", 0, middle + 15),
        text("cores", 0, height - SIDE / 2),
    ]
    return drawing(links, (width, height), *drawn, *heads)


def arc(row: Row, full: float, x1: float, y1: float, x2: float, y2: float) -> Html:
    """Draws a link between two LLC tiles: eastward above them, westward below."""
    side = -1 if x2 > x1 else 1
    start = y1 + side * PART
    top = start + side * (BAND - 1.2 * SIDE) * min(1.0, 0.3 + abs(x2 - x1) / (7 * PITCH))
    return element(
        "path",
        element("title", link_text(row)),
        d=f"M {x1:g} {start:g} Q {(x1 + x2) / 2:g} {2 * top - start:g} {x2:g} {y2 + side * PART:g}",
        fill="none",
        stroke_width=2.5,
        style=f"stroke: {heat(row['share'] / full)}",
    )


def unit(row: Row, full: float, x: float, y: float) -> Html:
    """Draws a core, or a part of an LLC tile, coloured by the busy share of its link."""
    side = PART
    if row["kind"] in PARTS:
        x += (PARTS.index(row["kind"]) - 1) * PART
    else:
        side = SIDE
    return element(
        "rect",
        element("title", link_text(row)),
        x=x - side / 2,
        y=y - side / 2,
        width=side,
        height=side,
        rx=3 if row["kind"] in ("core", "slice") else side / 2,
        style=f"fill: {heat(row['share'] / full)}; stroke: var(--line)",
    )

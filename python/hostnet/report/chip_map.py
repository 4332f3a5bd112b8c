"""Map of a chip: tiles, network interfaces, memory controllers, and the busy share of every link."""

from __future__ import annotations

from typing import Any

from hostnet.report.html import Html, element
from hostnet.report.link_lines import heat, wire
from hostnet.report.svg import text
from hostnet.units import format_percent

Row = dict[str, Any]

PITCH = 56.0
"""Distance between tiles, in units of the drawing."""
SIDE = 22.0
"""Side length of a tile."""
BOW = 5.0
"""Distance of each direction from the centre line of its link."""
MARGIN = 64.0
"""Space for the edge and for the memory controllers."""
THICK = 5.5


def chip_map(summary: Row) -> Html:
    """Draws the chip and its links, coloured by busy share."""
    if summary["config"]["noc"]["topology"] == "noc-out":
        from hostnet.report.noc_out_map import noc_out_map

        return noc_out_map(summary)
    chip, links = summary["config"]["chip"], summary["noc"]["links"]
    width = 2 * MARGIN + (chip["columns"] - 1) * PITCH
    height = SIDE * 3 + (chip["rows"] - 1) * PITCH
    drawn = [link(row) for row in links if row["kind"] == "mesh"]
    beside = "mc" not in summary["config"]["noc"]
    drawn += [
        controller(row) if row["kind"] == "memory" and not beside else unit(row)
        for row in links
        if row["kind"] != "mesh"
    ]
    heads = [text("NI", MARGIN - PITCH * 0.75, 12, anchor="middle")]
    if beside:
        heads.append(text("memory", width, 12, anchor="end"))
    return drawing(links, (width, height), *heads, *drawn)


def rack_map(summary: Row) -> Html:
    """Draws the chips of a rack, plane by plane, coloured by the busy share of their busiest links."""
    columns, rows, planes = summary["rack"]["size"]
    step, gap = SIDE + 6.0, SIDE
    boxes = []
    for chip in summary["chips"]:
        x, y, z = chip["at"]
        title = f"chip {chip['chip']} at {x}, {y}, {z}: {chip['link']} busy {format_percent(chip['share'], 1)}"
        boxes.append(
            element(
                "rect",
                element("title", title),
                x=2 + z * (columns * step + gap) + x * step,
                y=2 + y * step,
                width=SIDE,
                height=SIDE,
                rx=3,
                style=f"fill: {heat(chip['share'])}; stroke: var(--line)",
            )
        )
    width = planes * (columns * step + gap) - gap
    label = "How busy the fullest link of every chip is"
    return element(
        "svg",
        element("title", label),
        *boxes,
        viewBox=f"0 0 {width:g} {rows * step:g}",
        role="img",
        aria_label=label,
        style=f"max-width: {1.5 * width:g}px",
    )


def drawing(links: list[Row], size: tuple[float, float], *drawn: Html) -> Html:
    """Creates a drawing of the given size, with its title."""
    label = "How busy the links are"
    if links:
        label += f"; the fullest is {links[0]['link']}, {format_percent(links[0]['share'], 1)}"
    return element(
        "svg",
        element("title", label),
        *drawn,
        viewBox=f"0 0 {size[0]:g} {size[1]:g}",
        role="img",
        aria_label=label,
        style="max-width: 640px",
    )


def centre_of(where: list[int]) -> tuple[float, float]:
    """Returns the centre of a tile."""
    return MARGIN + where[0] * PITCH, SIDE * 1.5 + where[1] * PITCH


def link(row: Row) -> Html:
    """Draws one direction between two routers."""
    ends = centre_of(row["from"]), centre_of(row["to"])
    return wire(*ends, row["share"], link_text(row), gap=SIDE / 2 + 1, bow=BOW, thick=THICK)


def unit(row: Row) -> Html:
    """Draws a tile, an edge or a memory controller, coloured by the busy share of its link."""
    x, y = centre_of(row["from"])
    x += {"edge": -0.75, "memory": 0.75}.get(row["kind"], 0.0) * PITCH
    return element(
        "rect",
        element("title", link_text(row)),
        x=round(x - SIDE / 2, 1),
        y=round(y - SIDE / 2, 1),
        width=SIDE,
        height=SIDE,
        rx=SIDE / 2 if row["kind"] != "tile" else 3,
        style=f"fill: {heat(row['share'])}; stroke: var(--line)",
    )


def controller(row: Row) -> Html:
    """Draws a memory controller between tiles, north-east of its own."""
    x, y = centre_of(row["from"])
    return element(
        "circle",
        element("title", link_text(row)),
        cx=x + PITCH / 2,
        cy=y - PITCH / 2,
        r=SIDE / 3,
        style=f"fill: {heat(row['share'])}; stroke: var(--line)",
    )


def link_text(row: Row) -> str:
    """Describes a link."""
    return f"{row['link']}: busy {format_percent(row['share'], 1)}, {row['flits']} flits"

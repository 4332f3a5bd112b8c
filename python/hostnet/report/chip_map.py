"""Map of a chip: tiles, network interfaces, memory controllers, and the busy share of every link."""

from __future__ import annotations

from typing import Any

from hostnet.report.html import Html, element
from hostnet.report.link_lines import column_labels, font_size, heat, heat_scale, row_labels, wire
from hostnet.report.svg import text
from hostnet.units import format_percent

Row = dict[str, Any]

PITCH = 56.0
"""Distance between tiles, in units of the drawing."""
SIDE = 22.0
"""Side length of a tile."""
BOW = 5.0
"""Distance of each direction from the centre line of its link."""
MARGIN = 76.0
"""Space for the edge and for the memory controllers."""
HEAD = 40.0
"""Space above the tiles for the names and numbers of columns."""
THICK = 5.5


def chip_map(summary: Row) -> Html:
    """Draws the chip and its links, coloured by busy share; the busiest link has the hottest colour."""
    if summary["config"]["noc"]["topology"] == "noc-out":
        from hostnet.report.noc_out_map import noc_out_map

        return noc_out_map(summary)
    chip, links = summary["config"]["chip"], summary["noc"]["links"]
    full = map_scale(links)
    width = 2 * MARGIN + (chip["columns"] - 1) * PITCH
    height = HEAD + SIDE * 2 + (chip["rows"] - 1) * PITCH
    drawn = [link(row, full) for row in links if row["kind"] == "mesh"]
    beside = "mc" not in summary["config"]["noc"]
    drawn += [
        controller(row, full) if row["kind"] == "memory" and not beside else unit(row, full)
        for row in links
        if row["kind"] != "mesh"
    ]
    heads = [text("NI", MARGIN - PITCH * 0.75, 14, anchor="middle")]
    if beside:
        heads.append(text("memory", width, 14, anchor="end"))
    columns = [centre_of([column, 0])[0] for column in range(chip["columns"])]
    rows = [centre_of([0, row])[1] for row in range(chip["rows"])]
    font = font_size(width)
    numbers = [*column_labels(columns, HEAD - 6, font), *row_labels(rows, 20, font)]
    return drawing(links, (width, height), *heads, *numbers, *drawn)


def map_scale(links: list[Row]) -> float:
    """Returns the busy share of the hottest colour of a map."""
    return heat_scale(max((row["share"] for row in links), default=0.0))


def rack_map(summary: Row) -> Html:
    """Draws the chips of a rack, plane by plane, coloured by the busy share of their busiest links."""
    columns, rows, planes = summary["rack"]["size"]
    step, gap = SIDE + 6.0, SIDE
    full = map_scale(summary["chips"])
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
                style=f"fill: {heat(chip['share'] / full)}; stroke: var(--line)",
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
        element("g", *drawn, style=f"font-size: {font_size(size[0]):.4g}px"),
        viewBox=f"0 0 {size[0]:g} {size[1]:g}",
        role="img",
        aria_label=label,
        class_="mesh",
        style="max-width: 640px",
    )


def centre_of(where: list[int]) -> tuple[float, float]:
    """Returns the centre of a tile."""
    return MARGIN + where[0] * PITCH, HEAD + SIDE + where[1] * PITCH


def link(row: Row, full: float) -> Html:
    """Draws one direction between two routers."""
    ends = centre_of(row["from"]), centre_of(row["to"])
    return wire(*ends, row["share"] / full, link_text(row), gap=SIDE / 2 + 1, bow=BOW, thick=THICK)


def unit(row: Row, full: float) -> Html:
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
        style=f"fill: {heat(row['share'] / full)}; stroke: var(--line)",
    )


def controller(row: Row, full: float) -> Html:
    """Draws a memory controller between tiles, north-east of its own."""
    x, y = centre_of(row["from"])
    return element(
        "circle",
        element("title", link_text(row)),
        cx=x + PITCH / 2,
        cy=y - PITCH / 2,
        r=SIDE / 3,
        style=f"fill: {heat(row['share'] / full)}; stroke: var(--line)",
    )


def link_text(row: Row) -> str:
    """Describes a link."""
    return f"{row['link']}: busy {format_percent(row['share'], 1)}, {row['flits']} flits"

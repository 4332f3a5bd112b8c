"""Map of a network on a chip: its routers, and the busy share of every link."""

from __future__ import annotations

from collections.abc import Sequence

from hostnet.report.html import Html, element
from hostnet.report.link_lines import DIGIT, column_labels, font_size, heat, row_labels, wire
from hostnet.report.load import Row
from hostnet.report.numbers import percent

PITCH = 52.0
"""Distance between routers, in units of the drawing."""

SIDE = 20.0
"""Side length of a router."""

BOW = 4.5
"""Distance of each direction from the centre line of its link."""

MARGIN = 2.0
NARROW = 240.0
"""Width in pixels of a map among many others."""

THICK = 5.0


def noc_map(summary: Row, full: float) -> Html:
    """Draws the routers, coloured by the busy share of the links to their nodes, and the links between them.

    `full` is the busy share of the hottest colour.
    """
    links: Sequence[Row] = summary["links"]
    places = [(row[end][0], row[end][1]) for row in links for end in ("from", "to")]
    columns, rows = (1 + max(place[axis] for place in places) for axis in (0, 1))
    across, down = (SIDE + MARGIN + (count - 1) * PITCH for count in (columns, rows))
    font = font_size(1.1 * across, NARROW)
    left, top = (1 + DIGIT * len(str(rows)) * font if rows > 1 else 0.0) + SIDE / 4, 1.2 * font + SIDE / 4
    drawn = [link(row, full) for row in links if not row["to_node"]]
    drawn += [router(row, full) for row in links if row["to_node"]]
    drawn += column_labels([centre_of((column, 0))[0] for column in range(columns)], -SIDE / 4, font)
    drawn += row_labels([centre_of((0, row))[1] for row in range(rows)], -SIDE / 4, font) if rows > 1 else []
    busiest = max(links, key=lambda row: row["flits"])
    label = f"How busy the links are; the fullest is {busiest['link']}, {percent(busiest['busy_share'])}"
    return element(
        "svg",
        element("title", label),
        element("g", *drawn, style=f"font-size: {font:.4g}px"),
        viewBox=f"{-left:.4g} {-top:.4g} {across + left:.4g} {down + top:.4g}",
        role="img",
        aria_label=label,
        class_="noc",
    )


def link(row: Row, full: float) -> Html:
    """Draws one direction between two routers."""
    ends = centre_of(row["from"]), centre_of(row["to"])
    share = (row["busy_share"] or 0.0) / full
    return wire(*ends, share, link_text(row), gap=SIDE / 2 + 1, bow=BOW, thick=THICK)


def router(row: Row, full: float) -> Html:
    """Draws a router, coloured by the busy share of the link to its node."""
    x, y = centre_of(row["from"])
    return element(
        "rect",
        element("title", link_text(row)),
        x=x - SIDE / 2,
        y=y - SIDE / 2,
        width=SIDE,
        height=SIDE,
        rx=3,
        class_="router",
        style=f"fill: {heat((row['busy_share'] or 0.0) / full)}",
    )


def centre_of(where: Sequence[int]) -> tuple[float, float]:
    """Returns the centre of a router."""
    return SIDE / 2 + where[0] * PITCH, SIDE / 2 + where[1] * PITCH


def link_text(row: Row) -> str:
    """Describes a link."""
    return f"{row['link']}: busy {percent(row['busy_share'])}, {row['flits']} flits"

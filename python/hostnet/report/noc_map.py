"""A network on a chip as it lies on the die: its routers, and how busy every link is."""

from __future__ import annotations

from collections.abc import Sequence

from hostnet.report.charts import picture
from hostnet.report.html import Html, element
from hostnet.report.link_lines import heat, wire
from hostnet.report.load import Row
from hostnet.report.numbers import percent

PITCH = 52.0
"""Distance of routers, in units of the picture."""

SIDE = 20.0
"""Side of a router."""

BOW = 4.5
"""How far each direction lies beside the middle of its way."""

MARGIN = 12.0
THICK = 5.0

STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Shares that the legend shows."""


def noc_map(summary: Row) -> Html:
    """The routers, filled as the ways to their nodes are busy, and the links between them."""
    links: Sequence[Row] = summary["links"]
    places = [(row[end][0], row[end][1]) for row in links for end in ("from", "to")]
    columns, rows = (1 + max(place[axis] for place in places) for axis in (0, 1))
    width, height = (2 * MARGIN + (count - 1) * PITCH for count in (columns, rows))
    drawn = [link(row) for row in links if not row["to_node"]]
    drawn += [router(row) for row in links if row["to_node"]]
    busiest = max(links, key=lambda row: row["flits"])
    label = f"How busy the links are; the fullest is {busiest['link']}, {percent(busiest['busy_share'])}"
    return element(
        "svg",
        element("title", label),
        *drawn,
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        aria_label=label,
        class_="noc",
    )


def link(row: Row) -> Html:
    """One direction between two routers."""
    ends = place(row["from"]), place(row["to"])
    return wire(*ends, row["busy_share"], said_of(row), gap=SIDE / 2 + 1, bow=BOW, thick=THICK)


def router(row: Row) -> Html:
    """A router, filled as the way to its node is busy."""
    x, y = place(row["from"])
    return element(
        "rect",
        element("title", said_of(row)),
        x=x - SIDE / 2,
        y=y - SIDE / 2,
        width=SIDE,
        height=SIDE,
        rx=3,
        class_="router",
        style=f"fill: {heat(row['busy_share'])}",
    )


def map_legend() -> Html:
    """What the colours mean."""
    entries = (
        element(
            "li",
            picture(element("rect", x=0, y=1, width=26, height=10, style=f"fill: {heat(share)}")),
            percent(share, 0),
        )
        for share in STEPS
    )
    return element("ul", *entries, class_="legend")


def place(where: Sequence[int]) -> tuple[float, float]:
    """The middle of a router."""
    return MARGIN + where[0] * PITCH, MARGIN + where[1] * PITCH


def said_of(row: Row) -> str:
    """A link in words."""
    return f"{row['link']}: busy {percent(row['busy_share'])}, {row['flits']} flits"

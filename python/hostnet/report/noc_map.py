"""Map of a network on a chip: its routers, and the busy share of every link."""

from __future__ import annotations

from collections.abc import Sequence

from hostnet.report.charts import legend_icon
from hostnet.report.html import Html, element
from hostnet.report.link_lines import heat, wire
from hostnet.report.load import Row
from hostnet.report.numbers import percent

PITCH = 52.0
"""Distance between routers, in units of the drawing."""

SIDE = 20.0
"""Side length of a router."""

BOW = 4.5
"""Distance of each direction from the centre line of its link."""

MARGIN = 12.0
THICK = 5.0

STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Shares in the legend."""


def noc_map(summary: Row) -> Html:
    """Draws the routers, coloured by the busy share of the links to their nodes, and the links between them."""
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
    """Draws one direction between two routers."""
    ends = centre_of(row["from"]), centre_of(row["to"])
    return wire(*ends, row["busy_share"], link_text(row), gap=SIDE / 2 + 1, bow=BOW, thick=THICK)


def router(row: Row) -> Html:
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
        style=f"fill: {heat(row['busy_share'])}",
    )


def map_legend() -> Html:
    """Creates the legend of the colours."""
    entries = (
        element(
            "li",
            legend_icon(element("rect", x=0, y=1, width=26, height=10, style=f"fill: {heat(share)}")),
            percent(share, 0),
        )
        for share in STEPS
    )
    return element("ul", *entries, class_="legend")


def centre_of(where: Sequence[int]) -> tuple[float, float]:
    """Returns the centre of a router."""
    return MARGIN + where[0] * PITCH, MARGIN + where[1] * PITCH


def link_text(row: Row) -> str:
    """Describes a link."""
    return f"{row['link']}: busy {percent(row['busy_share'])}, {row['flits']} flits"

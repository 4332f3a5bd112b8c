"""Picture of the UPI links between sockets: arrows for a few sockets, a matrix for many."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hostnet.report.html import Html, element
from hostnet.report.load import Row
from hostnet.report.numbers import number, percent
from hostnet.report.svg import text

WIDTH = 380
NODE = (104, 34)
"""Width and height of a socket."""

ARROWS_MAX = 4
"""Maximum number of sockets that are drawn with arrows."""

BOW = 9.0
"""Distance of each direction from the centre line of its link."""

THIN, THICK = 1.5, 9.0
"""Line widths of an idle and of a saturated link."""

CELL = (36, 26)
"""Pitch of the matrix."""

TOP, LEFT = 44, 74
"""Origin of the matrix."""

Point = tuple[float, float]

FIRST, LAST, MIDDLE = NODE[0] / 2 + 1, WIDTH - NODE[0] / 2 - 1, WIDTH / 2

PLACES: dict[int, tuple[tuple[Point, ...], int]] = {
    2: (((FIRST, 40), (LAST, 40)), 80),
    3: (((MIDDLE, 20), (LAST, 230), (FIRST, 230)), 272),
    4: (((FIRST + 14, 42), (LAST - 14, 42), (LAST - 14, 262), (FIRST + 14, 262)), 304),
}
"""Centres of the sockets and height of the picture, by number of sockets."""


def links_picture(links: Sequence[Row]) -> Html:
    """Draws the sockets with the busy share of each direction."""
    count = 1 + max(int(row["to"]) for row in links)
    drawn, height = arrows(links, count) if count <= ARROWS_MAX else matrix(links, count)
    description = "; ".join(f"socket {row['from']} to {row['to']} {percent(row['busy_share'])}" for row in links)
    title = element("title", "UPI between the sockets, and how busy each direction is")
    return element(
        "svg", title, element("desc", description), *drawn, viewBox=f"0 0 {WIDTH} {height}", role="img", class_="host"
    )


def arrows(links: Sequence[Row], count: int) -> tuple[list[Html], int]:
    """Draws a few sockets with an arrow for each direction."""
    places, height = PLACES[count]
    ways = [part for row in links for part in arrow_path(row, places)]
    return [*ways, *(part for socket, place in enumerate(places) for part in node(socket, place))], height


def matrix(links: Sequence[Row], count: int) -> tuple[list[Html], int]:
    """Draws many sockets: a row for each sender and a column for each receiver."""
    drawn = [text("to socket", LEFT, 14, class_="quiet")]
    for socket in range(count):
        drawn.append(text(str(socket), LEFT + (socket + 0.5) * CELL[0], TOP - 10, anchor="middle", class_="name"))
        drawn.append(text(f"from {socket}", LEFT - 8, TOP + socket * CELL[1] + 17, anchor="end", class_="name"))
    for row in links:
        x, y = LEFT + row["to"] * CELL[0], TOP + row["from"] * CELL[1]
        size = {"x": x + 1, "y": y + 1, "width": CELL[0] - 2, "rx": 2}
        filled = round((CELL[1] - 2) * min(row["busy_share"] or 0.0, 1.0), 1)
        title = element("title", link_text(row))
        drawn.append(element("rect", title, **size, height=CELL[1] - 2, class_="cell"))
        level = {**size, "y": y + CELL[1] - 1 - filled, "height": filled}
        drawn.append(element("rect", title, **level, class_="level"))
        drawn.append(text(percent(row["busy_share"], 0), x + CELL[0] / 2, y + 17, anchor="middle", class_="count"))
    return drawn, TOP + count * CELL[1] + 6


def node(socket: int, place: Point) -> list[Html]:
    """Draws a socket."""
    left, top = place[0] - NODE[0] / 2, place[1] - NODE[1] / 2
    box = element("rect", x=round(left, 1), y=round(top, 1), width=NODE[0], height=NODE[1], rx=6, class_="hop")
    return [box, text(f"Socket {socket}", round(place[0], 1), round(place[1] + 4, 1), anchor="middle", class_="name")]


def link_text(row: Row) -> str:
    """Describes a direction."""
    return (
        f"socket {row['from']} to {row['to']}: {number(row['gb_per_s'])} GB/s on the wire, "
        f"{percent(row['busy_share'])} of what it carries; {number(row['line_gb_per_s'])} GB/s of lines"
    )


def arrow_path(row: Row, places: Sequence[Point]) -> list[Html]:
    """Draws one direction: an arrow beside the centre line, whose width shows the busy share."""
    start, end = places[row["from"]], places[row["to"]]
    length = math.dist(start, end)
    along = ((end[0] - start[0]) / length, (end[1] - start[1]) / length)
    aside = (-along[1] * BOW, along[0] * BOW)
    away = reach(along) + 4 + BOW * min(abs(along[0]), abs(along[1]))
    first = (start[0] + along[0] * away + aside[0], start[1] + along[1] * away + aside[1])
    last = (end[0] - along[0] * (away + 5) + aside[0], end[1] - along[1] * (away + 5) + aside[1])
    busy = min(row["busy_share"] or 0.0, 1.0)
    width = round(THIN + (THICK - THIN) * busy, 2)
    return [
        element(
            "line",
            element("title", link_text(row)),
            x1=round(first[0], 1),
            y1=round(first[1], 1),
            x2=round(last[0], 1),
            y2=round(last[1], 1),
            stroke_width=width,
            class_="upi" if busy else "upi idle",
        ),
        point(last, along, 4 + width / 2, busy=bool(busy)),
        share_of(row, first, last, aside),
    ]


def reach(along: Point) -> float:
    """Returns the distance from the centre of a socket to its edge in a direction."""
    across = NODE[0] / 2 / abs(along[0]) if along[0] else math.inf
    down = NODE[1] / 2 / abs(along[1]) if along[1] else math.inf
    return min(across, down)


def point(tip: Point, along: Point, size: float, *, busy: bool) -> Html:
    """Draws the tip of an arrow."""
    back = (tip[0] - along[0], tip[1] - along[1])
    corners = (
        (tip[0] + along[0] * 5, tip[1] + along[1] * 5),
        (back[0] - along[1] * size, back[1] + along[0] * size),
        (back[0] + along[1] * size, back[1] - along[0] * size),
    )
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    return element("polygon", points=points, class_="fill-n" if busy else "quiet-point")


def share_of(row: Row, first: Point, last: Point, aside: Point) -> Html:
    """Draws the busy share of a direction beside it; on a diagonal, closer to the sender."""
    is_level, is_upright = abs(aside[0]) < 1, abs(aside[1]) < 1
    share = 0.5 if is_level or is_upright else 0.3
    x = first[0] + (last[0] - first[0]) * share + aside[0]
    y = first[1] + (last[1] - first[1]) * share + aside[1] * (1.8 if is_level else 1.0) + 4
    anchor = "middle" if is_level else "start" if aside[0] > 0 else "end"
    return text(percent(row["busy_share"]), round(x, 1), round(y, 1), anchor=anchor, class_="count")

"""Map of a network whose switches all have hosts, such as a ring, a torus or a dragonfly: switches by position."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from hostnet.report.clusters.host_box import badge
from hostnet.report.clusters.network_map import (
    bundle_text,
    cable_text,
    hottest,
    mean_load,
    network_picture,
    trouble_words,
)
from hostnet.report.html import Html, element
from hostnet.report.link_lines import heat, wire
from hostnet.report.svg import text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostnet.report.clusters.network import Cable, ClusterNetwork

    Point = tuple[float, float]

PITCH, SIDE = 52.0, 24.0
"""Distance of switches, and the side length of one."""

BOW, THICK = 4.0, 4.4
"""Distance of each direction from the centre line of its cable, and its width."""

LABEL_MAX, HOT = 3, 0.5
"""Maximum number of characters in a switch, and the share of the scale from which it is too dark for ink."""

RING_MAX = 12
"""Maximum number of switches without coordinates that are drawn as a ring."""

GRID_MAX = 1024
"""Maximum number of switches in a map."""

NAMED_WIDTH = 470.0
"""Maximum width of a map whose switches are named: texts of wider ones were too small on a narrow screen."""


def is_grid(network: ClusterNetwork) -> bool:
    """Returns True if all switches have hosts of their own, and there are more than two of them."""
    switches = network.switches
    near = all(network.levels[name] == 1 for name in switches)
    near = near and all(len(network.peers.get(name, ())) <= 1 for name in network.hosts)
    return 2 < len(switches) <= GRID_MAX and near and all(cable.rate_gbps for cable in network.cables)


def grid_map(network: ClusterNetwork, full: float) -> Html:
    """Draws the switches, coloured by the busiest cable to their hosts, and the cables between them."""
    places = places_of(network.switches)
    width, height = (max(point[axis] for point in places.values()) + SIDE for axis in (0, 1))
    own: dict[str, list[Cable]] = {name: [] for name in network.switches}
    between: dict[tuple[str, str], list[Cable]] = {}
    for cable in network.cables:
        if cable.place in places and cable.to in places:
            between.setdefault((cable.place, cable.to), []).append(cable)
        else:
            own[cable.place if cable.place in places else cable.to].append(cable)
    lines = [drawn_cable(places, ends, cables, full) for ends, cables in between.items()]
    named = width <= NAMED_WIDTH
    squares = [part for name in network.switches for part in switch(name, places[name], own[name], full, named=named)]
    badges = [
        badge(number, *middle_of(places, ends))
        for ends in between
        for number in network.limits_at(f"{ends[0]} to {ends[1]}")
    ]
    badges += [
        badge(number, places[name][0] + SIDE / 2, places[name][1] - SIDE / 2)
        for name, cables in own.items()
        for number in network.limits_at(
            name, *(f"{cable.place} to {cable.to}" for cable in cables), *host_names(cables)
        )
    ]
    style = f"max-width: {max(1.5 * width, 200):g}px"
    return network_picture(network, (width, height), [*lines, *squares, *badges], style=style)


def host_names(cables: Sequence[Cable]) -> set[str]:
    """Returns both ends of cables between hosts and a switch."""
    return {end for cable in cables for end in (cable.place, cable.to)}


def places_of(switches: Sequence[str]) -> dict[str, Point]:
    """Returns the centre of each switch: by the numbers in its name, or on a ring, or in rows."""
    numbers = {name: tuple(map(int, re.findall(r"\d+", name))) for name in switches}
    dimensions = {len(own) for own in numbers.values()}
    if len(switches) <= RING_MAX and dimensions <= {0, 1}:
        return ring_places(switches)
    if dimensions in ({2}, {3}) and len(set(numbers.values())) == len(switches):
        return {name: grid_place(own, numbers.values()) for name, own in numbers.items()}
    columns = math.ceil(math.sqrt(len(switches)))
    return {name: _centre(index % columns, index // columns) for index, name in enumerate(switches)}


def ring_places(switches: Sequence[str]) -> dict[str, Point]:
    """Places switches on a circle."""
    radius = max(PITCH * len(switches) / (2 * math.pi), PITCH)
    middle = radius + SIDE
    turns = ((2 * math.pi * index / len(switches) - math.pi / 2) for index in range(len(switches)))
    return {
        name: (round(middle + radius * math.cos(turn), 1), round(middle + radius * math.sin(turn), 1))
        for name, turn in zip(switches, turns, strict=True)
    }


def grid_place(own: tuple[int, ...], every: object) -> Point:
    """Places a switch by its coordinates; planes of the third dimension lie side by side."""
    numbers: list[tuple[int, ...]] = list(every)  # type: ignore[call-overload]
    columns = 1 + max(place[0] for place in numbers)
    plane = own[2] if len(own) > 2 else 0
    x, y = _centre(own[0], own[1])
    return x + plane * (columns * PITCH + SIDE), y


def _centre(column: int, row: int) -> Point:
    """Returns the centre of a switch in a column and a row."""
    return SIDE + column * PITCH, SIDE + row * PITCH


def drawn_cable(places: Mapping[str, Point], ends: tuple[str, str], cables: Sequence[Cable], full: float) -> Html:
    """Draws one direction between two switches: straight between neighbours, else as an arc around others."""
    start, end = places[ends[0]], places[ends[1]]
    load = mean_load(cables) / full
    words = "\n".join(bundle_text(cables))
    if math.dist(start, end) < 1.5 * PITCH:
        return wire(start, end, load, words, gap=SIDE / 2 + 1, bow=BOW, thick=THICK)
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    length = math.dist(start, end)
    aside = ((start[1] - end[1]) / length, (end[0] - start[0]) / length)
    # Each direction bends to its right-hand side, so that both are visible.
    bend = min(0.18 * length, SIDE - 4)
    control = (middle[0] + 2 * bend * aside[0], middle[1] + 2 * bend * aside[1])
    return element(
        "path",
        element("title", words),
        d=f"M{start[0]:g},{start[1]:g}Q{control[0]:.1f},{control[1]:.1f} {end[0]:g},{end[1]:g}",
        fill="none",
        stroke_width=2.2,
        style=f"stroke: {heat(load)}",
    )


def middle_of(places: Mapping[str, Point], ends: tuple[str, str]) -> Point:
    """Returns the middle between two switches."""
    one, other = (places[end] for end in ends)
    return (one[0] + other[0]) / 2, (one[1] + other[1]) / 2


def switch(name: str, place: Point, cables: Sequence[Cable], full: float, *, named: bool) -> list[Html]:
    """Draws a switch, coloured by the busiest cable between it and its hosts."""
    busiest = hottest(cables, 3)
    hosts = len(host_names(cables)) - 1 if cables else 0
    words = [f"{name}, {hosts} host{'' if hosts == 1 else 's'}", *(cable_text(cable) for cable in busiest)]
    words += trouble_words(cables)
    load = busiest[0].load if busiest else 0.0
    square = element(
        "rect",
        element("title", "\n".join(words)),
        x=round(place[0] - SIDE / 2, 1),
        y=round(place[1] - SIDE / 2, 1),
        width=SIDE,
        height=SIDE,
        rx=4,
        class_="router",
        style=f"fill: {heat(load / full)}",
    )
    numbers = ",".join(re.findall(r"\d+", name))
    if not named or not 0 < len(numbers) <= LABEL_MAX:
        return [square]
    # The colour of the page stands out from the hottest colours in both themes.
    style = "on-heat" if load < HOT * full else "on-heat hot"
    return [square, text(numbers, place[0], place[1] + 4, anchor="middle", class_=style)]

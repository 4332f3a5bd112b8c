"""Picture of a network: hosts beside their switches, switches by their distance from hosts, and cables by load."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nsmallest
from typing import TYPE_CHECKING

from hostnet.report.clusters.arrangement import Arrangement, Box, common_word
from hostnet.report.clusters.host_box import HostBox, badge, fit, host_box
from hostnet.report.html import Html, element
from hostnet.report.link_lines import wire
from hostnet.report.numbers import number, percent
from hostnet.report.svg import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hostnet.report.clusters.network import Cable, ClusterNetwork

WIDTH = 460.0
"""Width of the picture, so that its texts are readable on a screen of 400 pixels."""

GAP, NEAR = 10.0, 6.0
"""Vertical distance of boxes, and of the hosts of a switch."""

BOW, THICK = 3.4, 4.6
"""Distance of each direction from the centre line of its cable, and its width."""

BAR = 30.0
"""Width of a switch between hosts on both sides."""

SWITCH = 30.0
"""Smallest height of a switch."""

COLUMN_HEAD = 16.0
"""Height of the names of the columns of switches."""

LONG = 0.1
"""Mean length of a queue, in packets, from which it is written."""

QUIET = 0.005
"""Loads below this share of the scale are not written."""


@dataclass(frozen=True)
class Placed:
    """A box with its place in the picture."""

    box: Box
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """Vertical centre."""
        return self.y + self.height / 2


@dataclass(frozen=True)
class MapLayout:
    """Placed boxes, with the contents of those of hosts, and the height of the picture."""

    hosts: tuple[tuple[Placed, HostBox], ...]
    switches: tuple[Placed, ...]
    height: float

    @property
    def placed(self) -> dict[Box, Placed]:
        """Place of each box."""
        return {one.box: one for one in (*(placed for placed, _ in self.hosts), *self.switches)}


def network_map(arrangement: Arrangement, full: float) -> Html:
    """Draws a network; `full` is the load of the hottest colour."""
    layout = in_a_row(arrangement) if arrangement.levels <= 1 else in_columns(arrangement)
    placed = layout.placed
    wires, labels = [], []
    for (one, other), cables in arrangement.links.items():
        lines, beside = bundle(placed[one], placed[other], cables, full, arrangement)
        wires += lines
        labels += beside
    boxes = [part for place, content in layout.hosts for part in content.drawn(place.x, place.y, place.height)]
    words = column_words(arrangement)
    boxes += [part for place in layout.switches for part in switch(place, arrangement, words[place.box.level])]
    heads = {place.box.level: place for place in layout.switches}
    boxes += [
        text(words[level], place.x + place.width / 2, 10, anchor="middle", class_="quiet")
        for level, place in heads.items()
        if words[level]
    ]
    return network_picture(arrangement.network, (WIDTH, layout.height), [*wires, *boxes, *labels])


def network_picture(network: ClusterNetwork, size: tuple[float, float], parts: Sequence[Html], **more: str) -> Html:
    """Creates the drawing of a network, which names the busiest cable."""
    label = f"The network; the busiest cable is {cable_text(hottest(network.cables, 1)[0])}"
    return element(
        "svg",
        element("title", label),
        *parts,
        viewBox=f"0 0 {size[0]:g} {size[1]:g}",
        role="img",
        aria_label=label,
        class_="host network",
        **more,
    )


def column_words(arrangement: Arrangement) -> dict[int, str]:
    """Returns the common word of the switches of each column; empty if there is only one column."""
    levels = range(1, arrangement.levels + 1)
    return {level: common_word(arrangement.at(level)) if arrangement.levels > 1 else "" for level in levels}


def in_a_row(arrangement: Arrangement) -> MapLayout:
    """Places hosts on both sides of at most two switches."""
    switches = arrangement.at(1)
    left, right = sides(arrangement, switches)
    core = 52.0 if len(switches) == 2 else 0.0
    cable = 54.0 if len(switches) == 2 else 70.0
    host = (WIDTH - 2 * cable - core - len(switches) * BAR) / 2
    columns = [
        [(box, host_box(arrangement, box, host, outward=at)) for box in side] for at, side in ((1, left), (-1, right))
    ]
    heights = [sum(content.height + GAP for _, content in column) - GAP for column in columns]
    height = max(*heights, 2.0 * SWITCH) + 2
    hosts = []
    for column, own, x in zip(columns, heights, (0.5, WIDTH - host - 0.5), strict=True):
        y = 1 + (height - 2 - own) / 2
        for box, content in column:
            hosts.append((Placed(box, x, y, host, content.height), content))
            y += content.height + GAP
    bars = [
        Placed(box, host + cable + place * (BAR + core), 1.0, BAR, height - 2) for place, box in enumerate(switches)
    ]
    return MapLayout(tuple(hosts), tuple(bars), height)


def sides(arrangement: Arrangement, switches: Sequence[Box]) -> tuple[list[Box], list[Box]]:
    """Returns the hosts to the left and to the right: of two switches, or those that begin and that serve traffic."""
    hosts = arrangement.at(0)
    if len(switches) == 2:
        left = [box for box in hosts if arrangement.switch_of(box) == switches[0]]
        return left, [box for box in hosts if box not in left]
    ends = arrangement.network.ends
    begin = [box for box in hosts if any(name in ends and ends[name].begins for name in box.names)]
    serve = [box for box in hosts if any(name in ends and ends[name].serves for name in box.names)]
    left = [box for box in hosts if box in begin and box not in serve]
    right = [box for box in hosts if box in serve and box not in begin]
    for box in hosts:
        if box not in left and box not in right:
            (left if len(left) <= len(right) else right).append(box)
    return left, right


def in_columns(arrangement: Arrangement) -> MapLayout:
    """Places hosts to the left of switches, in a column for each distance from hosts."""
    host, cable = 138.0, 54.0
    width = 78.0 if arrangement.levels == 2 else 62.0
    gap = (WIDTH - host - cable - arrangement.levels * width) / max(arrangement.levels - 1, 1) - 0.5
    hosts: list[tuple[Placed, HostBox]] = []
    switches: list[Placed] = []
    y = COLUMN_HEAD
    for first in arrangement.at(1):
        own = [box for box in arrangement.at(0) if arrangement.switch_of(box) == first]
        top = y
        for box in own:
            content = host_box(arrangement, box, host, outward=1)
            hosts.append((Placed(box, 0.5, y, host, content.height), content))
            y += content.height + NEAR
        y = max(y - NEAR, top + SWITCH) if own else top + SWITCH
        switches.append(Placed(first, host + cable, top, width, y - top))
        y += GAP
    tallest = max(len(arrangement.at(level)) for level in range(1, arrangement.levels + 1)) * (SWITCH + 4)
    height = max(y - GAP, COLUMN_HEAD + tallest) + 1
    for level in range(2, arrangement.levels + 1):
        column = arrangement.at(level)
        pitch = (height - COLUMN_HEAD) / len(column)
        x = host + cable + (level - 1) * (width + gap)
        switches += [
            Placed(box, x, COLUMN_HEAD + (place + 0.5) * pitch - SWITCH / 2, width, SWITCH)
            for place, box in enumerate(column)
        ]
    return MapLayout(tuple(hosts), tuple(switches), height)


def switch(placed: Placed, arrangement: Arrangement, word: str) -> list[Html]:
    """Draws a switch with its name, without the word above its column; the name runs upwards in a narrow switch."""
    box = placed.box
    frame = {"x": placed.x, "y": placed.y, "width": placed.width, "height": placed.height, "rx": 6}
    middle = placed.x + placed.width / 2
    upright = placed.width > BAR
    shown = fit(box.short(word) if word else box.title, (placed.width if upright else placed.height) - 8)
    turn = None if upright else f"rotate(-90 {middle:g} {placed.middle:g})"
    name = element(
        "text", shown, x=f"{middle:g}", y=f"{placed.middle + 4:g}", text_anchor="middle", transform=turn, class_="name"
    )
    within = arrangement.links.get((box, box), ())
    words = [box.span or box.title, *(cable_text(cable) for cable in hottest(within, 3))]
    numbers = arrangement.network.limits_at(*box.names)
    return [
        element("rect", element("title", "\n".join(words)), **frame, class_="hop"),
        name,
        *(badge(number, middle, placed.y + 12 + 18 * place) for place, number in enumerate(numbers)),
    ]


def bundle(
    one: Placed, other: Placed, cables: Sequence[Cable], full: float, arrangement: Arrangement
) -> tuple[list[Html], list[Html]]:
    """Draws one direction of the cables between two boxes. Returns its line, and its words and badges."""
    if one.box == other.box:
        return [], []
    start, end = ends_of(one, other)
    words = "\n".join(bundle_text(cables))
    line = wire(start, end, mean_load(cables) / full, words, gap=0.0, bow=BOW, thick=THICK)
    numbers = arrangement.network.limits_at(*(f"{cable.place} to {cable.to}" for cable in cables))
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    badges = [badge(at, middle[0] + 18 * place, middle[1]) for place, at in enumerate(numbers)]
    beside_host = not (one.box.level and other.box.level)
    label = load_label(one, other, cables, full) if beside_host or len(arrangement.at(1)) == 2 else []
    return [line], [*label, *badges]


def ends_of(one: Placed, other: Placed) -> tuple[tuple[float, float], tuple[float, float]]:
    """Returns where a cable meets two boxes: on a level with a host, or at the middles of switches."""
    left, right = (one, other) if one.x < other.x else (other, one)
    across = [left.x + left.width, right.x]
    if left.x == right.x:
        across = [left.x + left.width, right.x + right.width]
    hosts = [placed for placed in (left, right) if not placed.box.level]
    level = hosts[0].middle if len(hosts) == 1 else None
    rows = []
    for placed in (left, right):
        inside = level is not None and placed.y <= level <= placed.y + placed.height
        rows.append(level if inside and level is not None else placed.middle)
    points = [(across[0], rows[0]), (across[1], rows[1])]
    return (points[0], points[1]) if left is one else (points[1], points[0])


def load_label(one: Placed, other: Placed, cables: Sequence[Cable], full: float) -> list[Html]:
    """Writes the largest rate of a direction beside its line, with an arrow."""
    cable = hottest(cables, 1)[0]
    if not cable.gbps or (cable.rate_gbps and cable.load < QUIET * full):
        return []
    start, end = ends_of(one, other)
    rightwards = start[0] < end[0]
    x = (start[0] + end[0]) / 2
    y = (start[1] + end[1]) / 2 + (BOW + 12 if rightwards else -BOW - 4)
    most = "≤ " if len(cables) > 1 else ""
    shown = f"{most}{number(cable.gbps)}"
    return [text(f"{shown} →" if rightwards else f"← {shown}", x, y, anchor="middle", class_="count")]


def bundle_text(cables: Sequence[Cable]) -> list[str]:
    """Describes the cables of a bundle: one fully, of several the busiest and the sum of their troubles."""
    if len(cables) == 1:
        return [cable_text(cables[0])]
    lines = [f"{len(cables)} cables, {percent(mean_load(cables))} busy on average; the busiest:"]
    return lines + [cable_text(cable) for cable in hottest(cables, 3)]


def cable_text(cable: Cable) -> str:
    """Describes one direction of a cable."""
    rate = f" of {number(cable.rate_gbps)}" if cable.rate_gbps else ""
    words = [f"{cable.place} to {cable.to}: {number(cable.gbps)}{rate} Gbps"]
    if cable.queue_max:
        mean = f"{number(cable.queue_mean)} on average, " if cable.queue_mean >= LONG else ""
        words.append(f"queue {mean}at most {cable.queue_max:,} packets")
    return ", ".join([*words, *trouble_words([cable])])


def mean_load(cables: Sequence[Cable]) -> float:
    """Returns the mean load of some cables."""
    return sum(cable.load for cable in cables) / len(cables)


def trouble_words(cables: Iterable[Cable]) -> list[str]:
    """Describes losses, marks and pauses of cables together."""
    every = list(cables)
    dropped, marked = sum(cable.dropped for cable in every), sum(cable.marked for cable in every)
    paused = max((cable.paused_share for cable in every), default=0.0)
    words = [f"{dropped:,} packets dropped"] if dropped else []
    words += [f"{marked:,} marked"] if marked else []
    return words + ([f"paused {percent(paused)}"] if paused else [])


def hottest(cables: Sequence[Cable], count: int) -> list[Cable]:
    """Returns the busiest cables."""
    return nsmallest(count, cables, key=lambda cable: (-cable.load, -cable.gbps))

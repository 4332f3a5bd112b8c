"""Boxes of hosts in the picture of a network: name, traffic, troubles, and the path from the NIC to memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hostnet.report.html import Html, element
from hostnet.report.numbers import number, percent
from hostnet.report.series import KINDS
from hostnet.report.svg import text

if TYPE_CHECKING:
    from hostnet.report.clusters.arrangement import Arrangement, Box
    from hostnet.report.load import Row

CHARACTER = 6.9
"""Width of a character of a name, in units of the drawing, as in the widest of the fonts of the page."""

LINE = 15.0
"""Distance of lines of text."""

HEAD = 34.0
"""Height of a box with its name alone; enough for the labels of its cable."""

ARROW, BADGE = 9.0, 18.0
"""Widths of the mark of a class of traffic, and of the badge of its limit."""

DETAILED_MAX = 4
"""Maximum number of servers whose boxes show the path from the NIC to memory."""

WAIT_MIN = 0.001
"""Smallest share of time that a NIC waits that is shown."""

CORES = ("softirq", "call", "copy", "stalled", "send", "serve")
"""Kinds of work of the cores that serve the network."""


@dataclass(frozen=True)
class BoxLine:
    """A line of text in a box: words on the left, a value on the right."""

    words: str
    value: str
    bad: bool = False


@dataclass(frozen=True)
class HostBox:
    """Contents of the box of a host, or of several alike."""

    title: str
    tooltip: str
    width: float
    outward: int
    """1 if its cables leave to the right, -1 to the left."""
    begins: tuple[int, ...]
    serves: tuple[int, ...]
    """Numbers of the classes that it begins and serves."""
    lines: tuple[BoxLine, ...]
    limits: tuple[int, ...]
    """Numbers of the classes that it limits."""

    @property
    def height(self) -> float:
        """Height of the box."""
        return HEAD + LINE * len(self.lines)

    def drawn(self, x: float, y: float, height: float) -> list[Html]:
        """Draws the box with its upper left corner at a place."""
        frame = {"x": x, "y": round(y, 1), "width": self.width - 1, "height": round(height, 1), "rx": 6}
        ways = [(self.outward, one) for one in self.begins] + [(-self.outward, one) for one in self.serves]
        right = x + self.width - 9
        arrows = [
            arrow(right - ARROW * (place + 1), y + 17, one, way) for place, (way, one) in enumerate(reversed(ways))
        ]
        right -= ARROW * len(ways) + 2
        badges = [badge(one, right - BADGE * (place + 0.5), y + 17) for place, one in enumerate(reversed(self.limits))]
        right -= BADGE * len(self.limits)
        parts = [
            element("rect", element("title", self.tooltip), **frame, class_="hop"),
            text(fit(self.title, right - x - 8), x + 8, y + 21, class_="name"),
        ]
        for place, line in enumerate(self.lines):
            at = y + HEAD + LINE * (place + 0.5)
            words, value = ("bad", "count bad") if line.bad else ("quiet", "count")
            parts.append(text(line.words, x + 8, at, class_=words))
            parts.append(text(line.value, x + self.width - 9, at, anchor="end", class_=value))
        if self.limits:
            parts.append(element("rect", **frame, fill="none", class_=f"binds stroke-{kind_of(self.limits[0])}"))
        return [*parts, *arrows, *badges]


def host_box(arrangement: Arrangement, box: Box, width: float, *, outward: int) -> HostBox:
    """Returns the contents of the box of some hosts."""
    network = arrangement.network
    ends = [network.ends[name] for name in box.names if name in network.ends]
    begins, serves = (
        tuple(number for number, name in enumerate(network.names) if any(name in getattr(end, side) for end in ends))
        for side in ("begins", "serves")
    )
    lines = [*trouble_lines(arrangement, box)]
    if len(box.names) == 1 and box.server and len(network.servers) <= DETAILED_MAX:
        lines = [*server_lines(network.servers[box.names[0]]), *lines]
    words = [box.span or box.title]
    words += [f"begins {network.names[one]}" for one in begins]
    words += [f"serves {network.names[one]}" for one in serves]
    limits = tuple(network.limits_at(*box.names))
    return HostBox(box.title, "\n".join(words), width, outward, begins, serves, tuple(lines), limits)


def server_lines(row: Row) -> list[BoxLine]:
    """Returns the lines of a server: PCIe, IIO, memory, cores, and the troubles of its NIC."""
    busy = sum(row.get(f"core_{kind}_share") or 0.0 for kind in CORES)
    into, out = row["iio_write_gbps"] or 0.0, row["iio_read_gbps"] or 0.0
    held = row["iio_write_occupancy" if into >= out else "iio_read_occupancy"]
    lines = {
        BoxLine("PCIe in" if into >= out else "PCIe out", f"{number(max(into, out))} Gbps"): max(into, out),
        BoxLine("IIO", f"{number(held)} lines"): held,
        BoxLine("memory", f"{number(row['memory_gb_per_s'])} GB/s"): row["memory_gb_per_s"],
        BoxLine("cores busy", percent(busy)): busy,
    }
    return [line for line, value in lines.items() if value] + nic_lines(row)


def nic_lines(row: Row) -> list[BoxLine]:
    """Returns the lines on the troubles of a NIC."""
    waits = {"no credits": row["nic_credit_wait_share"], "no descriptors": row["nic_descriptor_wait_share"]}
    lines = [BoxLine(words, percent(share), bad=True) for words, share in waits.items() if (share or 0) >= WAIT_MIN]
    if row["nic_drop_percent"]:
        lines.append(BoxLine("NIC drops", f"{number(row['nic_drop_percent'])} %", bad=True))
    if row["nic_pauses_sent"]:
        lines.append(BoxLine("NIC pauses", number(row["nic_pauses_sent"]), bad=True))
    return lines


def trouble_lines(arrangement: Arrangement, box: Box) -> list[BoxLine]:
    """Returns the lines on losses and pauses of the cables of some hosts."""
    own = [(ends, cables) for ends, cables in arrangement.links.items() if box in ends]
    lines = []
    for words, mine in (("paused", 0), ("peer paused", 1)):
        paused = max((cable.paused_share for ends, cables in own if ends[mine] == box for cable in cables), default=0.0)
        lines += [BoxLine(words, percent(paused), bad=True)] if paused else []
    for words, mine in (("port drops", 0), ("peer drops", 1)):
        dropped = sum(cable.dropped for ends, cables in own if ends[mine] == box for cable in cables)
        lines += [BoxLine(words, f"{dropped:,}", bad=True)] if dropped else []
    return lines


def kind_of(number: int) -> str:
    """Returns the kind of a class, which selects its colour."""
    return KINDS[number] if number < len(KINDS) else "n"


def badge(number: int, x: float, y: float) -> Html:
    """Draws the number of a class at its limit."""
    circle = element("circle", cx=round(x, 1), cy=round(y, 1), r=8, class_=f"badge binding fill-{kind_of(number)}")
    return element("g", circle, text(str(number + 1), x, y + 3.8, anchor="middle", class_="digit"))


def arrow(x: float, y: float, number: int, way: int) -> Html:
    """Draws a small triangle in the colour of a class, which points along its traffic."""
    tip, base = (x + 7, x) if way > 0 else (x, x + 7)
    return element(
        "polygon", points=f"{base:g},{y - 4:g} {tip:g},{y:g} {base:g},{y + 4:g}", class_=f"fill-{kind_of(number)}"
    )


def fit(words: str, width: float) -> str:
    """Shortens words in their middle so that they fit."""
    room = int(width / CHARACTER)
    if len(words) <= room:
        return words
    tail = max((room - 1) // 2, 1)
    return f"{words[: max(room - 1 - tail, 1)]}…{words[-tail:]}"

"""Picture of the host: its parts, the occupancy of their buffers, and the paths of the domains as coloured lanes.

The lanes run along the edges and have a mark at every hop of their domain, as on a subway map.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hostnet.report.descriptions import count_text, device_text, list_text, pcie_text
from hostnet.report.host import CROSSING, KIND_OF_POOL, CreditPool, DomainPath, HostView
from hostnet.report.html import Html, element
from hostnet.report.load import Row
from hostnet.report.numbers import number, percent
from hostnet.report.parts import channel_tiles, core_cells, drive_cells, part_strip
from hostnet.report.svg import shape, text

WIDTH = 380
LEFT, RIGHT = 36, 344
"""Horizontal limits of the contents of the boxes; the lanes run outside."""

CORES = (0, 160)
DEVICES = (168, 380)
HOST = (0, 380)
"""Left and right edge of the boxes."""

LANES = {"a": 11, "b": 26, "c": 354, "d": 369}
"""Horizontal position of each domain's lane."""

TOP_BOX = 250
"""Height of the boxes of cores and devices, including the gaps between them."""

GAP = 16
LINK_ROW = 30
"""Height of the row of another socket."""

COMPACT = 10_000
"""Counts from here on are written in thousands."""


@dataclass
class Drawing:
    """The drawn parts, and the vertical position of each pool for the lanes."""

    host: HostView
    parts: list[Html] = field(default_factory=list)
    stops: dict[str, float] = field(default_factory=dict)

    def box(self, edges: tuple[int, int], top: float, height: float, title: str, *, idle: bool = False) -> None:
        """Draws the box of a part of the host."""
        left, right = edges
        size = {"x": left + 0.5, "y": top + 0.5, "width": right - left - 1, "height": height - 1, "rx": 6}
        self.parts.append(element("rect", **size, class_="hop idle" if idle else "hop"))
        self.parts.append(label(title, self.inside(edges)[0], top + 18, "name quiet" if idle else "name"))

    def inside(self, edges: tuple[int, int]) -> tuple[int, int]:
        """Returns the horizontal limits of the contents of a box, clear of the lanes."""
        left, right = edges
        return (left + LEFT if left == 0 else left + 8), (right - WIDTH + RIGHT if right == WIDTH else right - 8)

    def pool(self, name: str, words: str, edges: tuple[int, int], top: float) -> None:
        """Draws a buffer: its name, the entries in use, and a bar."""
        left, right = self.inside(edges)
        pool = self.host.pools.get(name)
        self.stops[name] = top + 19
        self.parts.append(label(words, left, top + 9.5))
        self.parts.append(label(in_use_text(pool), right, top + 9.5, anchor="end", class_="count" if pool else "quiet"))
        binding = self.host.binds(name)
        self.bar(
            pool.share if pool else None, left, right, top + 15, KIND_OF_POOL.get(name, "n"), binding=bool(binding)
        )

    def bar(self, share: float | None, left: float, right: float, top: float, kind: str, *, binding: bool) -> None:
        """Draws a bar that is filled to a share."""
        size = {"x": left, "y": top, "height": 8, "rx": 2}
        self.parts.append(element("rect", **size, width=right - left, class_="track"))
        if share:
            self.parts.append(element("rect", **size, width=round((right - left) * share, 1), class_=f"fill-{kind}"))
        if binding:
            frame = {"x": left - 2, "y": top - 2, "width": right - left + 4, "height": 12, "rx": 3}
            self.parts.append(element("rect", **frame, class_=f"binds stroke-{kind}"))

    def wire(self, x: float, start: float, end: float) -> None:
        """Draws a connection between two boxes."""
        self.parts.append(element("line", x1=x, x2=x, y1=start, y2=end, class_="wire"))


def host_picture(host: HostView) -> Html:
    """Draws the whole picture."""
    drawing = Drawing(host)
    draw_wires(drawing)
    draw_cores(drawing)
    draw_devices(drawing)
    bottom = draw_memory(drawing, draw_links(drawing, draw_cha(drawing, TOP_BOX + GAP)))
    for way in host.ways:
        draw_lane(drawing, way)
    title = element(
        "title", "The host network of this run" + ("" if host.socket is None else f", socket {host.socket}")
    )
    return element(
        "svg",
        title,
        element("desc", description(host)),
        *drawing.parts,
        viewBox=f"0 0 {WIDTH} {bottom:g}",
        role="img",
        class_="host",
    )


def draw_wires(drawing: Drawing) -> None:
    """Draws the connections between the parts, below everything else."""
    devices = sum(drawing.inside(DEVICES)) / 2
    cores = sum(drawing.inside(CORES)) / 2
    drawing.wire(devices, 40, TOP_BOX + GAP)
    drawing.wire(cores, TOP_BOX, TOP_BOX + GAP)


def draw_cores(drawing: Drawing) -> None:
    """Draws the cores with their line fill buffers."""
    host = drawing.host
    pool = host.pools.get("LFB") or host.pools.get("C2M-Read")
    busy = pool.parts if pool else ()
    count = host.get("core.count")
    count = len(busy) or None if count is None else count
    drawing.box(CORES, 0, TOP_BOX, part_text(count, "core"), idle=pool is None)
    left, right = drawing.inside(CORES)
    drawing.pool("LFB", "LFB", CORES, 28)
    if count and pool:
        drawing.parts.append(label(f"{len(busy):,} busy, each:", left, 74, "quiet"))
        drawing.parts += core_cells(busy, count, left, right, 82, TOP_BOX - 8, host.first.get("core", 0))


def draw_devices(drawing: Drawing) -> None:
    """Draws the drives, their links and the IIO."""
    host = drawing.host
    left, right = drawing.inside(DEVICES)
    links = [host.pools[name] for name in ("PCIe posted", "PCIe non-posted") if name in host.pools]
    idle = not links and not any(name in host.pools for name in ("P2M-Write", "P2M-Read"))
    count = host.get("ssd.count")
    count = max((len(pool.parts) for pool in links), default=0) or None if count is None else count
    drawing.box(DEVICES, 0, 54, part_text(count, "drive"), idle=idle)
    if count:
        drawing.parts += drive_cells(links, count, left, right, 26, host.first.get("ssd", 0))
    drawing.box(DEVICES, 54 + GAP - 4, 82, pcie_text(host.config), idle=idle)
    drawing.pool("PCIe posted", "posted", DEVICES, 54 + GAP + 20)
    drawing.pool("PCIe non-posted", "non-posted", DEVICES, 54 + GAP + 48)
    top = TOP_BOX - 86
    drawing.box(DEVICES, top, 86, "IIO", idle=idle)
    drawing.pool("P2M-Write", "write buffer", DEVICES, top + 26)
    drawing.pool("P2M-Read", "read buffer", DEVICES, top + 55)


def draw_cha(drawing: Drawing, top: float) -> float:
    """Draws the CHA with its request buffers, and the LLC of a single socket; returns the next vertical position."""
    slices = drawing.host.get("cha.slices")
    height = 54 if drawing.host.llc is None else 82
    drawing.box(HOST, top, height, f"CHA, {count_text(slices, 'slice')}" if slices else "CHA")
    if drawing.host.llc is not None:
        draw_llc(drawing, drawing.host.llc, top + 53)
    elif drawing.host.socket is not None and not drawing.host.get("cache.enabled"):
        drawing.parts.append(label("LLC not simulated", drawing.inside(HOST)[1], top + 18, "quiet", anchor="end"))
    split = [
        f"{words} {number(drawing.host.pools[name].in_use)}"
        for name, words in (("CHA->DRAM read", "reads"), ("CHA->MC write", "writes"))
        if name in drawing.host.pools
    ]
    drawing.pool("CHA TOR", "TOR" + (f": {list_text(split)}" if split else ""), HOST, top + 25)
    drawing.wire(WIDTH / 2, top + height, top + height + GAP)
    return top + height + GAP


def draw_llc(drawing: Drawing, llc: Row, top: float) -> None:
    """Draws the contents of an LLC and its miss ratio."""
    left, right = drawing.inside(HOST)
    held, size = llc["core_mib"] + llc["io_mib"], llc["mib"]
    parts = [f"{words} {number(llc[key])}" for key, words in (("core_mib", "cores"), ("io_mib", "devices")) if llc[key]]
    if llc["lookups"]:
        missed = f"cores miss the LLC {percent(llc['misses'] / llc['lookups'])}"
        drawing.parts.append(label(missed, right, top - 35, anchor="end"))
    drawing.parts.append(label("LLC" + (f": {', '.join(parts)}" if parts else ""), left, top + 9.5))
    drawing.parts.append(label(f"{number(held)} of {number(size)} MiB", right, top + 9.5, anchor="end", class_="count"))
    drawing.bar(held / size if size else None, left, right, top + 15, "n", binding=False)


def draw_links(drawing: Drawing, top: float) -> float:
    """Draws UPI to and from each other socket if a single socket is drawn; returns the next vertical position."""
    host = drawing.host
    if host.socket is None:
        return top
    others = sorted({row["to"] for row in host.links} - {host.socket})
    busy = {(row["from"], row["to"]): row["busy_share"] for row in host.links}
    height = 58 + LINK_ROW * len(others)
    drawing.box(HOST, top, height, "UPI", idle=not any(busy.values()))
    left, right = drawing.inside(HOST)
    drawing.pool(CROSSING, "TOR, waits for other sockets", HOST, top + 25)
    middle = (left + right) / 2
    for index, other in enumerate(others):
        y = top + 54 + LINK_ROW * index
        for words, way, start, end in (
            (f"to socket {other}", (host.socket, other), left, middle - 8),
            (f"from socket {other}", (other, host.socket), middle + 8, right),
        ):
            drawing.parts.append(label(words, start, y + 9.5, None if busy.get(way) else "quiet"))
            drawing.parts.append(label(percent(busy.get(way)), end, y + 9.5, anchor="end", class_="count"))
            drawing.bar(busy.get(way), start, end, y + 14, "n", binding=False)
    drawing.wire(WIDTH / 2, top + height, top + height + GAP)
    return top + height + GAP


def part_text(count: int | None, noun: str) -> str:
    """Describes the number of parts of a kind, as far as known."""
    if count is None:
        return f"{noun.capitalize()}s"
    return count_text(count, noun) if count else f"No {noun}s"


def draw_memory(drawing: Drawing, top: float) -> float:
    """Draws memory controllers and DRAM; returns the height of the picture."""
    host = drawing.host
    left, right = drawing.inside(HOST)
    strips = 18 if any(part_count(host.pools.get(name)) > 1 for name in ("WPQ", "RPQ")) else 0
    height = 88 + 2 * strips
    drawing.box(HOST, top, height, controllers_text(host))
    for name, offset in (("WPQ", 25), ("RPQ", 54 + strips)):
        drawing.pool(name, name, HOST, top + offset)
        pool = host.pools.get(name)
        if pool and strips:
            drawing.parts += part_strip(pool, left, right, top + offset + 26, host.first.get("channel", 0))
    top += height + GAP
    drawing.wire(WIDTH / 2, top - GAP, top)
    tiles = 46 if host.channels else 0
    drawing.box(HOST, top, 54 + tiles, dram_text(host))
    busy = host.channels_all["bus_busy_share"] if host.channels_all else None
    drawing.stops["DRAM"] = top + 44
    drawing.parts.append(label("data bus busy", left, top + 35))
    drawing.parts.append(label(percent(busy), right, top + 35, anchor="end", class_="count"))
    drawing.bar(busy, left, right, top + 40, "n", binding=bool(host.binding.get("DRAM channel")))
    if host.channels:
        drawing.parts += channel_tiles(host, left, right, top + 54)
    return top + 54 + tiles


def part_count(pool: CreditPool | None) -> int:
    """Returns the number of parts of a pool."""
    return len(pool.parts) if pool else 0


def controllers_text(host: HostView) -> str:
    """Describes the number of memory controllers: one per channel or subchannel."""
    channels, subchannels = host.get("memory.channels"), host.get("memory.dram.subchannels")
    if not channels:
        return "Memory controllers"
    if subchannels and subchannels > 1:
        return f"Memory controllers, {channels} x {subchannels} subchannels"
    return f"Memory controllers, {count_text(channels, 'channel')}"


def dram_text(host: HostView) -> str:
    """Describes the device and its banks."""
    ranks, groups, banks = (host.get(f"memory.dram.{key}") for key in ("ranks", "bank_groups", "banks_per_group"))
    device = host.get("memory.device")
    words = f"DRAM, {device_text(host.config)}" if device and "/" not in str(device) else "DRAM"
    return f"{words}, {ranks * groups * banks} banks each" if ranks and groups and banks else words


def draw_lane(drawing: Drawing, domain_path: DomainPath) -> None:
    """Draws the lane of a domain: a line with a mark at each hop, and the number of the domain at its head."""
    x = LANES[domain_path.kind]
    stops = [drawing.stops[hop] for hop in domain_path.hops if hop in drawing.stops]
    head = stops[0] - 28 if domain_path.kind in "ab" else drawing.stops["P2M-Write"] - 28
    binding = " binding" if drawing.host.binding.get(domain_path.domain) else ""
    drawing.parts.append(element("line", x1=x, x2=x, y1=head, y2=stops[-1], class_="halo"))
    drawing.parts.append(
        element("line", x1=x, x2=x, y1=head, y2=stops[-1], class_=f"lane stroke-{domain_path.kind}{binding}")
    )
    drawing.parts += [
        shape(domain_path.kind, x, y, f"stop stroke-{domain_path.kind}", f"{domain_path.domain} passes here", size=3.6)
        for y in stops
    ]
    drawing.parts.append(badge(domain_path, x, head, binding=bool(binding)))


def badge(domain_path: DomainPath, x: float, y: float, *, binding: bool) -> Html:
    """Draws the number of a domain."""
    digit = element("text", digit_of(domain_path), x=x, y=y + 3.8, text_anchor="middle", class_="digit")
    ring = element("circle", cx=x, cy=y, r=7, class_=f"badge fill-{domain_path.kind}{' binding' if binding else ''}")
    return element("g", element("title", domain_path.domain), ring, digit)


def digit_of(domain_path: DomainPath) -> str:
    """Returns the number of a domain in the picture and beside it."""
    return str("abcd".index(domain_path.kind) + 1)


def in_use_text(pool: CreditPool | None) -> str:
    """Formats the entries in use and their total."""
    if pool is None:
        return "not used"
    in_use = number(pool.in_use) if pool.in_use < COMPACT else compact(pool.in_use)
    return in_use + (f" of {compact(pool.capacity)}" if pool.capacity else "")


def compact(count: float) -> str:
    """Formats a count, in thousands or millions if it is large."""
    if count < COMPACT:
        return f"{count:,.0f}"
    size, unit = (1e6, "M") if count >= 999_500 else (1e3, "k")
    return f"{count / size:.3g}{unit}"


def label(content: str, x: float, y: float, class_: str | None = None, *, anchor: str = "start") -> Html:
    """Draws text."""
    return text(content, x, y, anchor=anchor, class_=class_)


def description(host: HostView) -> str:
    """Describes the picture for screen readers."""
    pools = [f"{pool.name} {in_use_text(pool)}" for pool in host.pools.values()]
    bound = [
        f"{domain} limits {list_text(names)}"
        for domain, names in host.binding.items()
        if domain in (*host.pools, "DRAM channel")
    ]
    ways = [f"{way.domain} passes {', '.join(way.hops)}" for way in host.ways]
    return "; ".join(["Entries in use of all: " + ", ".join(pools), *ways, *bound]) + "."

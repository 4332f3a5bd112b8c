"""What counters tell of lines that cross between sockets: how full UPI links are, and which DRAM serves the cores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hostnet.counters.quantities import TOLERANCE, ImplausibleError
from hostnet.units import LINE_BYTES, format_percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hostnet.counters.events import Uarch

SLOTS_PER_LINE = 9
"""Slots of flits that a line takes, as the events of UPI count them; see `specs/counters`."""

SLOTS_PER_CLOCK = 2.5
"""Slots that a link sends in a clock at most: 5 flits of three slots in 6 clocks; see `specs/counters`."""

DIRECTIONS = ("sent", "received")

Counts = dict[str, float | None]
"""Counts by the key of the event; None where one was not counted in every interval."""


@dataclass(frozen=True)
class Direction:
    """What a link sent or received: GB/s of lines alone, and the share of its slots in use. None is not known."""

    line_gb_per_s: float | None
    busy_share: float | None


@dataclass(frozen=True)
class Link:
    """A UPI link as one of its ends counts it; `name` is "" for all links of a socket together."""

    socket: str
    name: str
    sent: Direction
    received: Direction

    @property
    def words(self) -> str:
        """What a message calls it."""
        return (self.name or "UPI") + (f" of socket {self.socket}" if self.socket.isdecimal() else "")


@dataclass(frozen=True)
class Numa:
    """Accesses of cores that DRAM of their own socket served, and that of others."""

    local: float
    remote: float
    what: str
    """What was counted: "loads" or "accesses of cores"."""
    socket: str = ""
    """Whose cores; "" for those of all sockets."""

    @property
    def remote_share(self) -> float | None:
        """The share of others; None without any access."""
        whole = self.local + self.remote
        return self.remote / whole if whole else None


def links_of(uarch: Uarch, counts: Mapping[str, Mapping[str, Counts]], length_ns: float) -> list[Link]:
    """The links of every socket, from their counts over a time.

    Raises:
        ImplausibleError: A link cannot have sent or received so much.
    """
    return [
        Link(socket, name, *(_direction(uarch, way, name, of_link, length_ns) for way in DIRECTIONS))
        for socket, links in sorted(counts.items())
        for name, of_link in sorted(links.items(), key=lambda link: (len(link[0]), link[0]))
    ]


def _direction(uarch: Uarch, way: str, name: str, counts: Counts, length_ns: float) -> Direction:
    (lines,), (others,) = (uarch.ways[f"upi_{way}.{part}"][0] for part in ("lines", "others"))
    of_lines, of_others = counts.get(lines), counts.get(others)
    ticks = counts.get(uarch.pmus["upi"].clock)
    if ticks is None and name:
        ticks = uarch.pmus["upi"].hz * length_ns / 1e9
    if of_lines is None:
        return Direction(None, None)
    share = None if of_others is None or not ticks else (of_lines + of_others) / (SLOTS_PER_CLOCK * ticks)
    if share is not None and share > TOLERANCE:
        raise ImplausibleError(
            f"{lines} and {others}{f' of {name}' if name else ''} count {of_lines + (of_others or 0):.6g} slots in "
            f"{ticks:.6g} clocks; a link carries {SLOTS_PER_CLOCK:g} in a clock at most"
        )
    return Direction(of_lines / SLOTS_PER_LINE * LINE_BYTES / length_ns, share)


def numa_of(uarch: Uarch, totals: Mapping[str, float | None], socket: str, *, of_loads: bool) -> Numa | None:
    """Which DRAM served the cores, if it was counted."""
    local, remote = (totals.get(uarch.ways[f"dram_{which}"][0][0]) for which in ("local", "remote"))
    if local is None or remote is None:
        return None
    return Numa(local, remote, "loads" if of_loads else "accesses of cores", socket)


def sentences(links: Sequence[Link], numa: Numa | None) -> Iterator[str]:
    """What the counts say, and what they do not."""
    moved = [(link, way, getattr(link, way)) for link in links for way in DIRECTIONS]
    crossing = [entry for entry in moved if entry[2].line_gb_per_s]
    share = numa.remote_share if numa is not None else None
    if crossing or share:
        sent = sum(link.sent.line_gb_per_s or 0.0 for link in links)
        yield "lines cross between sockets" + (f": the links of this file send {sent:.3g} GB/s of them" if sent else "")
    elif links and all(entry[2].line_gb_per_s is not None for entry in moved):
        yield "no lines cross between sockets"
    elif share is not None and numa is not None:
        yield f"of the {numa.what} that DRAM served, none went to that of other sockets"
    if numa is not None and share:
        where = f" of socket {numa.socket}" if numa.socket else ""
        yield f"of the {numa.what}{where} that DRAM served, {format_percent(share, 1)} went to that of other sockets"
    full = max((entry for entry in crossing if entry[2].busy_share is not None), key=_busy, default=None)
    if full is not None:
        link, way, direction = full
        busy = format_percent(direction.busy_share, 1)
        verb = {"sent": "sends", "received": "receives"}[way]
        yield (
            f"the fullest direction is that in which {link.words} {verb}: {busy} of its slots are in use. Whether UPI "
            "limits anything these counters do not tell: they see neither the credits of a link nor what waits for it"
        )
    elif crossing:
        yield "how full the links are cannot be computed: NON_DATA flits or UNC_UPI_CLOCKTICKS are missing"


def _busy(entry: tuple[Link, str, Direction]) -> float:
    return entry[2].busy_share or 0.0


def document_of(links: Sequence[Link], numa: Numa | None) -> dict[str, Any]:
    """The same as nested dicts."""
    return {
        "links": [
            {
                "socket": link.socket,
                "link": link.name,
                **{way: {**vars(getattr(link, way))} for way in DIRECTIONS},
            }
            for link in links
        ],
        "dram": None
        if numa is None
        else {"local": numa.local, "remote": numa.remote, "remote_share": numa.remote_share, "of": numa.what},
    }

"""Derives the traffic between sockets from counters: the utilization of UPI links and the NUMA split of accesses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hostnet.counters.quantities import TOLERANCE, ImplausibleError
from hostnet.units import LINE_BYTES, format_percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hostnet.counters.events import Uarch

SLOTS_PER_LINE = 9
"""Flit slots that a line takes, as the UPI events count them; see `specs/counters`."""

SLOTS_PER_CLOCK = 2.5
"""Maximum number of slots that a link sends per clock: 5 flits of 3 slots in 6 clocks; see `specs/counters`."""

DIRECTIONS = ("sent", "received")

Counts = dict[str, float | None]
"""Counts by event key; None if an event was not counted in every interval."""


@dataclass(frozen=True)
class Direction:
    """Traffic of a link in one direction. None if unknown.

    `line_gb_per_s` is the rate of cache lines in GB/s, without other flits; `busy_share` the share of slots in use, 0
    to 1.
    """

    line_gb_per_s: float | None
    busy_share: float | None


@dataclass(frozen=True)
class Link:
    """A UPI link as counted by one of its ends; `name` is "" for all links of a socket combined."""

    socket: str
    name: str
    sent: Direction
    received: Direction

    @property
    def words(self) -> str:
        """Name used in messages."""
        return (self.name or "UPI") + (f" of socket {self.socket}" if self.socket.isdecimal() else "")


@dataclass(frozen=True)
class Numa:
    """Accesses by cores that were served by the DRAM of their own socket (`local`) and of other sockets (`remote`)."""

    local: float
    remote: float
    what: str
    """The accesses counted: "loads" or "accesses of cores"."""
    socket: str = ""
    """Socket of the cores; "" for the cores of all sockets."""

    @property
    def remote_share(self) -> float | None:
        """Share of accesses served by other sockets, 0 to 1; None without accesses."""
        whole = self.local + self.remote
        return self.remote / whole if whole else None


def make_links(uarch: Uarch, counts: Mapping[str, Mapping[str, Counts]], length_ns: float) -> list[Link]:
    """Returns the links of every socket, given their counts over `length_ns`.

    Raises:
        ImplausibleError: A link counts more slots than it can carry.
    """
    return [
        Link(socket, name, *(_direction(uarch, way, name, of_link, length_ns) for way in DIRECTIONS))
        for socket, links in sorted(counts.items())
        for name, of_link in sorted(links.items(), key=lambda link: (len(link[0]), link[0]))
    ]


def _direction(uarch: Uarch, direction: str, name: str, counts: Counts, length_ns: float) -> Direction:
    (lines,), (others,) = (uarch.ways[f"upi_{direction}.{part}"][0] for part in ("lines", "others"))
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


def make_numa(uarch: Uarch, totals: Mapping[str, float | None], socket: str, *, of_loads: bool) -> Numa | None:
    """Returns how the accesses of cores split over the sockets' DRAM; None if it was not counted."""
    local, remote = (totals.get(uarch.ways[f"dram_{which}"][0][0]) for which in ("local", "remote"))
    if local is None or remote is None:
        return None
    return Numa(local, remote, "loads" if of_loads else "accesses of cores", socket)


def crossing_sentences(links: Sequence[Link], numa: Numa | None) -> Iterator[str]:
    """Yields sentences on what the counters say about traffic between sockets."""
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


def to_dict(links: Sequence[Link], numa: Numa | None) -> dict[str, Any]:
    """Returns the links and the NUMA split as nested dicts."""
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

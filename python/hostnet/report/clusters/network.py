"""The network of a run: hosts, switches, and the directions of their cables with loads, losses and pauses."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from hostnet.units import BITS_PER_BYTE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hostnet.report.load import Row, RunFiles


@dataclass(frozen=True)
class Cable:
    """One direction of a cable, and the queue of the port that sends on it."""

    place: str
    to: str
    gbps: float
    rate_gbps: float | None
    queue_mean: float = 0.0
    queue_max: int = 0
    marked: int = 0
    paused_share: float = 0.0
    dropped: int = 0

    @property
    def load(self) -> float:
        """Share of its rate that it carries, 0 to 1; 0 without a rate."""
        return self.gbps / self.rate_gbps if self.rate_gbps else 0.0


@dataclass(frozen=True)
class TrafficEnds:
    """Classes of traffic that a host begins, and those that it serves, in the order of the classes."""

    begins: tuple[str, ...] = ()
    serves: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClusterNetwork:
    """Hosts and switches of a run with their cables."""

    cables: tuple[Cable, ...]
    hosts: tuple[str, ...]
    servers: Mapping[str, Row]
    """Rows of the servers with a host network, by name."""
    ends: Mapping[str, TrafficEnds]
    limits: tuple[Row, ...]
    names: tuple[str, ...]
    """Names of the classes."""
    levels: Mapping[str, int] = field(default_factory=dict)
    """Distance of each switch from the nearest host, in cables; 0 for hosts."""

    @cached_property
    def switches(self) -> tuple[str, ...]:
        """Names of the switches, in natural order."""
        return tuple(sorted((name for name, level in self.levels.items() if level), key=natural))

    @cached_property
    def peers(self) -> Mapping[str, tuple[str, ...]]:
        """Peers of each host and switch."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for cable in self.cables:
            found[cable.place][cable.to] = None
            found[cable.to][cable.place] = None
        return {name: tuple(peers) for name, peers in found.items()}

    @property
    def load_max(self) -> float:
        """Largest load of a cable."""
        return max((cable.load for cable in self.cables), default=0.0)

    def limits_at(self, *places: str) -> list[int]:
        """Returns the numbers of the classes whose limit is at a host or a switch, or on a direction of a cable."""
        return [
            self.names.index(row["class"])
            for row in self.limits
            if row["place"] and row["place"] in places and row["class"] in self.names
        ]


def network_of(run: RunFiles) -> ClusterNetwork | None:
    """Returns the network of a run; None without cables."""
    summary = run.summary
    cables = cables_of(summary)
    if not cables:
        return None
    # Hosts mark no packets, so their cells are empty.
    of_hosts = [row["place"] for row in summary["queues"] if row.get("marked_packets") is None]
    inside = Counter(row["to"] for row in summary.get("mcn", ()))
    # A host that hands packets to several DIMMs is drawn as what it is to them: a switch.
    hubs = {name for name, count in inside.items() if count > 1}
    hosts = tuple(sorted({*of_hosts, *inside} - hubs, key=natural))
    return ClusterNetwork(
        cables=cables,
        hosts=hosts,
        servers={row["host"]: row for row in summary.get("hosts", ())},
        ends=ends_of(run.flows),
        limits=tuple(summary.get("limits", ())),
        names=tuple(row["class"] for row in summary.get("classes", ())),
        levels=levels_of(cables, hosts),
    )


def cables_of(summary: Row) -> tuple[Cable, ...]:
    """Returns the directions of the cables; parallel cables between the same ends are added up."""
    dropped: dict[tuple[str, str], int] = defaultdict(int)
    for row in summary.get("drops", ()):
        dropped[row["place"], row["to"]] += row["dropped_packets"]
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in summary.get("queues", ()):
        if row["to"]:
            found[row["place"], row["to"]].append(row)
    cables = [cable_of(ends, rows, dropped.get(ends, 0)) for ends, rows in found.items()]
    return (*cables, *interfaces_of(summary))


def cable_of(ends: tuple[str, str], rows: list[Row], dropped: int) -> Cable:
    """Returns a direction of the cables between two ends."""
    first, *others = rows
    gbps, rate_gbps = first["sent_gbps"], first["rate_gbps"] or 0.0
    queue_mean, queue_max = first["queue_mean_packets"] or 0.0, first["queue_max_packets"] or 0
    marked, paused_share = first["marked_packets"] or 0, first["paused_share"] or 0.0
    # In a loop, as most ends have one cable between them and a network may have thousands.
    for row in others:
        gbps += row["sent_gbps"]
        rate_gbps += row["rate_gbps"] or 0.0
        queue_mean = max(queue_mean, row["queue_mean_packets"] or 0.0)
        queue_max = max(queue_max, row["queue_max_packets"] or 0)
        marked += row["marked_packets"] or 0
        paused_share = max(paused_share, row["paused_share"] or 0.0)
    return Cable(*ends, gbps, rate_gbps or None, queue_mean, queue_max, marked, paused_share, dropped)


def interfaces_of(summary: Row) -> list[Cable]:
    """Returns the interfaces between hosts and their DIMMs with processors, which have no cable and no rate."""
    seconds = (float(summary.get("warm_up_ns") or 0.0) + float(summary.get("window_ns") or 0.0)) / 1e9
    return [
        Cable(
            place=row["host"],
            to=row["to"],
            gbps=BITS_PER_BYTE * row["sent_bytes"] / seconds / 1e9 if seconds else 0.0,
            rate_gbps=None,
            dropped=row["dropped"],
        )
        for row in summary.get("mcn", ())
    ]


def ends_of(flows: Iterable[Row]) -> dict[str, TrafficEnds]:
    """Returns the classes that each host begins and serves."""
    begins: dict[str, dict[str, None]] = defaultdict(dict)
    serves: dict[str, dict[str, None]] = defaultdict(dict)
    for row in flows:
        begins[row["from"]][row["class"]] = None
        serves[row["to"]][row["class"]] = None
    return {name: TrafficEnds(tuple(begins[name]), tuple(serves[name])) for name in {*begins, *serves}}


def levels_of(cables: Sequence[Cable], hosts: Iterable[str]) -> dict[str, int]:
    """Returns the distance of every place from the nearest host."""
    peers: dict[str, list[str]] = defaultdict(list)
    for cable in cables:
        peers[cable.place].append(cable.to)
        peers[cable.to].append(cable.place)
    levels = dict.fromkeys(hosts, 0)
    reached = list(levels)
    while reached:
        found = {peer: levels[name] + 1 for name in reached for peer in peers[name] if peer not in levels}
        levels |= found
        reached = list(found)
    return levels


def natural(name: str) -> list[tuple[int, int, str]]:
    """Returns a key that sorts numbers in names by value."""
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", name) if part]


def stem(name: str) -> str:
    """Returns the name without its last number: `edge-0` for `edge-0-1`."""
    return re.sub(r"-?\d+$", "", name) or name

"""Hosts and switches of a network as the boxes of a picture: alike ones share a box where there are too many."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from hostnet.report.clusters.network import Cable, ClusterNetwork, natural, stem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

Key = TypeVar("Key")

HOSTS_MAX = 12
"""Maximum number of hosts that all have a box of their own. Of more hosts, this many have one, if they are notable."""

SWITCHES_MAX, RANGES = 16, 8
"""Maximum number of boxes of the switches with equal distances from hosts; more become this many ranges."""

FEW = 4
"""Hosts are notable if a class of traffic has at most this many at one end."""


@dataclass(frozen=True)
class Box:
    """A host or switch, or several alike, in natural order."""

    names: tuple[str, ...]
    level: int
    """Distance from the nearest host; 0 for hosts."""
    server: bool = False

    @property
    def title(self) -> str:
        """Name, or number and common name."""
        return self.names[0] if len(self.names) == 1 else f"{len(self.names)} × {stem(self.names[0])}"  # noqa: RUF001

    def short(self, prefix: str) -> str:
        """Returns the name, or the range of names, without a common prefix."""
        first, last = (name.removeprefix(prefix).strip("-") for name in (self.names[0], self.names[-1]))
        if len(self.names) == 1:
            return first or self.names[0]
        return f"{first} … {last}"

    @property
    def span(self) -> str | None:
        """First and last name; None for a single one."""
        return None if len(self.names) == 1 else f"{self.names[0]} … {self.names[-1]}"


@dataclass(frozen=True)
class Arrangement:
    """Boxes of a network, and its cables between and within them."""

    network: ClusterNetwork
    boxes: tuple[Box, ...]

    @cached_property
    def of(self) -> Mapping[str, Box]:
        """Box of each host and switch."""
        return {name: box for box in self.boxes for name in box.names}

    @cached_property
    def links(self) -> Mapping[tuple[Box, Box], tuple[Cable, ...]]:
        """Cables by the boxes at their ends, in the direction of the traffic; ends of links within a box are equal."""
        found: dict[tuple[Box, Box], list[Cable]] = defaultdict(list)
        for cable in self.network.cables:
            found[self.of[cable.place], self.of[cable.to]].append(cable)
        return {ends: tuple(cables) for ends, cables in found.items()}

    def at(self, level: int) -> list[Box]:
        """Returns the boxes at a distance from hosts."""
        return [box for box in self.boxes if box.level == level]

    @property
    def levels(self) -> int:
        """Largest distance of a switch from hosts."""
        return max(box.level for box in self.boxes)

    def switch_of(self, box: Box) -> Box | None:
        """Returns the first switch that hosts have a cable to; None if they have none."""
        peers = (self.of[peer] for name in box.names for peer in self.network.peers.get(name, ()))
        return next((peer for peer in peers if peer.level), None)


def arrange(network: ClusterNetwork) -> Arrangement:
    """Returns the boxes of a network."""
    switches = [box for level in range(1, 1 + max(network.levels.values())) for box in _switch_boxes(network, level)]
    return Arrangement(network, (*_host_boxes(network, switches), *switches))


def _switch_boxes(network: ClusterNetwork, level: int) -> list[Box]:
    """Returns the boxes of the switches at a distance from hosts, grouped by shorter names until they are few."""
    names = [name for name in network.switches if network.levels[name] == level]
    groups = [[name] for name in names]
    if len(groups) > SWITCHES_MAX:
        groups = list(grouped(names, stem).values())
    # All of many leaves would share one box.
    if not 1 < len(groups) <= SWITCHES_MAX and len(names) > 1:
        length = -(-len(names) // RANGES)
        groups = [names[start : start + length] for start in range(0, len(names), length)]
    return [Box(tuple(own), level) for own in groups]


def _host_boxes(network: ClusterNetwork, switches: Sequence[Box]) -> list[Box]:
    """Returns the boxes of the hosts: of all if they are few, or of notable ones and of groups at the same switch."""
    if len(network.hosts) <= HOSTS_MAX:
        return [Box((name,), 0, name in network.servers) for name in network.hosts]
    alone = set(notable(network)[:HOSTS_MAX])
    box_of = {name: number for number, box in enumerate(switches) for name in box.names}

    def key(name: str) -> tuple[object, ...]:
        switch = next((box_of[peer] for peer in network.peers.get(name, ()) if peer in box_of), None)
        return (switch, name) if name in alone else (switch, stem(name), name in network.servers)

    return [Box(tuple(own), 0, own[0] in network.servers) for own in grouped(network.hosts, key).values()]


def notable(network: ClusterNetwork) -> list[str]:
    """Returns the hosts worth a box of their own, the most notable first.

    Limits come first, then lost packets, pauses, servers beside endpoints, and the few ends of a class.
    """
    places = [place for row in network.limits for place in str(row["place"]).split(" to ")]
    troubled = sorted(network.cables, key=lambda cable: (-cable.dropped, -cable.paused_share))
    lost = sorted(network.servers.values(), key=lambda row: -(row["nic_dropped"] or 0))
    few = []
    for name in network.names:
        for side in ("begins", "serves"):
            own = [host for host, ends in network.ends.items() if name in getattr(ends, side)]
            few += own if len(own) <= FEW else []
    candidates = [
        *places,
        *(row["host"] for row in lost if row["nic_dropped"]),
        *(end for cable in troubled if cable.dropped or cable.paused_share for end in (cable.place, cable.to)),
        *(network.servers if len(network.servers) < len(network.hosts) else ()),
        *sorted(few, key=natural),
    ]
    known = set(network.hosts)
    return list(dict.fromkeys(name for name in candidates if name in known))


def common_word(boxes: Sequence[Box]) -> str:
    """Returns the word that all names begin with, up to their first number; empty if there is none, or one name."""
    words = {re.split(r"-?\d", name)[0] for box in boxes for name in box.names}
    return words.pop() if len(words) == 1 and sum(len(box.names) for box in boxes) > 1 else ""


def grouped(names: Iterable[str], key: Callable[[str], Key]) -> dict[Key, list[str]]:
    """Groups names by a key, in their order."""
    groups: dict[Key, list[str]] = {}
    for name in names:
        groups.setdefault(key(name), []).append(name)
    return groups

"""The sockets of a server: what each is like, and which parts of the server are its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

TABLES = ("core", "cha", "cache", "prefetch", "ddio", "memory", "iio", "pcie", "ssd")
"""Tables that a socket may have of its own."""

SINGLE = ("cha", "iio")
"""Parts of which every socket has one."""


@dataclass(frozen=True)
class Place:
    """A socket: its configuration, and which cores, channels and drives of the server are its own."""

    number: int
    config: dict[str, Any]
    parts: Mapping[str, range]
    """The numbers of its parts by their kind, such as `core`."""

    def has(self, part: str) -> bool:
        """Whether a part of the server, as tables name it, belongs to it."""
        kind, _, number = part.partition(" ")
        return (int(number) if number.isdecimal() else 0) in self.parts.get(kind, ())


def places_of(config: dict[str, Any]) -> tuple[Place, ...]:
    """The sockets of a complete configuration; none where there is one, or nobody knows."""
    count = _value(config, "server", "sockets")
    if not isinstance(count, int) or count < 2:
        return ()
    places: list[Place] = []
    drives = _drives(config)
    first = {"core": 0, "channel": 0, "ssd": 0}
    for number in range(count):
        own = _value(config, "socket", str(number))
        tables = {name: own[name] for name in TABLES if name in own} if isinstance(own, dict) else {}
        socket = {**config, **tables}
        counts = _counts(socket)
        if drives is not None:
            counts["ssd"] = drives.count(number)
        parts = {kind: range(first[kind], first[kind] + counted) for kind, counted in counts.items()}
        first = {kind: numbers.stop for kind, numbers in parts.items()}
        single = dict.fromkeys(SINGLE, range(number, number + 1))
        places.append(Place(number, socket, {**parts, **single}))
    return tuple(places)


def _counts(config: dict[str, Any]) -> dict[str, int]:
    """How many cores, channels with queues of their own, and drives a socket has."""
    subchannels = _value(config, "memory", "dram", "subchannels") or 1
    return {
        "core": _value(config, "core", "count") or 0,
        "channel": (_value(config, "memory", "channels") or 0) * subchannels,
        "ssd": _value(config, "ssd", "count") or 0,
    }


def _drives(config: dict[str, Any]) -> list[int] | None:
    """The socket of each drive; None where every socket has those of its own table."""
    sockets = _value(config, "ssd", "sockets")
    if isinstance(sockets, int):
        return [sockets] * int(_value(config, "ssd", "count") or 0)
    return sockets if isinstance(sockets, list) else None


def _value(config: Any, *path: str) -> Any:
    for key in path:
        config = config.get(key) if isinstance(config, dict) else None
    return config

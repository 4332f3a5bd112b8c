"""Sockets of a server: the configuration of each, and the parts of the server that belong to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

TABLES = ("core", "cha", "cache", "prefetch", "ddio", "memory", "iio", "pcie", "ssd")
"""Tables of the configuration that a socket may override."""

SINGLE = ("cha", "iio")
"""Parts of which every socket has exactly one."""


@dataclass(frozen=True)
class ServerSocket:
    """A socket: its configuration, and the cores, channels and drives of the server that belong to it."""

    number: int
    config: dict[str, Any]
    parts: Mapping[str, range]
    """Numbers of the parts of the socket by kind, such as `core`."""

    def has(self, part: str) -> bool:
        """Returns True if a part of the server, as tables name it, belongs to the socket."""
        kind, _, number = part.partition(" ")
        return (int(number) if number.isdecimal() else 0) in self.parts.get(kind, ())


def server_sockets(config: dict[str, Any]) -> tuple[ServerSocket, ...]:
    """Returns the sockets of a complete configuration; empty if there is only one, or the number is unknown."""
    count = _value(config, "server", "sockets")
    if not isinstance(count, int) or count < 2:
        return ()
    places: list[ServerSocket] = []
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
        places.append(ServerSocket(number, socket, {**parts, **single}))
    return tuple(places)


def _counts(config: dict[str, Any]) -> dict[str, int]:
    """Returns the number of cores, of channels with separate queues, and of drives of a socket."""
    subchannels = _value(config, "memory", "dram", "subchannels") or 1
    return {
        "core": _value(config, "core", "count") or 0,
        "channel": (_value(config, "memory", "channels") or 0) * subchannels,
        "ssd": _value(config, "ssd", "count") or 0,
    }


def _drives(config: dict[str, Any]) -> list[int] | None:
    """Returns the socket of each drive; None if every socket has the drives of its own table."""
    sockets = _value(config, "ssd", "sockets")
    if isinstance(sockets, int):
        return [sockets] * int(_value(config, "ssd", "count") or 0)
    return sockets if isinstance(sockets, list) else None


def _value(config: Any, *path: str) -> Any:
    """Returns the value at a path of nested dicts, or None."""
    for key in path:
        config = config.get(key) if isinstance(config, dict) else None
    return config

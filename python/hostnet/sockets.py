"""Sockets of a server: the configuration of each, and the parts of the server that belong to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hostnet import _core


@dataclass(frozen=True)
class ServerSocket:
    """A socket: its configuration, and the cores, channels and drives of the server that belong to it."""

    number: int
    config: dict[str, Any]
    parts: Mapping[str, range]
    """Numbers of the parts of the socket by kind, such as `core`."""


def server_sockets(config: dict[str, Any]) -> tuple[ServerSocket, ...]:
    """Returns the sockets of a complete configuration; empty if there is only one, or the number is unknown."""
    return tuple(
        ServerSocket(number, json.loads(own), {kind: range(first, end) for kind, first, end in parts})
        for number, (own, parts) in enumerate(_core.server_sockets(json.dumps(config)))
    )

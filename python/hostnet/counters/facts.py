"""The properties of a server needed to interpret or write its counters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import Any

from hostnet import _core
from hostnet.sockets import server_sockets

LINES_PER_CLOCK = 0.25
"""Maximum number of lines that a DDR4 channel moves per clock: a burst takes four clocks."""


@dataclass(frozen=True)
class Facts:
    """Properties of a server: its preset, unit counts, channel clock and the thresholds of full queues.

    `channels` counts those with queues of their own, `channel_hz` is their clock in Hz, and `lines_per_clock` the
    maximum number of lines that one of them moves per clock. For a multi-socket server these are the properties of the
    first socket; `sockets` holds those of each.
    """

    preset: str | None
    cores: int
    slices: int
    channels: int
    channel_hz: int
    lines_per_clock: float
    rpq_full: int
    wpq_full: int
    sockets: tuple[Facts, ...] = ()

    def of_socket(self, socket: str) -> Facts:
        """Returns the facts of the socket with this number, or `self` on a server of one socket."""
        return self.sockets[int(socket)] if socket.isdecimal() and int(socket) < len(self.sockets) else self

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Facts:
        """Returns the facts of a complete configuration, as `manifest.json` holds it under `config`."""
        sockets = tuple(cls._of_one(place.config) for place in server_sockets(dict(config)))
        return replace(cls._of_one(config), sockets=sockets)

    @classmethod
    def _of_one(cls, config: Mapping[str, Any]) -> Facts:
        memory = config["memory"]
        dram, queues = memory["dram"], memory["controller"]
        rate = re.match(r"[\d.]+", str(dram["data_rate"]))
        assert rate is not None, "a checked configuration has a data rate"
        return cls(
            config["server"].get("preset"),
            config["core"]["count"],
            config["cha"]["slices"],
            memory["channels"] * dram["subchannels"],
            round(float(rate[0]) * 1e6 / 2),
            1 / (dram["timing"]["burst"] * dram["accesses_per_line"]),
            queues["rpq"]["full_threshold"],
            queues["wpq"]["full_threshold"],
        )


def facts_of(server: str | PathLike[str] | Mapping[str, Any] | Facts | None) -> Facts | None:
    """Returns the facts of a preset name, the path of a configuration, or a complete configuration.

    Raises:
        ConfigError: The preset is unknown, or the configuration is invalid.
        OSError: The file cannot be read.
    """
    if server is None or isinstance(server, Facts):
        return server
    if isinstance(server, Mapping):
        return Facts.of(server)
    return Facts.of(_effective(fspath(server)))


def _effective(name: str) -> Mapping[str, Any]:
    import json

    from hostnet.running import simulate

    if name.endswith((".toml", ".json")) or "/" in name:
        plan = simulate.resolve_server(simulate.source_of(name))
    else:
        stream = '[workload.stream]\nkind = "stream"\ncores = "0"\n'
        plan = _core.resolve(f"[server]\npreset = {json.dumps(name)}\n{stream}", file="--server")
    effective: Mapping[str, Any] = json.loads(plan.effective_json())
    return effective

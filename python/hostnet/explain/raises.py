"""The limits of a configuration, and how to raise them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

from hostnet import _core
from hostnet._core import ConfigError

Config = dict[str, Any]

UNITS = {"B": 1, "KiB": 1024}
"""Units of the sizes of packets."""

QUANTITY = re.compile(r"([0-9.]+(?:e[+-]?[0-9]+)?)\s*(\D+)")
"""A number and its unit."""


RAISE = 1.25
"""How far a limit is raised to judge whether it is one."""

NUMBERS = ("count", "rate", "less")
"""Scales by which a key alone raises its limit by a quarter, in whole numbers where it counts."""

PACKETS = {"pcie.posted_lines": "pcie.mps", "pcie.nonposted_lines": "pcie.mrrs"}
"""Credits that are of use by whole packets alone, and the size of these."""

ENTRIES_OF_OTHERS = "upi.tor_entries"
"""A key that defaults to half of `cha.tor.entries`."""


@dataclass(frozen=True)
class Limit:
    """A way to raise a limit: the key that says how high it is, what it is, and further keys that change with it.

    `limit` is what answers call it. `scale` is "count" of what is counted, "rate" of what is moved per time, "less" of
    what a thing takes, "whole" of what only whole multiples make sense of, "exact" of
    counts that a factor reaches or not, and "grade" of devices.
    """

    limit: str
    path: str
    what: str
    scale: str
    along: tuple[str, ...]


@cache
def limits() -> tuple[Limit, ...]:
    """Every way to raise a limit of a server, by one key each."""
    return tuple(Limit(**{**way, "along": tuple(way["along"])}) for way in json.loads(_core.limits()))


def raise_limit(config: Config, limit: Limit, factor: float) -> Iterator[tuple[str, str, Config]]:
    """Yields the old value, the new one, and the configuration with it; nothing where that makes no sense.

    A socket with a table of its own is raised with the others.
    """
    scale = SCALES[limit.scale]
    before = value_at(config, limit.path)
    if before is None and limit.path == ENTRIES_OF_OTHERS and config.get("upi"):
        before = value_at(config, "cha.tor.entries") // 2
    after = None if before is None else scale(before, factor)
    packet = packet_of(config, limit.path)
    if before is not None and packet > 1:
        after = _to_whole_packets(int(before), packet, factor)
    if after is None or after == before:
        return
    changed = deepcopy(config)
    for table in ("", *(f"socket.{number}." for number in config.get("socket") or {})):
        for path in (limit.path, *limit.along):
            value = value_at(config, table + path)
            raised = after if value == before else None if value is None else scale(value, factor)
            if not table and path == limit.path:
                raised = after
            if raised is not None:
                put_at(changed, table + path, raised)
    yield str(before), str(after), changed


def reached(config: Config, limit: Limit, before: str, after: str) -> float:
    """The factor that a raise by a quarter comes to: what is counted has whole numbers only, or whole packets."""
    if limit.scale != "count":
        return RAISE
    packet = packet_of(config, limit.path)
    return (int(after) // packet) / max(1, int(before) // packet)


def packet_of(config: Config, path: str) -> int:
    """The lines of a packet that credits are of use for; 1 of other limits."""
    size = QUANTITY.fullmatch(str(value_at(config, PACKETS.get(path, ""))))
    return max(1, round(float(size[1]) * UNITS[size[2]]) // 64) if size else 1


def _to_whole_packets(lines: int, packet: int, factor: float) -> int:
    """Credits for more whole packets."""
    return math.ceil(max(1, lines // packet) * factor) * packet


def faster_device(config: Config, base_dir: str) -> tuple[str, str, Config] | None:
    """The next faster DRAM of the same standard: its name before and after, and the configuration with it."""
    before = config["memory"].get("device") or ""
    speed = _speed(before)
    standards = [(_speed(name), name) for name in _core.devices()]
    faster = sorted((found[1], name) for found, name in standards if found and speed and found[0] == speed[0])
    after = next((name for rate, name in faster if speed and rate > speed[1]), None)
    if after is None:
        return None
    replaced = [f"memory.device={after}"]
    try:
        plan = _core.resolve(json.dumps(config), format="json", file="<step>", base_dir=base_dir, overrides=replaced)
    except ConfigError:
        return None
    return before, after, {**config, "memory": json.loads(plan.effective_json())["memory"]}


def value_at(config: Config, path: str) -> Any:
    """The value of a key; nothing where it is not given."""
    value: Any = config
    for key in path.split("."):
        value = (value or {}).get(key)
    return value


def put_at(config: Config, path: str, value: Any) -> None:
    """Replaces the value of a key."""
    *tables, last = path.split(".")
    place = config
    for key in tables:
        place = place[key]
    place[last] = value


def _speed(device: str) -> tuple[str, int] | None:
    """Standard and data rate of a device by its name, such as `DDR4_2933`."""
    match = re.fullmatch(r"(\w+?)_(\d+)", device)
    return (match[1], int(match[2])) if match else None


def _count(value: Any, factor: float) -> int:
    return math.ceil(int(value) * factor)


def _whole(value: Any, factor: float) -> int | None:
    return int(value) * int(factor) if factor == int(factor) else None


def _exact(value: Any, factor: float) -> int | None:
    """Returns a count; None where the factor gives no whole number."""
    count = int(value) * factor
    return int(count) if count == int(count) else None


def _quantity(value: Any, factor: float) -> str | None:
    match = QUANTITY.fullmatch(str(value))
    return f"{float(match[1]) * factor:.6g} {match[2]}" if match else None


def _less(value: Any, factor: float) -> str | float | None:
    return value / factor if isinstance(value, int | float) else _quantity(value, 1 / factor)


SCALES: dict[str, Callable[[Any, float], Any]] = {
    "count": _count,
    "rate": _quantity,
    "less": _less,
    "whole": _whole,
    "exact": _exact,
}
"""How a value of each kind is raised."""

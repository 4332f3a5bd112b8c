"""Limits of a configuration, and how to raise them."""

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
"""Units of packet sizes, in bytes."""

QUANTITY = re.compile(r"([0-9.]+(?:e[+-]?[0-9]+)?)\s*(\D+)")
"""A number with a unit."""


RAISE = 1.25
"""Factor by which a limit is raised to test whether it binds."""

NUMBERS = ("count", "rate", "less")
"""Scales for which a single key raises its limit by a quarter, in whole numbers where it is a count."""

PACKETS = {"pcie.posted_lines": "pcie.mps", "pcie.nonposted_lines": "pcie.mrrs"}
"""Credits that are useful only for whole packets, and the key of the packet size."""

ENTRIES_OF_OTHERS = "upi.tor_entries"
"""Key that defaults to half of `cha.tor.entries`."""


@dataclass(frozen=True)
class Limit:
    """A way to raise a limit: the key of its value, its description, and further keys that change with it.

    `limit` is its name in answers. `scale` is "count" for counts, "rate" for throughputs, "less" for costs, "whole" for
    values that only whole multiples suit, "exact" for counts that must be multiplied exactly, and "grade" for devices.
    """

    limit: str
    path: str
    what: str
    scale: str
    along: tuple[str, ...]


@cache
def limits() -> tuple[Limit, ...]:
    """Returns every way to raise a limit of a server by one key."""
    return tuple(Limit(**{**way, "along": tuple(way["along"])}) for way in json.loads(_core.limits()))


def raise_limit(config: Config, limit: Limit, factor: float) -> Iterator[tuple[str, str, Config]]:
    """Yields the old value, the new value and the changed configuration; nothing if the raise is not possible.

    Sockets with a table of their own are raised together with the others.
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
                set_value_at(changed, table + path, raised)
    yield str(before), str(after), changed


def effective_factor(config: Config, limit: Limit, before: str, after: str) -> float:
    """Returns the factor that a raise by a quarter amounts to in whole numbers or packets."""
    if limit.scale != "count":
        return RAISE
    packet = packet_of(config, limit.path)
    return (int(after) // packet) / max(1, int(before) // packet)


def packet_of(config: Config, path: str) -> int:
    """Returns the lines per packet that credits are used for; 1 for other limits."""
    size = QUANTITY.fullmatch(str(value_at(config, PACKETS.get(path, ""))))
    return max(1, round(float(size[1]) * UNITS[size[2]]) // 64) if size else 1


def _to_whole_packets(lines: int, packet: int, factor: float) -> int:
    """Returns credits for more whole packets."""
    return math.ceil(max(1, lines // packet) * factor) * packet


def faster_device(config: Config, base_dir: str) -> tuple[str, str, Config] | None:
    """Returns the next faster DRAM of the same standard: both names, and the changed configuration; or None."""
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
    """Returns the value of a key, or None."""
    value: Any = config
    for key in path.split("."):
        value = (value or {}).get(key)
    return value


def set_value_at(config: Config, path: str, value: Any) -> None:
    """Sets the value of a key."""
    *tables, last = path.split(".")
    place = config
    for key in tables:
        place = place[key]
    place[last] = value


def _speed(device: str) -> tuple[str, int] | None:
    """Parses standard and data rate from the name of a device, such as `DDR4_2933`."""
    match = re.fullmatch(r"(\w+?)_(\d+)", device)
    return (match[1], int(match[2])) if match else None


def _multiply_count(value: Any, factor: float) -> int:
    """Multiplies a count and rounds up."""
    return math.ceil(int(value) * factor)


def _multiply_whole(value: Any, factor: float) -> int | None:
    """Multiplies a count by a whole factor; None for other factors."""
    return int(value) * int(factor) if factor == int(factor) else None


def _multiply_exact(value: Any, factor: float) -> int | None:
    """Multiplies a count; None if the result is not whole."""
    count = int(value) * factor
    return int(count) if count == int(count) else None


def _multiply_quantity(value: Any, factor: float) -> str | None:
    """Multiplies a quantity and keeps its unit."""
    match = QUANTITY.fullmatch(str(value))
    return f"{float(match[1]) * factor:.6g} {match[2]}" if match else None


def _divide(value: Any, factor: float) -> str | float | None:
    """Divides a cost."""
    return value / factor if isinstance(value, int | float) else _multiply_quantity(value, 1 / factor)


SCALES: dict[str, Callable[[Any, float], Any]] = {
    "count": _multiply_count,
    "rate": _multiply_quantity,
    "less": _divide,
    "whole": _multiply_whole,
    "exact": _multiply_exact,
}
"""Functions that raise a value, by scale."""

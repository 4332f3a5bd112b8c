"""The fittable parameters, their bounds, and the defaults for a set of measurements."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet._core import ConfigError
from hostnet.calibration.measurement import name_hint
from hostnet.presets import value_at_path
from hostnet.units import unit_sizes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hostnet.calibration.measurement import Measurement
    from hostnet.presets import ServerFile

    Schema = dict[str, Any]

TABLES = ("core", "cha", "prefetch", "chiplets", "memory", "expander", "iio", "pcie", "ssd", "fio")
"""Configuration tables of a server."""

STRUCTURE = ("core.count", "cha.slices", "memory.channels", "memory.dram", "chiplets.ccds", "chiplets.nps",
             "pcie.generation", "pcie.lanes", "ssd.count",
             "ssd.bandwidth", "expander.generation", "expander.lanes", "expander.channels")  # fmt: skip
"""Properties given by a data sheet or by the machine itself, which are not fitted, except for DRAM timings."""

FITTABLE_PREFIX = "memory.dram.timing."
"""Prefix of fittable paths that `STRUCTURE` covers."""

FACTOR = 5
"""Default bounds are the start value divided and multiplied by this."""

IN_FLIGHT = ("chiplets.entries", "prefetch.stream_credits")
"""Parameters that say how many lines cores have in flight where a server has them: beyond a CCD, by prefetchers."""

DIGITS = 4
"""Significant digits of a fitted value."""

SMALL_IO = 512 * 1024
"""Bytes in flight per drive below which its latency matters more than its bandwidth."""


@dataclass(frozen=True)
class Parameter:
    """A parameter to fit. Values are in its base unit: ps, B/s, or the number itself."""

    path: str
    kind: str
    """"time", "bandwidth", "count" or "number"."""
    start: float
    low: float
    high: float

    def to_config(self, value: float) -> Any:
        """Returns a value as configurations have it."""
        if self.kind == "count":
            return round(value)
        if self.kind == "number":
            return self.representable(value)
        return quantity_text(round(self.representable(value)), self.kind)

    def representable(self, value: float) -> float:
        """Returns the nearest value that can be written."""
        return float(round(value)) if self.kind == "count" else float(f"{value:.{DIGITS}g}")

    def text(self, value: float, like: float | None = None) -> str:
        """Formats a value for output, with the digits and the unit that suit `like`, or the value itself."""
        if self.kind in ("count", "number"):
            return f"{value:.3g}" if self.kind == "number" or like is not None else f"{round(value)}"
        size = abs(like if like is not None else value)
        units = {"ps": 1, "ns": 1e3, "us": 1e6} if self.kind == "time" else {"MB/s": 1e6, "GB/s": 1e9}
        unit, factor = next((item for item in reversed(units.items()) if size >= item[1]), next(iter(units.items())))
        return f"{value / factor:.4g} {unit}"


def quantity_text(value: int, kind: str) -> str:
    """Formats a time in ps or a rate in B/s exactly, as in configurations."""
    units = {"ns": 10**3} if kind == "time" else {"GB/s": 10**9}
    (unit, factor), = units.items()  # fmt: skip
    if kind == "time" and value < factor:
        return f"{value} ps"
    return f"{(Decimal(value) / factor).normalize():f} {unit}"


def quantity_value(text: str, kind: str) -> float:
    """Parses a time or a rate of a configuration and returns ps or B/s.

    Raises:
        ValueError: `text` is not a time or rate.
    """
    match = re.fullmatch(r"\s*([\d.]+(?:[eE][+-]?\d+)?)\s*(\S+)\s*", text)
    factors = unit_sizes(kind)
    if match is None or match[2] not in factors:
        raise ValueError(f'"{text}" is not a {kind}; write "{"20 ns" if kind == "time" else "3.5 GB/s"}"')
    return float(match[1]) * factors[match[2]]


def parse_fit(argument: str, server: ServerFile) -> Parameter:
    """Parses PARAM or PARAM=LO..HI.

    Raises:
        ConfigError: The parameter is unknown or cannot be fitted, or its bounds are invalid.
    """
    path, equals, bounds = argument.partition("=")
    path = path.strip()
    keys = dict(fittable())
    if path not in keys:
        raise ConfigError("unknown-key", f"--fit {argument}: {_rejection_reason(path, keys)}")
    schema = keys[path]
    kind = kind_of(schema)
    assert kind is not None
    try:
        start = base_unit_value(value_at_path(server.effective, path), kind)
        least, most = _allowed_range(schema, kind)
        low, high = _bounds(bounds, kind) if equals else _default_bounds(start)
    except ValueError as error:
        raise ConfigError("malformed-value", f"--fit {argument}: {error}") from None
    if equals and not (max(least, low) == low and min(most, high) == high):
        legal = f"{_limit(schema, 'min')} to {_limit(schema, 'max')}"
        raise ConfigError("out-of-range", f"--fit {argument}: the bounds must lie within what {path} may be, {legal}")
    return Parameter(path, kind, start, max(low, least, 1e-9), min(high, most))


def in_flight_path(server: ServerFile) -> str:
    """Returns the parameter that says how many lines cores have in flight: that of the narrowest place of a server."""
    return next((path for path in IN_FLIGHT if value_at_path(server.effective, path)), "core.lfb.entries")


def defaults_for(measurements: Sequence[Measurement], server: ServerFile) -> list[str]:
    """Returns the parameters that suit the measurements, used if the user names none."""
    paths: list[str] = []
    for measurement in measurements:
        conditions = measurement.conditions
        if conditions.node and measurement.quantity in ("latency", "lfb_latency"):
            paths.append("expander.controller")
        elif conditions.node:
            paths.append("expander.read_credits")
        elif measurement.quantity in ("latency", "lfb_latency"):
            paths.append("cha.read_to_mc")
        elif measurement.quantity == "bandwidth":
            paths.append(in_flight_path(server) if conditions.fraction else "core.lfb.refill")
        elif measurement.quantity == "iio_latency":
            paths.append("iio.read_to_cha" if "write" in conditions.rw else "iio.write_to_cha")
        elif conditions.bs * conditions.iodepth * conditions.numjobs <= SMALL_IO:
            paths.append("ssd.latency")
        else:
            paths.append("ssd.write_bandwidth" if "write" in conditions.rw else "ssd.read_bandwidth")
    return list(dict.fromkeys(paths))


def fittable() -> Iterator[tuple[str, Schema]]:
    """Yields the dotted paths of all fittable parameters with their schemas."""
    schema = json.loads(_core.schema())
    for table in TABLES:
        for path, key in _leaves(schema["properties"][table], table):
            structure = any(path == part or path.startswith(f"{part}.") for part in STRUCTURE)
            if kind_of(key) is not None and (path.startswith(FITTABLE_PREFIX) or not structure):
                yield path, key


def kind_of(schema: Schema) -> str | None:
    """Returns the kind of parameter that a key is; None if it cannot be fitted."""
    if "x-power-of-two" in schema:
        return None
    if schema.get("x-quantity") in ("time", "bandwidth"):
        return str(schema["x-quantity"])
    types = schema.get("type")
    names = types if isinstance(types, list) else [types]
    if schema.get("x-quantity") is not None:
        return None
    return "count" if "integer" in names else "number" if "number" in names else None


def base_unit_value(written: Any, kind: str) -> float:
    """Converts a value of a configuration to the parameter's base unit.

    Raises:
        ValueError: The value is missing or "off".
    """
    if written is None:
        raise ValueError("the server gives no value to start from")
    if written == "off":
        raise ValueError('it is "off" in the server, so there is no value to start from; set one there')
    if kind in ("time", "bandwidth"):
        return 0.0 if str(written).startswith("0 ") else quantity_value(str(written), kind)
    return float(written)


def _leaves(schema: Schema, path: str) -> Iterator[tuple[str, Schema]]:
    properties = schema.get("properties")
    if properties is None:
        yield path, schema
        return
    for name, key in properties.items():
        yield from _leaves(key, f"{path}.{name}")


def _rejection_reason(path: str, keys: dict[str, Schema]) -> str:
    schema = json.loads(_core.schema())
    everything = [name for table in TABLES for name, _ in _leaves(schema["properties"][table], table)]
    if path in everything:
        return f'"{path}" cannot be fitted; set it in the server file'
    by_end = [name for name in keys if name.endswith(f".{path}")]
    if by_end:
        return f'"{path}" is not a parameter; did you mean "{by_end[0]}"?'
    hint = name_hint(path, keys) if len(path) < 60 else ""
    return f'"{path}" is not a parameter; {hint if "did you mean" in hint else "see docs/config.md"}'


def _bounds(text: str, kind: str) -> tuple[float, float]:
    low, dots, high = text.partition("..")
    if not dots:
        raise ValueError(f'"{text}" are no bounds; write LO..HI')
    values = [_bound(part, kind) for part in (low, high)]
    if not 0 < values[0] < values[1] or not math.isfinite(values[1]):
        raise ValueError(f'"{text}": the first bound must be above 0 and below the second')
    return values[0], values[1]


def _bound(text: str, kind: str) -> float:
    if kind in ("time", "bandwidth"):
        return quantity_value(text, kind)
    try:
        return float(text)
    except ValueError:
        raise ValueError(f'"{text}" is not a number') from None


def _default_bounds(start: float) -> tuple[float, float]:
    if start <= 0:
        raise ValueError("its value is 0, so the bounds must be given; write =LO..HI")
    return start / FACTOR, start * FACTOR


def _limit(schema: Schema, end: str) -> Any:
    return schema.get(f"x-{end}", schema.get(f"{end}imum", "any" if end == "max" else 0))


def _allowed_range(schema: Schema, kind: str) -> tuple[float, float]:
    """Returns the range that the configuration allows."""
    low, high = _limit(schema, "min"), _limit(schema, "max")
    parse = (lambda limit: quantity_value(limit, kind)) if kind in ("time", "bandwidth") else float
    return parse(low) if low else 0.0, math.inf if high == "any" else parse(high)

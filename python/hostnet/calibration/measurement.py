"""A measurement: the quantity, its conditions and its origin."""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.units import PS_PER_UNIT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

RATE = {
    "kb/s": 1e-6, "mb/s": 1e-3, "gb/s": 1.0, "tb/s": 1e3,
    "kib/s": 1024e-9, "mib/s": 1024**2 * 1e-9, "gib/s": 1024**3 * 1e-9, "tib/s": 1024**4 * 1e-9,
}  # fmt: skip
"""GB/s per unit of bandwidth, in lower case."""

TIME = {unit: ps / 1000 for unit, ps in PS_PER_UNIT.items()}
"""Nanoseconds per unit of time."""

SIZE = {"": 1, "b": 1, "k": 1024, "kib": 1024, "m": 1024**2, "mib": 1024**2, "g": 1024**3, "gib": 1024**3,
        "kb": 1000, "mb": 1000**2, "gb": 1000**3}  # fmt: skip
"""Bytes per unit of size, in lower case. A bare letter is a power of 1024, as in fio."""

QUANTITIES = {
    "bandwidth": RATE,
    "latency": TIME,
    "lfb_latency": TIME,
    "io_bandwidth": RATE,
    "iio_latency": TIME,
}
"""The measurable quantities and their units."""

RW = ("read", "write", "randread", "randwrite", "rw", "randrw")
"""Directions of storage I/O."""

MIXED = ("rw", "randrw")
"""Directions that both read and write."""

READ_PERCENT_DEFAULT = 50
"""Default percentage of reads."""

PATTERNS = ("sequential", "random")
"""Access patterns."""

KERNELS = {
    "read": (1, 0),
    "copy": (1, 1),
    "scale": (1, 1),
    "add": (2, 1),
    "triad": (2, 1),
    "write": (0, 1),
    "fill": (0, 1),
}
"""Loads and stores per element of the STREAM kernels, and of plain reads and writes."""


@dataclass(frozen=True)
class Conditions:
    """The load during a measurement. Equal conditions are simulated once."""

    cores: int = 0
    """Number of cores that load the memory."""
    reads: float = 1.0
    """Fraction of reads in their memory traffic, 0.5 to 1."""
    gap_ns: float = 0.0
    """Time between two accesses of a core in ns."""
    pattern: str = "sequential"
    """Access pattern of the loading cores."""
    probe: str = ""
    """Access pattern of the core that measures latency; "" without such a core."""
    rw: str = ""
    """Direction of storage I/O; "" without storage I/O."""
    bs: int = 0
    """Bytes per I/O."""
    iodepth: int = 0
    """I/Os in flight per job."""
    numjobs: int = 1
    """Jobs per drive."""
    drives: int = 0
    """Number of drives in use; 0 means all."""
    node: int = 0
    """Memory node that the cores use: 0 is local to the socket, 1 is behind a link."""
    rwmixread: int = READ_PERCENT_DEFAULT
    """Percentage of reads, for mixed directions."""
    fraction: float = 0.0
    """Load as a fraction of the maximum bandwidth of these cores; 0 where `gap_ns` is the load."""

    def at_fraction(self, fraction: float) -> Conditions:
        """Returns the conditions with a load that is a fraction of the maximum bandwidth."""
        return replace(self, fraction=fraction)

    def __str__(self) -> str:
        """Returns the conditions in words."""
        parts = []
        if self.cores:
            load = [f"{self.cores} core{'s' * (self.cores > 1)}"]
            load += [f"{100 * self.reads:.3g} % reads"] if self.reads < 1 else []
            load += [f"gap {self.gap_ns:.4g} ns"] if self.gap_ns else []
            load += [f"{100 * self.fraction:.3g} % of the maximum"] if self.fraction else []
            parts.append(", ".join(load))
        if self.rw:
            jobs = f" x {self.numjobs}" if self.numjobs > 1 else ""
            mix = (
                f" {self.rwmixread}/{100 - self.rwmixread}"
                if self.rw in MIXED and self.rwmixread != READ_PERCENT_DEFAULT
                else ""
            )
            parts.append(f"{self.rw}{mix} {size_text(self.bs)}, depth {self.iodepth}{jobs}")
        if self.probe:
            parts.append("" if self.cores or self.rw else "no load")
        if self.node:
            parts.append(f"memory of node {self.node}")
        return "; ".join(part for part in parts if part)


@dataclass(frozen=True)
class Measurement:
    """A measured value."""

    quantity: str
    """One of `QUANTITIES`."""
    value: float
    """In GB/s or ns."""
    conditions: Conditions
    file: str
    """File that it was read from, for messages."""
    place: str
    """Position in the file: a line or a job."""
    sigma: float | None = None
    """Standard deviation in the unit of the value; None if not stated."""
    slack: float = 0.0
    """Relative uncertainty of the value that stems from uncertain conditions."""

    @property
    def unit(self) -> str:
        """Unit of the value."""
        return "GB/s" if QUANTITIES[self.quantity] is RATE else "ns"

    @property
    def where(self) -> str:
        """Position for messages."""
        return f"{self.file}:{self.place}"

    def __str__(self) -> str:
        """Returns the measurement in words."""
        return f"{self.where}: {self.quantity} {self.value:.4g} {self.unit} ({self.conditions})"


class DataError(ConfigError):
    """Raised if a measurement file is malformed or contradictory; the message names the position."""


def error_at(file: str, place: object, message: str, code: str = "malformed-file") -> DataError:
    """Creates an error about a position in a file."""
    return DataError(code, f"{file}:{place}: {message}")


def name_hint(name: str, known: Iterable[str]) -> str:
    """Returns a hint at the closest known name, or the list of known names, for the end of a message."""
    names = list(known)
    near = difflib.get_close_matches(name, names, 1, 0.5)
    return f'did you mean "{near[0]}"?' if near else f"known are {', '.join(names)}"


def parse_positive(text: str, what: str) -> float:
    """Parses a finite number above 0.

    Raises:
        ValueError: `text` is not such a number; the message begins with `what`.
    """
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f'{what}: "{text}" is not a number') from None
    if not math.isfinite(value) or value <= 0:
        raise ValueError(f'{what}: "{text}" must be a finite number above 0')
    return value


def rate_unit(text: str) -> str | None:
    """Returns the key of `RATE` for a unit such as "MB/sec" or "gb_per_s"; None if it is not a unit of bandwidth."""
    match = re.fullmatch(r"([kmgt]i?b)(?:/|_?per_?|p)s(?:ec)?", text.strip().lower())
    return f"{match[1]}/s" if match else None


def convert(value: float, unit: str, quantity: str) -> float:
    """Converts a value to GB/s or ns.

    Raises:
        ValueError: The quantity has no such unit.
    """
    units = QUANTITIES[quantity]
    key = rate_unit(unit) if units is RATE else unit.strip()
    if key not in units:
        example = "GB/s or MB/s" if units is RATE else "ns or us"
        raise ValueError(f'unit: "{unit}" is not a unit of {quantity}; write {example}' if unit else
                         f"unit: missing; write {example}")  # fmt: skip
    return value * units[key]


def parse_size(text: str) -> int:
    """Parses a size such as "4 KiB", or "4k" as in fio, and returns bytes.

    Raises:
        ValueError: `text` is not a size.
    """
    match = re.fullmatch(r"\s*(\d+)\s*([a-z]*)\s*", text.lower())
    if match is None or match[2] not in SIZE or int(match[1]) == 0:
        raise ValueError(f'bs: "{text}" is not a size; write 4k or "4 KiB"')
    return int(match[1]) * SIZE[match[2]]


def size_text(size: int) -> str:
    """Formats a size with the largest unit that divides it."""
    for unit, factor in (("MiB", 1024**2), ("KiB", 1024)):
        if size >= factor and size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"


def set_condition(conditions: Conditions, name: str, text: str) -> Conditions:
    """Returns `conditions` with one of them set to a value in the user's notation.

    Raises:
        ValueError: The condition is unknown, or the value is invalid.
    """
    known = [field.name for field in fields(Conditions)]
    name = {"gap": "gap_ns"}.get(name, name)
    if name not in known:
        raise ValueError(f'"{name}" is not a condition; {name_hint(name, ["gap", *known])}')
    return replace(conditions, **{name: _CONDITION[name](text.strip())})


def parse_kernel(text: str) -> tuple[float, float]:
    """Returns a STREAM kernel's fraction of reads, and its memory traffic per byte that STREAM counts.

    A store first reads its line, which STREAM does not count.

    Raises:
        ValueError: The kernel is unknown.
    """
    if text.lower() not in KERNELS:
        raise ValueError(f'kernel: "{text}" is not a kernel of STREAM; {name_hint(text.lower(), KERNELS)}')
    loads, stores = KERNELS[text.lower()]
    moved = loads + 2 * stores
    return (loads + stores) / moved, moved / (loads + stores)


def _count(name: str, least: int, most: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not re.fullmatch(r"\d{1,9}", text) or not least <= int(text) <= most:
            raise ValueError(f'{name}: "{text}" must be a whole number between {least} and {most}')
        return int(text)

    return parse


def _choice(name: str, known: tuple[str, ...]) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in known:
            raise ValueError(f'{name}: "{text}" is not known; {name_hint(text, known)}')
        return text

    return parse


def _reads(text: str) -> float:
    value = parse_positive(text.removesuffix("%"), "reads")
    share = value / 100 if value > 1 else value
    if not 0.5 <= share <= 1:
        raise ValueError(f'reads: "{text}" must be between 50 and 100 percent of the memory traffic')
    return share


def _fraction(text: str) -> float:
    value = parse_positive(text, "fraction")
    if value > 1:
        raise ValueError(f'fraction: "{text}" must be above 0 and at most 1, the maximum bandwidth')
    return value


def _gap(text: str) -> float:
    match = re.fullmatch(r"([\d.]+(?:e[+-]?\d+)?)\s*([a-zµμ]*)", text)
    if match is None or (match[2] and match[2] not in TIME):
        raise ValueError(f'gap: "{text}" is not a time; write "20 ns"')
    value = 0.0 if float(match[1]) == 0 else parse_positive(match[1], "gap")
    if value and not match[2]:
        raise ValueError(f'gap: "{text}" has no unit; write "{text} ns"')
    gap_ns = value * TIME[match[2] or "ns"]
    if gap_ns > 1e6:
        raise ValueError(f'gap: "{text}" must be at most 1 ms')
    return gap_ns


_CONDITION: dict[str, Callable[[str], Any]] = {
    "cores": _count("cores", 0, 1024),
    "reads": _reads,
    "gap_ns": _gap,
    "pattern": _choice("pattern", PATTERNS),
    "probe": _choice("probe", PATTERNS),
    "rw": _choice("rw", RW),
    "bs": parse_size,
    "iodepth": _count("iodepth", 1, 65536),
    "numjobs": _count("numjobs", 1, 1024),
    "drives": _count("drives", 1, 64),
    "node": _count("node", 0, 1),
    "rwmixread": _count("rwmixread", 0, 100),
    "fraction": _fraction,
}

"""A measurement: what was measured, under which conditions, and where it was read."""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

RATE = {
    "kb/s": 1e-6, "mb/s": 1e-3, "gb/s": 1.0, "tb/s": 1e3,
    "kib/s": 1024e-9, "mib/s": 1024**2 * 1e-9, "gib/s": 1024**3 * 1e-9, "tib/s": 1024**4 * 1e-9,
}  # fmt: skip
"""GB/s of each unit of bandwidth, in lower case."""

TIME = {"ps": 1e-3, "ns": 1.0, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9}
"""Nanoseconds of each unit of time."""

SIZE = {"": 1, "b": 1, "k": 1024, "kib": 1024, "m": 1024**2, "mib": 1024**2, "g": 1024**3, "gib": 1024**3,
        "kb": 1000, "mb": 1000**2, "gb": 1000**3}  # fmt: skip
"""Bytes of each unit of size, in lower case. A bare letter is a power of 1024, as in fio."""

QUANTITIES = {
    "bandwidth": RATE,
    "latency": TIME,
    "lfb_latency": TIME,
    "io_bandwidth": RATE,
    "iio_latency": TIME,
}
"""What can be measured, and the units it comes in."""

RW = ("read", "write", "randread", "randwrite", "rw", "randrw")
"""Directions of storage I/O."""

MIXED = ("rw", "randrw")
"""Directions that read and write."""

HALF = 50
"""Default percent of reads."""

PATTERNS = ("sequential", "random")
"""Orders of accesses."""

KERNELS = {
    "read": (1, 0),
    "copy": (1, 1),
    "scale": (1, 1),
    "add": (2, 1),
    "triad": (2, 1),
    "write": (0, 1),
    "fill": (0, 1),
}
"""Loads and stores per element of the kernels of STREAM, and of plain reads and writes."""


@dataclass(frozen=True)
class Conditions:
    """What ran while something was measured. Equal conditions are the same situation."""

    cores: int = 0
    """Cores that load the memory."""
    reads: float = 1.0
    """Share of reads in their memory traffic, 0.5 to 1."""
    gap_ns: float = 0.0
    """Time between two accesses of one of them."""
    pattern: str = "sequential"
    """The order of their accesses."""
    probe: str = ""
    """The order of the accesses of the core that measures latency; "" for no such core."""
    rw: str = ""
    """Direction of storage I/O; "" for none."""
    bs: int = 0
    """Bytes of an I/O."""
    iodepth: int = 0
    """I/Os in flight of a job."""
    numjobs: int = 1
    """Jobs of a drive."""
    drives: int = 0
    """Drives in use; 0 means all."""
    node: int = 0
    """The node of memory that the cores use: 0 is that of the socket, 1 that behind a link."""
    rwmixread: int = HALF
    """Percent of reads, for mixed directions."""

    def __str__(self) -> str:
        """The conditions in words."""
        parts = []
        if self.cores:
            load = [f"{self.cores} core{'s' * (self.cores > 1)}"]
            load += [f"{100 * self.reads:.3g} % reads"] if self.reads < 1 else []
            load += [f"gap {self.gap_ns:.4g} ns"] if self.gap_ns else []
            parts.append(", ".join(load))
        if self.rw:
            jobs = f" x {self.numjobs}" if self.numjobs > 1 else ""
            mix = f" {self.rwmixread}/{100 - self.rwmixread}" if self.rw in MIXED and self.rwmixread != HALF else ""
            parts.append(f"{self.rw}{mix} {size_text(self.bs)}, depth {self.iodepth}{jobs}")
        if self.probe:
            parts.append("" if self.cores or self.rw else "no load")
        if self.node:
            parts.append(f"memory of node {self.node}")
        return "; ".join(part for part in parts if part)


@dataclass(frozen=True)
class Measurement:
    """One measured number."""

    quantity: str
    """One of `QUANTITIES`."""
    value: float
    """GB/s or ns."""
    conditions: Conditions
    file: str
    """The file it was read from, for messages."""
    place: str
    """Where in the file: a line or a job."""
    sigma: float | None = None
    """One standard deviation in the unit of the value; None when nobody said."""
    slack: float = 0.0
    """Uncertainty that comes from not knowing the conditions exactly, as a share of the value."""

    @property
    def unit(self) -> str:
        """The unit of the value."""
        return "GB/s" if QUANTITIES[self.quantity] is RATE else "ns"

    @property
    def where(self) -> str:
        """The place for messages."""
        return f"{self.file}:{self.place}"

    def __str__(self) -> str:
        """The measurement in words."""
        return f"{self.where}: {self.quantity} {self.value:.4g} {self.unit} ({self.conditions})"


class DataError(ConfigError):
    """A file of measurements is wrong; the message says where."""


def wrong(file: str, place: object, message: str, code: str = "malformed-file") -> DataError:
    """An error about a place in a file."""
    return DataError(code, f"{file}:{place}: {message}")


def nearest(name: str, known: Iterable[str]) -> str:
    """What the user may have meant, as the end of a message."""
    names = list(known)
    near = difflib.get_close_matches(name, names, 1, 0.5)
    return f'did you mean "{near[0]}"?' if near else f"known are {', '.join(names)}"


def number_of(text: str, what: str) -> float:
    """A number that is finite and above zero.

    Raises:
        ValueError: It is not; the message says what is.
    """
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f'{what}: "{text}" is not a number') from None
    if not math.isfinite(value) or value <= 0:
        raise ValueError(f'{what}: "{text}" must be a finite number above 0')
    return value


def rate_unit(text: str) -> str | None:
    """The key of `RATE` that a unit means, such as "MB/sec" or "gb_per_s"; None if it is none."""
    match = re.fullmatch(r"([kmgt]i?b)(?:/|_?per_?|p)s(?:ec)?", text.strip().lower())
    return f"{match[1]}/s" if match else None


def convert(value: float, unit: str, quantity: str) -> float:
    """A value in GB/s or ns.

    Raises:
        ValueError: It is not a unit of the quantity.
    """
    units = QUANTITIES[quantity]
    key = rate_unit(unit) if units is RATE else unit.strip()
    if key not in units:
        example = "GB/s or MB/s" if units is RATE else "ns or us"
        raise ValueError(f'unit: "{unit}" is not a unit of {quantity}; write {example}' if unit else
                         f"unit: missing; write {example}")  # fmt: skip
    return value * units[key]


def size_of(text: str) -> int:
    """Bytes of a size such as "4 KiB", or "4k" as in fio.

    Raises:
        ValueError: It is none.
    """
    match = re.fullmatch(r"\s*(\d+)\s*([a-z]*)\s*", text.lower())
    if match is None or match[2] not in SIZE or int(match[1]) == 0:
        raise ValueError(f'bs: "{text}" is not a size; write 4k or "4 KiB"')
    return int(match[1]) * SIZE[match[2]]


def size_text(size: int) -> str:
    """A size with the unit that suits it."""
    for unit, factor in (("MiB", 1024**2), ("KiB", 1024)):
        if size >= factor and size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"


def set_condition(conditions: Conditions, name: str, text: str) -> Conditions:
    """The conditions with one of them as a user writes it.

    Raises:
        ValueError: There is no such condition, or it cannot be so.
    """
    known = [field.name for field in fields(Conditions)]
    name = {"gap": "gap_ns"}.get(name, name)
    if name not in known:
        raise ValueError(f'"{name}" is not a condition; {nearest(name, ["gap", *known])}')
    return replace(conditions, **{name: _CONDITION[name](text.strip())})


def kernel_of(text: str) -> tuple[float, float]:
    """Share of reads of a kernel of STREAM, and memory traffic per byte that STREAM counts.

    A store reads its line before it writes it, which STREAM does not count.

    Raises:
        ValueError: There is no such kernel.
    """
    if text.lower() not in KERNELS:
        raise ValueError(f'kernel: "{text}" is not a kernel of STREAM; {nearest(text.lower(), KERNELS)}')
    loads, stores = KERNELS[text.lower()]
    moved = loads + 2 * stores
    return (loads + stores) / moved, moved / (loads + stores)


def _count(name: str, least: int, most: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not re.fullmatch(r"\d{1,9}", text) or not least <= int(text) <= most:
            raise ValueError(f'{name}: "{text}" must be a whole number between {least} and {most}')
        return int(text)

    return parse


def _word(name: str, known: tuple[str, ...]) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in known:
            raise ValueError(f'{name}: "{text}" is not known; {nearest(text, known)}')
        return text

    return parse


def _reads(text: str) -> float:
    value = number_of(text.removesuffix("%"), "reads")
    share = value / 100 if value > 1 else value
    if not 0.5 <= share <= 1:
        raise ValueError(f'reads: "{text}" must be between 50 and 100 percent of the memory traffic')
    return share


def _gap(text: str) -> float:
    match = re.fullmatch(r"([\d.]+(?:e[+-]?\d+)?)\s*([a-zµμ]*)", text)
    if match is None or (match[2] and match[2] not in TIME):
        raise ValueError(f'gap: "{text}" is not a time; write "20 ns"')
    value = 0.0 if float(match[1]) == 0 else number_of(match[1], "gap")
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
    "pattern": _word("pattern", PATTERNS),
    "probe": _word("probe", PATTERNS),
    "rw": _word("rw", RW),
    "bs": size_of,
    "iodepth": _count("iodepth", 1, 65536),
    "numjobs": _count("numjobs", 1, 1024),
    "drives": _count("drives", 1, 64),
    "node": _count("node", 0, 1),
    "rwmixread": _count("rwmixread", 0, 100),
}

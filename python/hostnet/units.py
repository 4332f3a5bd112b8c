"""Parses and formats quantities with units."""

import re
from decimal import Decimal
from fractions import Fraction

from hostnet import _core
from hostnet._core import ConfigError, unit_table


def unit_sizes(dimension: str) -> dict[str, Fraction]:
    """Returns the units of a dimension such as "time", with their sizes in its base unit (ps, B, B/s, Hz, ...)."""
    return {unit: Fraction(above, below) for unit, of, above, below in unit_table() if of == dimension}


PS_PER_UNIT = {unit: int(size) for unit, size in unit_sizes("time").items()}
"""Picoseconds per unit of time."""

PS_MAX = 2**63 - 1
"""Longest duration of a run, in ps (about 106 days)."""

SIZE_BYTES = {unit: int(size) for unit, size in unit_sizes("size").items() if size >= 1}
"""Bytes per unit of size in configurations."""

BITS_PER_BYTE = 8
"""Bits of a byte."""

LINE_BYTES = 64
"""Size of a cache line, in bytes."""

_TIME = re.compile(r"\s*(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?)\s*(?P<unit>[a-zµμ]+)\s*")


def parse_time_ps(text: str, what: str) -> int:
    """Parses a time such as "10us" or "10 us" and returns it in ps.

    Args:
        text: A number and its unit (ps, ns, us, ms or s); at least 1 ps.
        what: Name of the value in error messages.

    Raises:
        ConfigError: `text` is not such a time.
    """
    match = _TIME.fullmatch(text) if isinstance(text, str) else None
    if match is None or match["unit"] not in PS_PER_UNIT:
        raise ConfigError("bad-unit", f'{what}: "{text}" is not a time; write a number and a unit, for example "10 us"')
    exact_ps = Decimal(match["number"]) * PS_PER_UNIT[match["unit"]]
    if not 1 <= exact_ps <= PS_MAX or exact_ps != int(exact_ps):
        raise ConfigError(
            "out-of-range", f'{what}: "{text}" must be a whole number of ps, between 1 ps and {PS_MAX} ps'
        )
    return int(exact_ps)


def size_bytes(text: str) -> int:
    """Returns the bytes of a size in the format of the simulator, such as "8 KiB"."""
    number, unit = text.split()
    return int(Fraction(number) * SIZE_BYTES[unit])


def transfers_per_s(text: str) -> float:
    """Returns the exact rate of a speed grade such as "2933 MT/s", which stands for 8800/3 MT/s."""
    number, unit = text.split()
    rate = Fraction(number) * unit_sizes("transfer rate")[unit]
    step = Fraction(400 * 10**6, 3)
    nearest = round(rate / step) * step
    return float(nearest if abs(rate - nearest) < 10**6 else rate)


def format_time(time_ps: float) -> str:
    """Formats a time with a suitable unit, for example "12.5 µs"."""
    for unit in ("s", "ms", "us", "ns"):
        if time_ps >= PS_PER_UNIT[unit]:
            return f"{time_ps / PS_PER_UNIT[unit]:.4g} {unit.replace('u', 'µ')}"
    return f"{time_ps:z.4g} ps"


format_percent = _core.format_percent
format_rate = _core.format_rate
format_si = _core.format_si
share_text = _core.share_text
without_negative_zero = _core.without_negative_zero

_BASES = {
    "GB/s": ("B/s", 1e9),
    "Gbps": ("bps", 1e9),
    "ns": ("s", 1e-9),
    "µs": ("s", 1e-6),
    "W": ("W", 1.0),
    "pJ/B": ("J/B", 1e-12),
    "nJ": ("J", 1e-9),
    "per s": ("per s", 1.0),
}
"""Units that have a prefix, or may have one: the unit without it, and the size of the prefix."""

_PREFIXES = {
    "T": 1e12,
    "G": 1e9,
    "M": 1e6,
    "k": 1e3,
    "": 1.0,
    "m": 1e-3,
    "µ": 1e-6,
    "n": 1e-9,
    "p": 1e-12,
    "f": 1e-15,
    "a": 1e-18,
}
"""SI prefixes and their factors, from the largest."""

_COUNTED = {"k": "thousands ", "M": "millions ", "G": "billions "}
"""Words for prefixes of counts."""


READABLE = (0.1, 5000.0)
"""Values that keep their unit. Larger ones do not fit beside an axis, smaller ones lose their digits."""


def readable_unit(unit: str, largest: float) -> tuple[str, float]:
    """Returns a unit in which values up to `largest` are readable, and the factor that converts them to it."""
    if unit not in _BASES or not largest or READABLE[0] <= abs(largest) < READABLE[1]:
        return unit, 1.0
    base, size = _BASES[unit]
    if base == "per s" and abs(largest) < 1:
        return unit, 1.0
    # Nobody counts in kiloseconds.
    known = {prefix: chosen for prefix, chosen in _PREFIXES.items() if base != "s" or chosen <= 1}
    fitting = (prefix for prefix, chosen in known.items() if abs(largest) * size >= chosen)
    prefix = next(fitting, "a")
    chosen = known[prefix]
    return f"{_COUNTED.get(prefix, '') if base == 'per s' else prefix}{base}", size / chosen


RATES = {"gbps": "Gbps", "gb_per_s": "GB/s"}
"""Units of rates, by the suffix of their columns."""

RATE_MIN = 0.1
"""Smallest rate that is shown in its own unit; smaller ones get another prefix so that no digits are lost."""


GB_PER_S = "GB/s"
"""Unit of rates of lines."""


def unit_of_rate(column: str) -> str | None:
    """Returns the unit of a column of rates, such as `goodput_gbps`; None for other columns."""
    return next((unit for words, unit in RATES.items() if column.endswith(words)), None)


def is_small_rate(value: float | None, unit: str | None) -> bool:
    """Returns True if a rate needs a smaller prefix than its unit has."""
    return unit is not None and value is not None and 0 < abs(value) < RATE_MIN


NO_BREAK = "\u00a0"
"""No-break space."""

_SPACE_OF_PERCENT = re.compile(r"(?<=\d) (?=%)")


def with_no_breaks(text: str) -> str:
    """Replaces the space between a number and its percent sign by a no-break space."""
    return _SPACE_OF_PERCENT.sub(NO_BREAK, text)


def format_count(count: float, noun: str) -> str:
    """Formats a number of things with at most three digits, for example "12.3 M events"."""
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{count / size:.3g} {letter} {noun}"
    return f"{count:.3g} {noun}"


def format_wall(seconds: float) -> str:
    """Formats a wall-clock time, for example "3 min 20 s"."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"

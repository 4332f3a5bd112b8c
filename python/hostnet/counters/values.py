"""Parses counts."""

from __future__ import annotations

from hostnet.counters.names import DURATION
from hostnet.units import LINE_BYTES, SIZE_BYTES

COUNT_END = 1 << 64
"""Exclusive upper bound of counts: counters have at most 64 bits."""

BYTES = {"Bytes": 1} | {unit: SIZE_BYTES[unit] for unit in ("B", "KiB", "MiB", "GiB", "KB", "MB", "GB")}
"""Bytes per unit that perf appends to counts of lines."""

LINES = ("UNC_M_CAS_COUNT.RD", "UNC_M_CAS_COUNT.WR")
"""Events that perf may also print in bytes."""


class BadValueError(Exception):
    """Raised if a cell holds no valid count; the message says why."""


def parse_count(text: str, unit: str, key: str) -> float | None:
    """Parses the count in a cell; returns None if the counter did not run.

    Raises:
        BadValueError: The cell holds something else.
    """
    text, unit = text.strip(), unit.strip()
    if text.startswith("<not "):
        return None
    if unit and unit not in BYTES and not (key == DURATION and unit == "ns"):
        raise BadValueError(f'the unit "{unit}" is not expected; counts have none')
    if unit in BYTES:
        if key not in LINES:
            raise BadValueError(f'the unit "{unit}" is not expected; {key} counts events, not bytes')
        return _number(text, key) * BYTES[unit] / LINE_BYTES
    value = _number(text, key)
    if value != int(value):
        hint = "; if it is in MiB, the column after it must say so" if key in LINES else ""
        raise BadValueError(f'"{text}" is no whole number: {key} is a count{hint}')
    return int(value)


def _number(text: str, key: str) -> float:
    if not text:
        raise BadValueError(f"the count of {key} is missing")
    try:
        value: float = int(text)
    except ValueError:
        value = _real(text, key)
    if value < 0:
        raise BadValueError(f'"{text}" is negative: {key} is a count')
    if value >= COUNT_END:
        raise BadValueError(f'"{_short(text)}" is more than a counter can hold')
    return value


def _real(text: str, key: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise BadValueError(f'"{_short(text)}" is no number: {key} is a count') from None
    if value != value or value in (float("inf"), float("-inf")):
        raise BadValueError(f'"{text}" is no number: {key} is a count')
    return value


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."

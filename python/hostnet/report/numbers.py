"""Number formats of the reports."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from hostnet.units import format_percent, without_negative_zero

MISSING = "–"  # noqa: RUF001 - a dash is what tables show for no value


SMALL = 1e-4
"""Smaller numbers are written with an exponent."""


def number(value: object, digits: int = 3) -> str:
    """Formats a number with `digits` significant digits, and an exponent only if it is tiny; a dash if missing."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        return MISSING
    rounded = float(f"{value:.{digits - 1}e}")
    if isinstance(value, int) or rounded == 0 or abs(rounded) >= 10 ** (digits - 1):
        return f"{value:z,.0f}"
    if abs(rounded) < SMALL:
        return f"{value:.1e}"
    return f"{value:.{digits - 1 - math.floor(math.log10(abs(rounded)))}f}"


def percent(share: object, digits: int = 1) -> str:
    """Formats a fraction in percent."""
    if not isinstance(share, int | float) or not math.isfinite(share):
        return MISSING
    return format_percent(share, digits)


def with_ci95(value: object, ci95: object) -> str:
    """Formats a value with the half-width of its confidence interval."""
    return number(value) if not isinstance(ci95, int | float) else f"{number(value)} ± {number(ci95, 2)}"


def time_from_ns(value: object) -> str:
    """Formats a time given in ns with a suitable unit."""
    if not isinstance(value, int | float):
        return MISSING
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if abs(value) >= size:
            return f"{value / size:z.4g} {unit}"
    return f"{value:z.4g} ns"


def absolute_text(value: float, unit: str, sign: str = "") -> str:
    """Formats a difference with its unit: to one decimal, or to two or three if it is small."""
    size = abs(value)
    decimals = 1 if size >= 1 or not size else 2 if size >= 0.1 else 3
    return f"{without_negative_zero(f'{value:{sign}.{decimals}f}')} {unit}"


def row_error_text(value: float, row: Mapping[str, Any], sign: str = "") -> str:
    """Formats an error of a ledger row: in percent, or in its unit if it is a difference or has a floor."""
    if row["kind"] == "absolute":
        return absolute_text(value, "pp" if row["unit"] == "%" else row["unit"], sign)
    if floor := row.get("floor"):
        return absolute_text(value * floor, row["unit"], sign)
    return format_percent(value, 1, sign)


def row_tolerance_text(value: float, row: Mapping[str, Any]) -> str:
    """Formats the tolerance of a ledger row, with the floor that it refers to."""
    if floor := row.get("floor"):
        return f"{percent(value)} of {floor:g} {row['unit']}"
    return row_error_text(value, row)


def exact_text(value: object) -> str:
    """Formats a value for copying: with all digits, empty if it is missing."""
    return "" if value is None else " ".join(str(value).split())


def span_text(low: object, high: object = None, relation: str | None = None) -> str:
    """Formats a published value; with `high` a range, with `relation` a bound."""
    text = number(low, 4) if high is None else f"{number(low, 4)} to {number(high, 4)}"
    return f"{relation} {text}" if relation else text

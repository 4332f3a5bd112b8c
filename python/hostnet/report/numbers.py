"""Numbers as the reports write them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from hostnet.units import format_percent, without_sign_of_zero

MISSING = "–"  # noqa: RUF001 - a dash is what tables show for no value


SMALL = 1e-4
"""Smaller numbers are written with an exponent."""


def number(value: object, digits: int = 3) -> str:
    """A number with `digits` significant digits and an exponent only when it is tiny; a dash where there is none."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        return MISSING
    rounded = float(f"{value:.{digits - 1}e}")
    if isinstance(value, int) or rounded == 0 or abs(rounded) >= 10 ** (digits - 1):
        return f"{value:z,.0f}"
    if abs(rounded) < SMALL:
        return f"{value:.1e}"
    return f"{value:.{digits - 1 - math.floor(math.log10(abs(rounded)))}f}"


def percent(share: object, digits: int = 1) -> str:
    """A share of one, in percent."""
    if not isinstance(share, int | float) or not math.isfinite(share):
        return MISSING
    return format_percent(share, digits)


def with_ci95(value: object, ci95: object) -> str:
    """A value and the half-width of its confidence interval."""
    return number(value) if not isinstance(ci95, int | float) else f"{number(value)} ± {number(ci95, 2)}"


def time_from_ns(value: object) -> str:
    """A time given in ns, in the unit that suits its size."""
    if not isinstance(value, int | float):
        return MISSING
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if abs(value) >= size:
            return f"{value / size:z.4g} {unit}"
    return f"{value:z.4g} ns"


def absolute_text(value: float, unit: str, sign: str = "") -> str:
    """A difference with its unit: to a tenth, or to two or three decimals where it is small."""
    size = abs(value)
    decimals = 1 if size >= 1 or not size else 2 if size >= 0.1 else 3
    return f"{without_sign_of_zero(f'{value:{sign}.{decimals}f}')} {unit}"


def row_error_text(value: float, row: Mapping[str, Any], sign: str = "") -> str:
    """An error of a row of a ledger: in percent, or in its unit where it is a difference or a share of a floor."""
    if row["kind"] == "absolute":
        return absolute_text(value, "pp" if row["unit"] == "%" else row["unit"], sign)
    if floor := row.get("floor"):
        return absolute_text(value * floor, row["unit"], sign)
    return format_percent(value, 1, sign)


def row_tolerance_text(value: float, row: Mapping[str, Any]) -> str:
    """The tolerance of a row of a ledger, with the floor that it is a share of."""
    if floor := row.get("floor"):
        return f"{percent(value)} of {floor:g} {row['unit']}"
    return row_error_text(value, row)


def exact(value: object) -> str:
    """A value as it is copied: with all its digits, empty where there is none."""
    return "" if value is None else " ".join(str(value).split())


def span_text(low: object, high: object = None, relation: str | None = None) -> str:
    """A published value; with `high` a range, with `relation` a bound."""
    text = number(low, 4) if high is None else f"{number(low, 4)} to {number(high, 4)}"
    return f"{relation} {text}" if relation else text

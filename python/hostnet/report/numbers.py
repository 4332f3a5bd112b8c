"""Number formats of the reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hostnet import _core
from hostnet.units import format_percent, without_negative_zero

MISSING = "–"  # noqa: RUF001 - a dash is what tables show for no value

number = _core.format_number
percent = _core.format_share
time_from_ns = _core.format_time_ns
with_ci95 = _core.with_ci95


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

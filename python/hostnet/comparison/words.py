"""Readable names and values of results on the page of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.report.numbers import MISSING, number
from hostnet.units import format_percent, readable_unit

if TYPE_CHECKING:
    from hostnet.comparison.differences import ResultDifference

UNITS = {
    "_gb_per_s": "GB/s",
    "_gbps": "Gbps",
    "_per_s": "per s",
    "_ns": "ns",
    "_us": "µs",
    "_ms": "ms",
    "_cycles": "cycles",
    "_percent": "%",
    "_w": "W",
    "_mj": "mJ",
    "_ghz": "GHz",
    "_mib": "MiB",
    "_bytes": "B",
}
"""Units by the suffix of the columns that have them; longer suffixes come first."""

SHARE = "_share"
"""Suffix of columns that are fractions, which are shown in percent."""

DIGITS = (3, 4, 5)
"""Numbers of significant digits that are tried until two values differ."""

WORDS = {word: word.upper() for word in ("p50", "p90", "p95", "p99", "llc", "ddio", "rpq", "wpq", "iio", "nic")}
"""Words of columns that are abbreviations."""


def column_words(column: str) -> tuple[str, str]:
    """Returns the name of a column in words, and its unit; empty without one."""
    # A column may be its unit alone, such as `gb_per_s`.
    padded = f"_{column}"
    suffix = next((suffix for suffix in UNITS if padded.endswith(suffix)), "")
    unit = UNITS.get(suffix, "%" if padded.endswith(SHARE) else "")
    stem = padded.removesuffix(suffix).removesuffix(SHARE).removeprefix("_") or "rate"
    # The mean is what a number is, and comes first in English.
    first, rest = ("mean ", stem.removesuffix("_mean")) if stem.endswith("_mean") else ("", stem)
    return first + " ".join(WORDS.get(word, word) for word in rest.split("_")), unit


def title_of(difference: ResultDifference) -> str:
    """Names a result: its subject and its column."""
    return f"{difference.subject}, {column_words(difference.column)[0]}"


def value_texts(difference: ResultDifference) -> tuple[str, str, str]:
    """Formats both values with as many digits as it takes to tell them apart, and returns their unit with them.

    The unit has the prefix that makes the larger value readable.
    """
    unit, factor = unit_of(difference)
    texts = ("", "")
    for digits in DIGITS:
        texts = value_text(difference.a, factor, digits), value_text(difference.b, factor, digits)
        if texts[0] != texts[1]:
            break
    return *texts, unit


def unit_of(difference: ResultDifference) -> tuple[str, float]:
    """Returns the unit in which a result is shown, and the factor that converts its values to it."""
    unit = column_words(difference.column)[1]
    if difference.column.endswith(SHARE):
        return unit, 100.0
    sizes = [abs(value) for value in (difference.a, difference.b) if isinstance(value, float)]
    return readable_unit(unit, max(sizes, default=0.0))


def value_text(value: Any, factor: float, digits: int) -> str:
    """Formats a value."""
    if isinstance(value, str):
        return value
    return number(value * factor if isinstance(value, float) else value, digits) if value is not None else MISSING


def both_values(difference: ResultDifference) -> str:
    """Formats both values with their unit."""
    a, b, unit = value_texts(difference)
    return f"{a} \u2192 {b} {unit}".rstrip()


FACTOR_FROM = 2.0
"""Smallest ratio that is shown as a factor."""


def change_label(ratio: float, *, certain: bool) -> str:
    """Formats a change in percent, or as a factor if it is large."""
    mark = "" if certain else "~"
    return f"{mark}\u00d7 {ratio:.3g}" if ratio >= FACTOR_FROM else f"{mark}{format_percent(ratio - 1, 1, '+')}"

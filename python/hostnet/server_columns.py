"""Columns of the tables of a server, described once for the screen and for the page of a run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from hostnet import _core

if TYPE_CHECKING:
    from collections.abc import Mapping


class Format(Enum):
    """Content of a column. The screen and the page each show it in their way."""

    TEXT = "text"
    DOMAIN = "domain"
    """Domain with its place."""
    NUMBER = "number"
    INTERVAL = "interval"
    """Number with its confidence interval."""
    LARGE = "large"
    """Number with its confidence interval and with thousands separators."""
    COUNT = "count"
    EXACT = "exact"
    """Number with two digits after the decimal point."""
    SHARE = "share"
    BUSY = "busy"
    """Share of time."""
    MICROSECONDS = "microseconds"
    """Time in ns, shown in us."""
    SECONDS = "seconds"
    OF = "of"
    """Number beside its maximum, which is in the column `whole`."""


TEXTS = (Format.TEXT, Format.DOMAIN)
"""Formats of text. Other columns are aligned to the right."""


@dataclass(frozen=True)
class Column:
    """A column: the key of its values, and its headings on the screen and on the page; None where it is not shown."""

    key: str
    format: Format
    screen: str | None
    page: str | None
    ci95: str | None
    """Key of the half-width of the confidence interval."""
    whole: str | None
    """Key of the maximum."""
    missing: str
    """Text on the screen where there is none."""
    about: str | None
    """Definition of a column that the result table does not have."""

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Column:
        """Returns a column from its description by the native module."""
        return cls(**{**told, "format": Format(told["format"])})


KINDS: list[dict[str, Any]] = json.loads(_core.server_table_kinds())
"""Title, source and columns of every table."""

ACTIVATIONS = next(
    str(column["screen"]) for kind in KINDS for column in kind["columns"] if column["key"] == "row_miss_ratio"
)
"""Heading of the row miss ratio: activations per read exceed 1 if rows are closed before they are read."""

"""Reads measurements of turbostat."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hostnet._core import ConfigError
from hostnet.files import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BYTES_MAX = 64 << 20
"""Largest file, in bytes."""

VALUE_MAX = 1e9
"""Largest plausible number."""

SUMMARY = "-"
"""Content of the column CPU in the row of the whole machine."""

TEXTS = frozenset({"Package", "Die", "Node", "Core", "CPU", "APIC", "X2APIC", "usec", "Time_Of_Day_Seconds"})
"""Columns that name a processor or a time."""


HEADING = re.compile(
    r"(?:Package|Node|Die|Core|CPU|APIC|X2APIC|usec|Avg_MHz|Busy%|Bzy_MHz|TSC_MHz|IPC|IRQ|NMI|SMI|POLL%|C\d+\w?%"
    r"|CPU%c\d+|Mod%c6|CoreTmp|CoreThr|PkgTmp|GFX%rc6|GFXMHz|GFXAMHz|Totl%C0|Any%C0|GFX%C0|CPUGFX%|Pkg%pc\d|Pk%pc10"
    r"|CPU%LPI|SYS%LPI|(?:Pkg|Cor|GFX|RAM)(?:Watt|_J)|PKG_%|RAM_%)"
)
"""Column headings. Versions before 2018 print no space after a heading of seven letters."""


@dataclass(frozen=True)
class TurbostatMeans:
    """Means over all samples, from the rows of the whole machine if there are any."""

    samples: int
    cores: int
    """Number of cores with rows of their own; 0 if none has."""
    values: dict[str, float]
    """Means by column, such as "Busy%" or "CorWatt"."""

    @property
    def residencies(self) -> dict[str, float]:
        """Percent of time in each state, by name; from hardware counters where available."""
        counted = {name[4:].upper(): value for name, value in self.values.items() if re.fullmatch(r"CPU%c\d\w*", name)}
        requested = {name[:-1]: value for name, value in self.values.items() if re.fullmatch(r"C\d\w*%", name)}
        return counted or requested


def read_turbostat(file: Path) -> TurbostatMeans:
    """Reads a file that `turbostat --out FILE` wrote.

    Raises:
        ConfigError: The file is no such file, or has an invalid number.
        OSError: The file cannot be read.
    """
    sums: dict[str, float] = {}
    counts: dict[str, int] = {}
    cores: set[tuple[str, ...]] = set()
    samples = 0
    for columns, cells, place in _rows(file, read_text(file, BYTES_MAX)):
        row = dict(zip(columns, cells, strict=False))
        if row.get("CPU", SUMMARY) != SUMMARY:
            if "Core" in row:
                cores.add(tuple(row.get(column, "") for column in ("Package", "Die", "Core")))
            continue
        samples += 1
        for column, cell in row.items():
            if column not in TEXTS:
                sums[column] = sums.get(column, 0.0) + _number(cell, column, place)
                counts[column] = counts.get(column, 0) + 1
    if not samples:
        raise ConfigError(
            "malformed-file", f'{file}: has no row of the whole machine, which turbostat writes with a "-" under CPU'
        )
    return TurbostatMeans(samples, len(cores), {column: total / counts[column] for column, total in sums.items()})


def _rows(file: Path, text: str) -> Iterator[tuple[list[str], list[str], str]]:
    """Yields the columns, cells and position of every row below a heading."""
    columns: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        cells = line.split()
        if "Busy%" in cells or "Bzy_MHz" in cells:
            columns = [column for cell in cells for column in _headings(cell)]
        elif columns and cells:
            if len(cells) > len(columns):
                raise ConfigError(
                    "malformed-file", f"{file}:{number}: has {len(cells)} cells under {len(columns)} columns"
                )
            yield columns, cells, f"{file}:{number}"
    if not columns:
        raise ConfigError(
            "malformed-file",
            f"{file}: has no line of columns with Busy% or Bzy_MHz; write it with turbostat --out FILE",
        )


def _headings(cell: str) -> list[str]:
    """Splits a heading that consists of several known ones run together."""
    if HEADING.fullmatch(cell) is None and re.fullmatch(f"(?:{HEADING.pattern})+", cell):
        return HEADING.findall(cell)
    return [cell]


def _number(cell: str, column: str, position: str) -> float:
    """Parses a measured value."""
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not 0 <= value <= VALUE_MAX:
        shown = cell if len(cell) <= 40 else f"{cell[:40]}..."
        raise ConfigError("malformed-file", f"{position}: {column} {shown!r} is not a number from 0 to {VALUE_MAX:.0e}")
    return value

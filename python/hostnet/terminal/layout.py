"""Fits tables to a screen: headings wrap between words, numbers stay whole, and wide tables continue below."""

from __future__ import annotations

import re
import textwrap
from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.table import Table

from hostnet.units import NO_BREAK, with_no_breaks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.table import Column

TEXT_MIN = 16
"""Columns wider than this wrap their text."""

PLACE_PATTERN = re.compile(r"\bsocket \d+(?: to \d+)?")
"""A socket or a direction between two sockets, which is not broken across lines."""

GAP = 3
"""Blanks between two columns."""


class WideTable(Table):
    """Table whose first columns name the rows."""

    names = 1
    """Number of columns that every part of the table repeats."""
    whole = False
    """True if text does not wrap either, on a screen with room for each column beside the names of the rows."""

    def hide_rows(self, hidden: str, table: str | None = None) -> None:
        """Adds a caption that says which rows are not shown, and where all of them are."""
        self.caption = f"{hidden}: --json" if table is None else f"{hidden}: {table}.parquet of the run directory"
        self.caption_justify, self.caption_style = "left", ""

    def fitted(self, width: int) -> list[Table]:
        """Splits the table into as many parts as the width requires, each with the names of the rows."""
        least = [_least_width(column) for column in self.columns]
        if self.whole:
            longest = [_lengths(column, heading=False)[-1] for column in self.columns]
            wider = [max(widths) for widths in zip(least, longest, strict=True)]
            first, others = wider[: self.names], wider[self.names :]
            least = wider if sum(first) + GAP * len(first) + max(others, default=0) <= width else least
        parts = _parts(least, min(self.names, len(least)), width)
        tables = [self._part(columns, least, width) for columns in parts]
        for table in tables[:-1]:
            table.caption = None
        return tables

    def without_columns_of(self, nothing: str) -> WideTable:
        """Returns the table without the columns in which every cell equals `nothing`."""
        kept = [column for column in self.columns if any(cell != nothing for cell in column.cells)]
        table = self._like_it()
        for column in kept:
            table.add_column(column.header, justify=column.justify, style=column.style)
        for row in zip(*(column.cells for column in kept), strict=True):
            table.add_row(*row)
        return table

    def _like_it(self) -> WideTable:
        """Returns a table with the same style and without columns."""
        table = WideTable(
            box=self.box, pad_edge=self.pad_edge, padding=self.padding, header_style="bold", show_edge=self.show_edge
        )
        table.title, table.title_justify, table.caption = self.title, self.title_justify, self.caption
        table.caption_justify, table.caption_style = self.caption_justify, self.caption_style
        table.names, table.whole = self.names, self.whole
        return table

    def _part(self, columns: Sequence[int], least: list[int], width: int) -> Table:
        """Returns a part of the table with some of its columns, each as wide as it can use."""
        part = self._like_it()
        widths = _widths(
            [least[index] for index in columns], [_lengths(self.columns[index]) for index in columns], width
        )
        for index, wanted in zip(columns, widths, strict=True):
            column = self.columns[index]
            part.add_column(
                column.header, justify=column.justify, style=column.style, overflow="fold", width=wanted, footer=""
            )
        cells = (wrapped(self.columns[index], wanted) for index, wanted in zip(columns, widths, strict=True))
        for row in zip(*cells, strict=True):
            part.add_row(*row)
        return part


def wrapped(column: Column, width: int) -> list[Any]:
    """Returns the cells of a column; names wider than the column are broken between their words.

    A socket stays with its number if there is room.
    """
    if column.justify == "right":
        return list(column.cells)
    return [
        _wrapped_places(wrapped_names(cell, width), width) if isinstance(cell, str) else cell for cell in column.cells
    ]


def _wrapped_places(text: str, width: int) -> str:
    """Wraps text, but not within a place that fits on a line."""

    def kept(place: re.Match[str]) -> str:
        return place[0].replace(" ", NO_BREAK) if len(place[0]) <= width else place[0]

    return wrapped_text(PLACE_PATTERN.sub(kept, text), width)


def wrapped_names(text: str, width: int) -> str:
    """Breaks names that are wider than `width` after the last `_`, `.` or `/` that fits on the line."""
    return " ".join(_wrapped_name(word, width) for word in text.split(" "))


def _wrapped_name(name: str, width: int) -> str:
    """Breaks one name into lines."""
    lines = [""]
    for part in re.findall(r"[^_./]*[_./]?", name):
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines) if len(name) > width else name


def wrapped_text(text: str, width: int) -> str:
    """Wraps text at `width`, but not between a number and its percent sign."""
    lines = (
        textwrap.wrap(
            with_no_breaks(line),
            max(width, 1),
            expand_tabs=False,
            replace_whitespace=False,
            break_long_words=False,
            break_on_hyphens=False,
        )
        or [""]
        for line in text.split("\n")
    )
    return "\n".join(line for found in lines for line in found).replace(NO_BREAK, " ")


def short_paths(paths: Sequence[str], taken: Iterable[str] = ()) -> list[str]:
    """Shortens dotted paths to their shortest suffixes that are unambiguous and not in `taken`."""
    taken = set(taken)
    found = []
    for path in paths:
        words = path.split(".")
        tails = [".".join(words[start:]) for start in range(len(words) - 1, -1, -1)]
        others = [other for other in paths if other != path]
        free = (
            tail
            for tail in tails
            if tail not in taken and not any(f".{other}".endswith(f".{tail}") for other in others)
        )
        found.append(next(free, path))
    return found


def _least_width(column: Column) -> int:
    """Returns the smallest width that cuts neither a word of the heading nor a number."""
    heading = max((cell_len(word) for word in str(column.header).split()), default=1)
    cells = [str(cell) for cell in column.cells]
    if column.justify == "right":
        return max(heading, *map(cell_len, cells)) if cells else heading
    words = max((cell_len(word) for cell in cells for word in cell.split()), default=1)
    return max(heading, min(words, TEXT_MIN))


def _lengths(column: Column, *, heading: bool = True) -> list[int]:
    """Returns the sorted widths at which the cells of a column, and optionally its heading, do not wrap."""
    texts = [*column.cells, *([column.header] if heading else [])]
    return sorted([1, *(cell_len(line) for text in texts for line in str(text).split("\n"))])


def _parts(least: list[int], names: int, width: int) -> list[list[int]]:
    """Returns the columns of each part: as many as fit beside the names of the rows, but at least one."""
    first = list(range(names))
    used = sum(least[:names]) + GAP * max(names - 1, 0)
    parts: list[list[int]] = [[]]
    room = width - used
    for index in range(names, len(least)):
        needed = least[index] + GAP
        if needed > room and parts[-1]:
            parts.append([])
            room = width - used
        parts[-1].append(index)
        room -= needed
    return [[*first, *part] for part in parts]


def _widths(least: list[int], lengths: list[list[int]], width: int) -> list[int]:
    """Returns the width of each column. Spare width goes to the column with most wrapping cells, one at a time."""
    widths = [min(low, width) for low in least]
    room = width - sum(widths) - GAP * (len(widths) - 1)

    def wrapping(index: int) -> tuple[int, float]:
        return len(lengths[index]) - bisect_right(lengths[index], widths[index]), lengths[index][-1] / widths[index]

    while room > 0 and (wanting := [index for index, now in enumerate(widths) if now < lengths[index][-1]]):
        widths[max(wanting, key=wrapping)] += 1
        room -= 1
    return widths

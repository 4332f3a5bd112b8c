"""Parses the output of `pcm-numa -csv`: for each interval, a line with its length and a table of the cores."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from hostnet.counters.collector import CounterCollector, CounterPlace
from hostnet.counters.text import fail
from hostnet.counters.values import BadValueError, parse_count

if TYPE_CHECKING:
    from collections.abc import Iterable

COLUMNS = ("Core", "IPC", "Instructions", "Cycles", "Local DRAM accesses", "Remote DRAM accesses")
"""Columns of the table."""

HEADER = ",".join(COLUMNS)

_LENGTH = re.compile(r"Time elapsed: (?P<ms>\d{1,12}(?:\.\d{1,9})?) ms")
_FOR_PEOPLE = re.compile(r"\s*Core\s*\|.*Remote DRAM", re.IGNORECASE)


def is_numa(head: str) -> bool:
    """Returns True if a file that begins with `head` was written by pcm-numa."""
    return any("REMOTE DRAM ACCESSES" in line.upper() for line in head.splitlines())


def read_numa(collector: CounterCollector, lines: Iterable[str]) -> None:
    """Parses the lines of a file into `collector`.

    Raises:
        ConfigError: A line is malformed, or the counts are impossible.
    """
    reader = _Reader(collector)
    for number, line in enumerate(lines, 1):
        reader.take(number, line)
    reader.close(last=True)


@dataclass
class _Reader:
    collector: CounterCollector
    values: dict[int, float | None] = field(default_factory=dict)
    line: int = 0
    length_ns: float | None = None
    end_ns: float = 0.0
    has_header: bool = False

    def take(self, number: int, line: str) -> None:
        """Parses one line."""
        text = line.strip().rstrip(",").strip()
        if match := _LENGTH.fullmatch(text):
            self.close(last=False)
            self.line, self.length_ns, self.has_header = number, float(match["ms"]) * 1e6, False
        elif _FOR_PEOPLE.match(text):
            self._fail(number, "a table for people, whose counts are rounded; pcm-numa -csv tells them whole")
        elif text.replace(" ", "").lower() == HEADER.replace(" ", "").lower():
            if self.length_ns is None:
                self._fail(number, 'the line "Time elapsed: ... ms" must come before the table')
            self.has_header = True
        elif self.has_header and text:
            self._take_row(number, text)

    def _take_row(self, number: int, text: str) -> None:
        cells = [cell.strip() for cell in text.split(",")]
        if len(cells) != len(COLUMNS):
            self._fail(number, f"has {len(cells)} columns, {len(COLUMNS)} are needed; is the file truncated?")
        if cells[0] == "*":
            return
        if not cells[0].isdecimal():
            self._fail(number, f'"{cells[0][:40]}" is no number of a core')
        uarch = self.collector.uarch
        for name, which, cell in zip(COLUMNS[4:], ("local", "remote"), cells[4:], strict=True):
            place = self.collector.number(CounterPlace("", uarch.ways[f"dram_{which}"][0][0], f"CPU{int(cells[0])}"))
            if place in self.values:
                self._fail(number, f"core {cells[0]} stands twice in one interval")
            try:
                self.values[place] = parse_count(cell, "", name)
            except BadValueError as error:
                self._fail(number, str(error))

    def close(self, *, last: bool) -> None:
        """Closes the current interval, if one has begun."""
        if self.length_ns is None:
            return
        if not self.values:
            self._fail(self.line, "the interval that begins here has no cores; is the file truncated?")
        self.end_ns += self.length_ns
        self.collector.close(self.values, self.line, self.length_ns, self.end_ns, last)
        self.values, self.length_ns = {}, None

    def _fail(self, number: int, message: str) -> NoReturn:
        fail(self.collector.path, number, message)

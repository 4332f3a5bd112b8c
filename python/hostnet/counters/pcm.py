"""Parses the output of `pcm-raw -csv`: two header lines, then one line per interval."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from hostnet.counters.collector import CounterCollector, CounterPlace
from hostnet.counters.names import DURATION, NameParser, UnknownEventError
from hostnet.counters.text import fail
from hostnet.counters.values import BadValueError, parse_count

if TYPE_CHECKING:
    from collections.abc import Iterable

COLUMNS = 3
"""Number of columns before the counts: date, time and length of the interval in ms."""

_UNIT = re.compile(r"SKT_?(?P<socket>\d+)_?(?P<kind>[A-Za-z]+)_?(?P<number>\d+)")
_SYSTEM = re.compile(r"SYSTEM_?\d*|SKT_?\d+")
_FRACTION = re.compile(r"(?P<clock>\d{1,2}:\d{2}:\d{2})(?:\.(?P<fraction>\d{1,12}))?")


def separator_of(head: str) -> str | None:
    """Returns the separator of a pcm-raw file that begins with `head`; None if it is no such file."""
    lines = [line for line in head.splitlines() if line.strip()]
    for line in lines[:3]:
        if match := re.match(r"\s*Date\s*([,;\t|])\s*Time\s*\1", line, re.IGNORECASE):
            return match[1]
    return None


def read_pcm(collector: CounterCollector, lines: Iterable[str], separator: str) -> None:
    """Parses the lines of a file into `collector`.

    Raises:
        ConfigError: A line is malformed, or the counts are impossible.
    """
    reader = _Reader(collector, NameParser(collector.uarch), separator)
    for number, line in enumerate(lines, 1):
        reader.take(number, line)
    reader.end()


@dataclass
class _Reader:
    collector: CounterCollector
    names: NameParser
    separator: str
    units: list[str] = field(default_factory=list)
    places: list[int | None] = field(default_factory=list)
    header: str = ""
    pending: tuple[dict[int, float | None], int, float, float] | None = None
    begun_ns: int | None = None
    last_ns: int | None = None

    def take(self, number: int, line: str) -> None:
        """Parses one line."""
        if not line.strip() or line.startswith("#"):
            return
        cells = [cell.strip() for cell in line.rstrip("\r\n").split(self.separator)]
        if cells[0].lower() == "date":
            self._take_header(number, line, cells)
        elif not self.places and not self.header:
            if self.units:
                fail(self.collector.path, number, "the line with Date, Time and the events must come here")
            self.units = cells
        elif cells == self.units:
            return  # pcm repeats its headers
        else:
            self._take_counts(number, line, cells)

    def _take_header(self, number: int, line: str, cells: list[str]) -> None:
        if self.header:
            if line != self.header:
                fail(self.collector.path, number, "a second header with other events; give one recording")
            return
        self.header = line
        if any(re.fullmatch(r"Ch\d+(?:Read|Write)|SKT\d+_?Mem.*|Mem Read.*", cell) for cell in cells):
            fail(
                self.collector.path,
                number,
                "written by pcm-memory, which tells MB/s; pcm-raw tells the counts that are needed",
            )
        if not self.units:
            fail(
                self.collector.path,
                number,
                "the line with the units (SKT0CORE0, SKT0CHAN0, ...) must come before this one",
            )
        if len(self.units) != len(cells):
            fail(
                self.collector.path,
                number,
                f"{len(cells)} events for {len(self.units)} units; the file is truncated or edited",
            )
        if len(cells) <= COLUMNS or cells[2].lower() != "ms":
            fail(
                self.collector.path,
                number,
                'the columns must begin with Date, Time, ms; pcm-raw without "-tr" writes them',
            )
        seen: set[int] = set()
        for unit, event in zip(self.units[COLUMNS:], cells[COLUMNS:], strict=True):
            place = self._place(number, unit, event) if unit or event else None
            if place is not None and place in seen:
                fail(self.collector.path, number, f"{self.collector.places[place]} has two columns")
            self.places.append(place)
            seen |= {place} if place is not None else set()

    def _place(self, number: int, unit: str, event: str) -> int | None:
        match = _UNIT.fullmatch(unit)
        if match is None:
            if _SYSTEM.fullmatch(unit):
                return None
            fail(self.collector.path, number, f'"{unit}" above "{event}" is no unit (SKT0CORE0, SKT0CHAN0, ...)')
        try:
            parsed = self.names.parse(event)
            self.names.check_unit(parsed.key, self._pmu_of(match["kind"].upper()), unit)
        except UnknownEventError as error:
            fail(self.collector.path, number, str(error))
        if parsed.key is None or parsed.key == DURATION:
            return None
        return self.collector.number(
            CounterPlace(match["socket"], parsed.key, f"{match['kind'].upper()}{match['number']}")
        )

    def _pmu_of(self, kind: str) -> str | None:
        return next((pmu.name for pmu in self.collector.uarch.pmus.values() if pmu.pcm == kind), None)

    def _take_counts(self, number: int, line: str, cells: list[str]) -> None:
        if self.pending is not None:
            self.collector.close(*self.pending, last=False)
            self.pending = None
        if len(cells) != len(self.places) + COLUMNS:
            hint = "" if line.endswith("\n") else "; the file is truncated"
            message = f"has {len(cells)} columns, the header has {len(self.places) + COLUMNS}{hint}"
            fail(self.collector.path, number, message)
        end_ns = self._time_ns(number, cells[0], cells[1])
        if self.last_ns is not None and end_ns <= self.last_ns:
            word = "stands twice" if end_ns == self.last_ns else "goes back"
            fail(self.collector.path, number, f"the time {word}: {cells[0]} {cells[1]}")
        length_ns = self._length_ns(number, cells[2], end_ns)
        self.last_ns = end_ns
        if self.begun_ns is None:
            self.begun_ns = end_ns - round(length_ns)
        values: dict[int, float | None] = {}
        for place, cell in zip(self.places, cells[COLUMNS:], strict=True):
            if place is not None:
                try:
                    values[place] = parse_count(cell, "", self.collector.places[place].key)
                except BadValueError as error:
                    fail(self.collector.path, number, str(error))
        if values:
            self.pending = (values, number, length_ns, float(end_ns - self.begun_ns))

    def _length_ns(self, number: int, text: str, end_ns: int) -> float:
        try:
            length_ns = float(text) * 1e6
        except ValueError:
            fail(self.collector.path, number, f'"{text[:40]}" is no length of an interval in ms')
        if not 0 <= length_ns < 1e18:
            fail(self.collector.path, number, f'"{text[:40]}" is no length of an interval in ms')
        if length_ns == 0 and self.last_ns is not None:
            return float(end_ns - self.last_ns)
        return length_ns

    def _time_ns(self, number: int, date: str, clock: str) -> int:
        match = _FRACTION.fullmatch(clock)
        try:
            moment = datetime.fromisoformat(f"{date} {match['clock'] if match else clock}".replace(" ", "T"))
        except ValueError:
            fail(self.collector.path, number, f'"{date[:20]} {clock[:20]}" is no date and time')
        whole = moment.replace(tzinfo=None) - datetime(1970, 1, 1)
        fraction = (match["fraction"] or "") if match else ""
        return (whole.days * 86_400 + whole.seconds) * 10**9 + int(fraction.ljust(9, "0")[:9])

    def end(self) -> None:
        """Closes the last interval."""
        if not self.header:
            fail(self.collector.path, None, "has no line with Date, Time and the events")
        if self.pending is not None:
            self.collector.close(*self.pending, last=True)

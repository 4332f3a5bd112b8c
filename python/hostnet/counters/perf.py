"""Parses the output of `perf stat -x,`, with or without intervals and aggregation."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hostnet.counters.collector import SHARE_LOW, CounterCollector, CounterPlace
from hostnet.counters.names import DURATION, NameParser, UnknownEventError
from hostnet.counters.text import EXPECTED, fail
from hostnet.counters.values import COUNT_END, BadValueError, parse_count

if TYPE_CHECKING:
    from collections.abc import Iterable

_SEPARATOR = re.compile(
    r"\s*(?:\d{1,10},\d{1,9}(?=\s*[;\t|:])|\d{1,10}\.\d{1,9}|\d+"
    r"|S\d+[\w-]*|N\d+|CPU\d+|<not (?:counted|supported)>)\s*(?P<separator>[,;\t|:])"
)
_TIME = re.compile(r"\s*(?P<s>\d{1,9})\.(?P<fraction>\d{1,9})\s*")
_GROUP = re.compile(r"(?:S|N)(?P<socket>\d+)[\w-]*")
_CPU = re.compile(r"CPU\d+")
_NUMBER = re.compile(r"\s*(?:\d[\d.]*|<not \w+>)\s*")
_DECIMAL_COMMA = re.compile(r"\s*\d+,\d+\s*")
_COMMAS_OF_BOTH_KINDS = re.compile(r"\s*(?:\d+\.\d+,)?(?:[SN]\d[\w-]*,\d+,)?\d+,\d{1,3},(?:[KMG]i?B|msec),\D")


IGNORED = -1
"""Place of events that are irrelevant."""

DURATION_PLACE = -2
"""Place of the event that counts time."""


@dataclass(frozen=True)
class Layout:
    """Columns of a file. `time` and `group` are -1 if the file has no such column."""

    separator: str
    time: int
    group: int
    value: int

    @property
    def unit(self) -> int:
        """Column of the unit of the value."""
        return self.value + 1

    @property
    def event(self) -> int:
        """Column of the event."""
        return self.value + 2

    @property
    def share(self) -> int:
        """Column of the percentage of time in which the counter ran."""
        return self.value + 4


def layout_of(head: str) -> Layout | None:
    """Returns the layout of a file that begins with `head`; None if perf did not write it."""
    line = next((line for line in head.splitlines() if line.strip() and not line.startswith("#")), "")
    match = _SEPARATOR.match(line)
    if match is None:
        return None
    separator = match["separator"]
    cells = line.split(separator)
    second = (
        _decimal(cells[1].strip()).removeprefix("-") if len(cells) > 1 else ""
    )  # a negative count is rejected when it is parsed
    is_stamped = any(kind.fullmatch(second) for kind in (_NUMBER, _GROUP, _CPU))
    time = 0 if _TIME.fullmatch(cells[0]) and is_stamped else -1  # otherwise a count scaled by perf, then its unit
    group, value = -1, time + 1
    first = cells[value].strip() if value < len(cells) else ""
    if _GROUP.fullmatch(first) or _CPU.fullmatch(first):
        group, value = value, value + 1
        counted = len(cells) > value + 1 and _NUMBER.fullmatch(cells[value]) and _NUMBER.fullmatch(cells[value + 1])
        value += 1 if counted and not _CPU.fullmatch(first) else 0
    return Layout(separator, time, group, value) if len(cells) > value + 2 else None


def _decimal(cell: str) -> str:
    """Converts a decimal comma in a cell to a point."""
    return cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell) else cell


def has_commas_of_both_kinds(head: str) -> bool:
    """Returns True if commas are both separators and decimal points, so that cells are ambiguous."""
    return any(_COMMAS_OF_BOTH_KINDS.match(line) for line in head.splitlines())


def read_perf(collector: CounterCollector, lines: Iterable[str], layout: Layout) -> None:
    """Parses the lines of a file into `collector`.

    Raises:
        ConfigError: A line is malformed, or the counts are impossible.
    """
    reader = _Reader(collector, NameParser(collector.uarch), layout)
    separator, value_at, unit_at, event_at, share_at = (
        layout.separator, layout.value, layout.unit, layout.event, layout.share,
    )  # fmt: skip
    group_at, timeless = layout.group if layout.group >= 0 else layout.event, layout.time < 0
    places = reader.places
    for number, line in enumerate(lines, 1):
        cells = line.split(separator)
        try:  # fast path: files have millions of lines, nearly all of this form
            if timeless or cells[0] == reader.stamp:
                place = places[cells[group_at], cells[event_at]]
                if place == IGNORED:
                    continue
                value = int(cells[value_at])
                values = reader.values
                if (
                    cells[share_at] == "100.00"
                    and not cells[unit_at]
                    and place not in values
                    and 0 <= value < COUNT_END
                    and values
                    and reader.short is None
                ):
                    values[place] = value
                    continue
        except (KeyError, IndexError, ValueError):
            pass
        reader.take(number, line, cells)
    reader.end()


@dataclass
class _Reader:
    """Parses any line, one by one.

    `places` caches the places of groups and events seen before, `names_of` the event counted at each place, with its
    modifiers. `others` holds the places of events that have another name as well: their counts wait in `spares` and are
    used where the first name has no count.
    """

    collector: CounterCollector
    names: NameParser
    layout: Layout
    values: dict[int, float | None] = field(default_factory=dict)
    places: dict[tuple[str, str], int] = field(default_factory=dict)
    names_of: dict[int, tuple[str, str]] = field(default_factory=dict)
    others: dict[tuple[str, str], int] = field(default_factory=dict)
    spares: dict[tuple[int, str], tuple[int, float, str]] = field(default_factory=dict)
    stamp: str = ""
    time_ns: int = 0
    begun_ns: int = 0
    line: int = 0
    duration_ns: float | None = None
    short: tuple[int, int] | None = None

    def take(self, number: int, line: str, cells: list[str]) -> None:
        """Parses a line that is split into cells."""
        if not line.strip() or line.startswith("#") or cells[0].strip() == "summary":
            return
        if self.short is not None:
            self._fail_short(self.short, last=False)
        layout = self.layout
        if layout.separator != ",":
            cells = [_decimal(cell) for cell in cells]
        if len(cells) <= layout.event:
            self.short = (number, len(cells))
            return
        if layout.time >= 0 and cells[0] != self.stamp:
            self._begin(number, cells[0])
        event, after = self._event(cells)
        if not event and not cells[layout.value].strip():
            return  # a metric that perf derived
        group = cells[layout.group].strip() if layout.group >= 0 else ""
        place = self._place(number, group, event, cells)
        share = cells[after + 1] if len(cells) > after + 1 else ""
        if place >= 0 and self.names_of[place][0] != event:
            self._spare(number, place, event, cells, share)
        elif place != IGNORED:
            self._count(number, place, cells, share)

    def _event(self, cells: list[str]) -> tuple[str, int]:
        """Returns the event, which may contain the separator between slashes, and the column after it."""
        first = self.layout.event
        last = first
        event = cells[first]
        while event.count("/") % 2 and last + 1 < len(cells):
            last += 1
            event += self.layout.separator + cells[last]
        return event.strip(), last + 1

    def _begin(self, number: int, stamp: str) -> None:
        match = _TIME.fullmatch(stamp)
        if match is None:
            fail(self.collector.path, number, f'"{stamp.strip()[:40]}" is no time; {EXPECTED}')
        time_ns = int(match["s"]) * 10**9 + int(match["fraction"].ljust(9, "0"))
        if self.stamp:
            if time_ns < self.time_ns:
                fail(
                    self.collector.path, number, f"the time goes back, from {self.stamp.strip()} s to {stamp.strip()} s"
                )
            if time_ns > self.time_ns:
                self._close(last=False)
                self.line = number
        else:
            self.line = number
        self.stamp, self.time_ns = stamp, time_ns

    def _place(self, number: int, group: str, event: str, cells: list[str]) -> int:
        written = (cells[self.layout.group] if self.layout.group >= 0 else event, event)
        if (known := self.places.get(written, self.others.get(written))) is not None:
            return known
        try:
            parsed = self.names.parse(event)
        except UnknownEventError as error:
            fail(self.collector.path, number, str(error))
        if parsed.key == DURATION:
            return DURATION_PLACE  # not cached: each of its lines must take this path
        place = IGNORED if parsed.key is None else self.collector.number(self._located(group, parsed.key, parsed.unit))
        first, modifiers = self.names_of.setdefault(place, (event, parsed.modifiers)) if place >= 0 else (event, "")
        if first == event:
            self.places[written] = place
            return place
        if modifiers != parsed.modifiers:
            what = f"{first} and {event} count in different modes; record one of them"
            fail(self.collector.path, number, f"{self.collector.places[place]} stands twice: {what}")
        self.collector.other_names.setdefault(event, first)
        self.others[written] = place  # kept out of `places`, which the fast path counts immediately
        return place

    def _located(self, group: str, key: str, unit: str) -> CounterPlace:
        is_core = self.collector.uarch.event_of(key).pmu == "core"
        if match := _GROUP.fullmatch(group):
            return CounterPlace(match["socket"], key, group if is_core and "-" in group else unit)
        if group and is_core:
            return CounterPlace("", key, group)
        return CounterPlace(group, key, unit)  # the CPU that reads the units of its socket, if any

    def _count(self, number: int, place: int, cells: list[str], share: str) -> None:
        key = DURATION if place == DURATION_PLACE else self.collector.places[place].key
        value = self._value(number, cells, key)
        if place == DURATION_PLACE:
            self.duration_ns = value
            return
        if not self.values:
            self.line = number
        if place in self.values:
            self._fail_twice(number, place)
        self.values[place] = value
        if value is None:
            word = "is not supported there" if "supported" in cells[self.layout.value] else "was not counted"
            self.collector.unusable[key] = word
        else:
            self._note_share(number, key, share.strip())

    def _value(self, number: int, cells: list[str], key: str) -> float | None:
        try:
            return parse_count(cells[self.layout.value], cells[self.layout.unit], key)
        except BadValueError as error:
            fail(self.collector.path, number, str(error))

    def _spare(self, number: int, place: int, event: str, cells: list[str], share: str) -> None:
        """Keeps the count of an event under a name other than the first."""
        if (place, event) in self.spares:
            self._fail_twice(number, place)
        value = self._value(number, cells, self.collector.places[place].key)
        if value is not None:
            self.spares[place, event] = number, value, share

    def _take_spares(self) -> None:
        """Uses counts under other names where the first name has none."""
        for (place, event), (number, value, share) in self.spares.items():
            if self.values.get(place) is None:
                self.values[place] = value
                self.collector.stand_ins.add(event)
                self._note_share(number, self.collector.places[place].key, share.strip())
        self.spares = {}

    def _fail_twice(self, number: int, place: int) -> None:
        when = f" at {self.stamp.strip()} s" if self.stamp else ""
        fail(self.collector.path, number, f"{self.collector.places[place]} stands twice{when}")

    def _note_share(self, number: int, key: str, share: str) -> None:
        if not share:
            return
        try:
            percent = float(share)
        except ValueError:
            fail(self.collector.path, number, f'"{share[:40]}" is no percentage')
        if not 0 <= percent <= 100.5:
            fail(self.collector.path, number, f"{share[:40]} is no percentage")
        if percent < SHARE_LOW:
            self.collector.low_shares[key] = min(percent, self.collector.low_shares.get(key, 100.0))

    def _close(self, *, last: bool) -> None:
        self._take_spares()
        if not self.values:
            return
        if self.layout.time >= 0:
            length_ns: float = self.time_ns - self.begun_ns
        elif self.duration_ns:
            length_ns = self.duration_ns
        else:
            fail(
                self.collector.path,
                None,
                "does not say how long it counted: record it with -I 1000, or with the event duration_time",
            )
        self.collector.close(self.values, self.line, length_ns, self.begun_ns + length_ns, last)
        self.begun_ns = self.time_ns
        self.values = {}

    def _fail_short(self, short: tuple[int, int], *, last: bool) -> None:
        number, count = short
        hint = "; the file is truncated" if last else f"; {EXPECTED}"
        fail(self.collector.path, number, f"has {count} columns, at least {self.layout.event + 1} are needed{hint}")

    def end(self) -> None:
        """Closes the last interval."""
        if self.short is not None:
            self._fail_short(self.short, last=True)
        self._close(last=True)

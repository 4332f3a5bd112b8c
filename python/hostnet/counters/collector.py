"""Collects the counts of a file interval by interval, and checks each interval against the first."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from hostnet.counters.quantities import ImplausibleError, Window, check_clocks
from hostnet.counters.text import fail

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from hostnet.counters.events import Uarch

SHARE_LOW = 80.0
"""Percentage of time below which a multiplexed counter gets a warning."""

LENGTH_RATIO = 1.5
"""Maximum ratio between the lengths of two intervals of a file."""


class CounterPlace(NamedTuple):
    """Position of a count: the socket, the key of the event and the unit."""

    socket: str
    key: str
    unit: str

    def __str__(self) -> str:
        """Returns the form used in messages."""
        where = f" of {self.unit}" if self.unit else ""
        return f"{self.key}{where}" + (f" (socket {self.socket})" if self.socket else "")


@dataclass(frozen=True)
class _EventSum:
    """An event of a socket, and the function that extracts its counts."""

    socket: str
    key: str
    counts: Callable[[Mapping[int, float | None]], tuple[float | None, ...]]


@dataclass
class CounterCollector:
    """Collects the intervals of a file.

    `windows` and `used` hold, per socket, its windows and the channels with any activity. `unusable` holds why events
    have no count, and `low_shares` the lowest percentage of time in which an event was counted. `other_names` maps the
    names of events that were already counted under another name to that name; `stand_ins` are those whose counts were
    used because the other name had none. `cores` holds, per socket, the LFB occupancy of each core in entries times
    clocks, and `links` the counts of its UPI links by event, None if a count is missing.
    """

    path: Path
    uarch: Uarch
    windows: dict[str, list[Window]] = field(default_factory=dict)
    used: dict[str, set[str]] = field(default_factory=dict)
    ends_ns: list[float] = field(default_factory=list)
    unusable: dict[str, str] = field(default_factory=dict)
    other_names: dict[str, str] = field(default_factory=dict)
    stand_ins: set[str] = field(default_factory=set)
    low_shares: dict[str, float] = field(default_factory=dict)
    cores: dict[str, dict[str, float]] = field(default_factory=dict)
    links: dict[str, dict[str, dict[str, float | None]]] = field(default_factory=dict)
    places: list[CounterPlace] = field(default_factory=list)
    _numbers: dict[CounterPlace, int] = field(default_factory=dict)
    _first: frozenset[int] | None = None
    _first_length_ns: float = 0.0
    _sums: list[_EventSum] = field(default_factory=list)
    _clocks: list[tuple[CounterPlace, int]] = field(default_factory=list)
    _channel_counts: list[tuple[CounterPlace, int]] = field(default_factory=list)
    _core_counts: list[tuple[CounterPlace, int]] = field(default_factory=list)
    _link_counts: list[tuple[CounterPlace, int]] = field(default_factory=list)

    def number(self, place: CounterPlace) -> int:
        """Returns the number of a place, by which `close` identifies it."""
        number = self._numbers.setdefault(place, len(self.places))
        if number == len(self.places):
            self.places.append(place)
        return number

    def close(self, values: Mapping[int, float | None], line: int, length_ns: float, end_ns: float, last: bool) -> None:
        """Adds the interval that began at `line`.

        Args:
            values: The count of each place by its number, None if it was not counted.
            line: The line in which the interval begins.
            length_ns: Length of the interval in ns.
            end_ns: End of the interval in ns since the start of the file.
            last: True if it is the last interval of the file.

        Raises:
            ConfigError: The interval differs from the first one, or its counts are impossible.
        """
        if not length_ns > 0:
            fail(self.path, line, "the interval has no length")
        if self._first is None:
            self._begin(values)
        elif self._first != values.keys():
            self._fail_different(values, line, last)
        self._check_length(length_ns, line, last)
        windows = {one.socket: Window(line, length_ns) for one in self._sums}
        for one in self._sums:
            counts = one.counts(values)
            windows[one.socket].totals[one.key] = None if None in counts else sum(filter(None, counts))
        for place, number in self._clocks:
            ticks = values[number]
            if ticks is not None:
                windows[place.socket].clocks.setdefault(place.key, {})[place.unit] = ticks
        self._note_used(values)
        for place, number in self._core_counts:
            of_socket = self.cores.setdefault(place.socket, {})
            of_socket[place.unit] = of_socket.get(place.unit, 0) + (values[number] or 0)
        self._note_links(values)
        for socket, window in windows.items():
            try:
                check_clocks(self.uarch, window)
            except ImplausibleError as error:
                fail(self.path, line, str(error), "implausible-data")
            self.windows.setdefault(socket, []).append(window)
        self.ends_ns.append(end_ns)

    def _begin(self, values: Mapping[int, float | None]) -> None:
        """Records which counts the first interval has; all later ones must have the same."""
        self._first = frozenset(values)
        numbers: dict[tuple[str, str], list[int]] = {}
        for number in values:
            place = self.places[number]
            event = self.uarch.event_of(place.key)
            numbers.setdefault((place.socket, place.key), []).append(number)
            if event.pmu == "upi":
                self._link_counts.append((place, number))
            if event.kind == "clock":
                self._clocks.append((place, number))
            elif event.pmu == "imc" and place.unit:
                self._channel_counts.append((place, number))
            elif place.unit and place.key == self.uarch.ways["lfb.occupancy"][0][0]:
                self._core_counts.append((place, number))
        for (socket, key), of_key in numbers.items():
            pick = itemgetter(
                *of_key, of_key[0]
            )  # repeats one, dropped below: itemgetter returns no tuple for a single item
            self._sums.append(_EventSum(socket, key, lambda values, pick=pick: pick(values)[:-1]))  # type: ignore[misc]

    def _note_used(self, values: Mapping[int, float | None]) -> None:
        if not self._channel_counts:
            return
        for place, number in self._channel_counts:
            if values[number]:
                self.used.setdefault(place.socket, set()).add(place.unit)
        used = self.used
        self._channel_counts = [
            (place, number) for place, number in self._channel_counts if place.unit not in used.get(place.socket, ())
        ]

    def _note_links(self, values: Mapping[int, float | None]) -> None:
        for place, number in self._link_counts:
            of_link = self.links.setdefault(place.socket, {}).setdefault(place.unit, {})
            before, count = of_link.get(place.key, 0), values[number]
            of_link[place.key] = None if before is None or count is None else before + count

    def _fail_different(self, values: Mapping[int, float | None], line: int, last: bool) -> NoReturn:
        assert self._first is not None
        lost = min(self._first - values.keys(), default=None)
        if lost is not None:
            hint = "; is the file truncated?" if last else ""
            message = f"lacks {self.places[lost]}, which the first one has{hint}"
        else:
            message = f"has {self.places[min(values.keys() - self._first)]}, which the first one lacks"
        fail(self.path, line, f"the interval that begins here {message}")

    def _check_length(self, length_ns: float, line: int, last: bool) -> None:
        if not self._first_length_ns:
            self._first_length_ns = length_ns
        ratio = length_ns / self._first_length_ns
        if ratio > LENGTH_RATIO or (ratio < 1 / LENGTH_RATIO and not last):
            fail(
                self.path,
                line,
                f"mixed intervals: {length_ns / 1e9:.6g} s here, {self._first_length_ns / 1e9:.6g} s at first",
            )


def merge_windows(windows: list[Window]) -> Window:
    """Merges all windows into one."""
    whole = Window(windows[0].line, sum(window.length_ns for window in windows))
    for key in windows[0].totals:
        counts = [window.totals[key] for window in windows]
        whole.totals[key] = None if None in counts else sum(count for count in counts if count is not None)
    for window in windows:
        for name, per_unit in window.clocks.items():
            into = whole.clocks.setdefault(name, {})
            for unit, ticks in per_unit.items():
                into[unit] = into.get(unit, 0) + ticks
    return whole

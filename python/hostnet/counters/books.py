"""The counts of a file on their way to windows: one interval at a time, checked against the first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from hostnet.counters.quantities import ImplausibleError, Window, check_clocks
from hostnet.counters.text import fail

if TYPE_CHECKING:
    from pathlib import Path

    from hostnet.counters.events import Uarch

SHARE_LOW = 80.0
"""Percent of the time below which a counter that took turns with others is worth a warning."""

LENGTH_RATIO = 1.5
"""The most that intervals of one file may differ."""


class Place(NamedTuple):
    """Where a count belongs: socket, key of the event, unit."""

    socket: str
    key: str
    unit: str

    def __str__(self) -> str:
        """As messages call it."""
        where = f" of {self.unit}" if self.unit else ""
        return f"{self.key}{where}" + (f" (socket {self.socket})" if self.socket else "")


@dataclass
class Book:
    """Collects the intervals of a file.

    `windows` holds them per socket; `unusable` says of events why they have no count, and `low_shares` the least
    percentage of the time that an event was counted in.
    """

    path: Path
    uarch: Uarch

    windows: dict[str, list[Window]] = field(default_factory=dict)
    ends_ns: list[float] = field(default_factory=list)
    unusable: dict[str, str] = field(default_factory=dict)
    low_shares: dict[str, float] = field(default_factory=dict)
    _places: frozenset[Place] | None = None
    _first_length_ns: float = 0.0

    def close(self, values: dict[Place, float | None], line: int, length_ns: float, end_ns: float, last: bool) -> None:
        """Takes in an interval that began at `line`.

        Raises:
            ConfigError: It is not as the others, or its counts are impossible.
        """
        if not length_ns > 0:
            fail(self.path, line, "the interval has no length")
        self._check_places(values, line, last)
        self._check_length(length_ns, line, last)
        windows: dict[str, Window] = {}
        for (socket, key, unit), value in values.items():
            window = windows.get(socket)
            if window is None:
                window = windows[socket] = Window(line, length_ns)
            self._add(window, key, unit, value)
        for socket, window in windows.items():
            try:
                check_clocks(self.uarch, window)
            except ImplausibleError as error:
                fail(self.path, line, str(error))
            self.windows.setdefault(socket, []).append(window)
        self.ends_ns.append(end_ns)

    def _add(self, window: Window, key: str, unit: str, value: float | None) -> None:
        event = self.uarch.event_of(key)
        before = window.totals.get(key, 0)
        window.totals[key] = None if value is None or before is None else before + value
        if value is None:
            return
        if event.kind == "clock":
            clocks = window.clocks.setdefault(event.name, {})
            clocks[unit] = clocks.get(unit, 0) + value
        elif value and event.pmu == "imc" and unit:
            window.used |= {unit}

    def _check_places(self, values: dict[Place, float | None], line: int, last: bool) -> None:
        if self._places is None:
            self._places = frozenset(values)
            return
        if self._places == values.keys():
            return
        lost = min(self._places - values.keys(), default=None)
        if lost is not None:
            hint = "; is the file truncated?" if last else ""
            fail(self.path, line, f"the interval that begins here lacks {lost}, which the first one has{hint}")
        fail(
            self.path,
            line,
            f"the interval that begins here has {min(values.keys() - self._places)}, which the first one lacks",
        )

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


def merged(windows: list[Window]) -> Window:
    """All windows as one."""
    whole = Window(windows[0].line, sum(window.length_ns for window in windows))
    for key in windows[0].totals:
        counts = [window.totals[key] for window in windows]
        whole.totals[key] = None if None in counts else sum(count for count in counts if count is not None)
    for window in windows:
        for name, per_unit in window.clocks.items():
            into = whole.clocks.setdefault(name, {})
            for unit, ticks in per_unit.items():
                into[unit] = into.get(unit, 0) + ticks
        whole.used |= window.used
    return whole

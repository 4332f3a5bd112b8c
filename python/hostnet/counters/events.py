"""Loads the counter events of each microarchitecture and what they mean; see `specs/counters`."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from hostnet import _core

if TYPE_CHECKING:
    from collections.abc import Mapping

AT_LEAST = " >="
"""Suffix of the key of an event that counts the clocks with at least a number of entries in use."""


@dataclass(frozen=True)
class Event:
    """A counter event.

    `kind` is "count", "occupancy" (entries in use, summed over clocks), "threshold" (clocks in which a condition held)
    or "clock". `encoding` is what perf takes between slashes. `perf_name` is True if perf knows the event by name,
    `unconfirmed` if the manufacturer does not list it for this server.
    """

    name: str
    pmu: str
    kind: str
    encoding: str
    aliases: tuple[str, ...]
    perf_name: bool
    unconfirmed: bool
    meaning: str
    source: str


@dataclass(frozen=True)
class Pmu:
    """A kind of counting unit: cores, CHA slices, memory channels, IRPs, IIO stacks or UPI links.

    `clock` is its clock event, `reference` the event of a clock of known frequency, and `hz` the frequency in Hz used
    if the file does not tell it. There are `units` of the kind; `busy` is the number of the one that serves the drives
    unless the configuration names another.
    """

    name: str
    perf: str
    pcm: str
    clock: str
    reference: str | None
    hz: int
    units: int
    busy: int


@dataclass(frozen=True)
class Uarch:
    """The counters of a microarchitecture.

    `ways` lists for each quantity the sums of events that give it, best first.
    """

    name: str
    title: str
    presets: tuple[str, ...]
    pmus: Mapping[str, Pmu]
    events: Mapping[str, Event]
    ways: Mapping[str, tuple[tuple[str, ...], ...]]
    known: frozenset[str]
    families: tuple[str, ...]

    def event_of(self, key: str) -> Event:
        """Returns the event of a key: the name of an event, or one followed by a threshold."""
        return self.events[key.partition(AT_LEAST)[0]]


@cache
def uarchs() -> Mapping[str, Uarch]:
    """Returns all supported microarchitectures by name."""
    return {name: _load(name, tomllib.loads(text)) for name, text in _core.counters()}


def find_uarch(name: str) -> Uarch:
    """Returns the microarchitecture of that name, or of the server preset of that name.

    Raises:
        ConfigError: No microarchitecture or preset has this name.
    """
    known = uarchs()
    for uarch in known.values():
        if name == uarch.name or name in uarch.presets:
            return uarch
    near = difflib.get_close_matches(name, known, 1)
    hint = f'did you mean "{near[0]}"?' if near else f"known are {', '.join(known)}"
    raise _core.ConfigError("unknown-name", f'"{name}" has no list of counters; {hint}')


def _load(name: str, tree: dict[str, Any]) -> Uarch:
    events = {
        event: Event(
            event,
            about["pmu"],
            about["kind"],
            about["encoding"],
            tuple(about.get("aliases", ())),
            about.get("perf_name", True),
            about.get("unconfirmed", False),
            about["meaning"],
            about["source"],
        )
        for event, about in tree["event"].items()
    }
    pmus = {
        pmu: Pmu(
            pmu,
            about["perf"],
            about["pcm"],
            about["clock"],
            about.get("reference"),
            about["hz"],
            about.get("units", 0),
            about.get("busy", 0),
        )
        for pmu, about in tree["pmu"].items()
    }
    ways = {quantity: tuple(map(tuple, ways)) for quantity, ways in tree["quantity"].items()}
    known = tree["known"]
    head = tree["uarch"]
    return Uarch(
        name,
        head["title"],
        tuple(head["presets"]),
        pmus,
        events,
        ways,
        frozenset(known["names"]),
        tuple(known["families"]),
    )

"""Which events a server has and what they tell, as `specs/counters` says."""

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
"""Ends the name of an event that counts the clocks with at least so many entries in use."""


@dataclass(frozen=True)
class Event:
    """An event of a counter.

    `kind` is count, occupancy (entries in use, summed over the clocks), threshold (clocks in which something held) or
    clock. `encoding` is what perf takes between slashes. `perf_name` says whether perf knows the event by its name,
    `unconfirmed` that the manufacturer does not list it for this server.
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
    """A kind of unit that counts: cores, slices of the CHA, channels, IRPs or IIO stacks.

    `clock` is the event of its clock, `reference` that of a clock of known frequency, and `hz` the frequency where the
    file does not tell it. There are `units` of them and `busy` is the one that has the drives, where the configuration
    does not say so.
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
    """The counters of a microarchitecture. `ways` says how each quantity is computed: sums of events, best first."""

    name: str
    title: str
    presets: tuple[str, ...]
    pmus: Mapping[str, Pmu]
    events: Mapping[str, Event]
    ways: Mapping[str, tuple[tuple[str, ...], ...]]
    known: frozenset[str]
    families: tuple[str, ...]

    def event_of(self, key: str) -> Event:
        """The event of a key, which is its name or ends with a threshold."""
        return self.events[key.partition(AT_LEAST)[0]]


@cache
def uarchs() -> Mapping[str, Uarch]:
    """Every microarchitecture that is known, by name."""
    return {name: _load(name, tomllib.loads(text)) for name, text in _core.counters()}


def find_uarch(name: str) -> Uarch:
    """The microarchitecture of that name, or of the server of that name.

    Raises:
        ConfigError: There is none.
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

"""Builds the command that records the counters of a real server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.counters.events import AT_LEAST
from hostnet.counters.quantities import LFB_FULL
from hostnet.counters.writer import label_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostnet.counters.events import Uarch

FULL = {"RPQ": 42, "WPQ": 34}
"""Numbers of entries at or above which the artifact of "Understanding the Host Network" counts a queue as full."""


def perf_command(uarch: Uarch, interval_ms: int = 1000) -> str:
    """Returns the perf command line that records every required event, one option per line."""
    options = [f"-e '{option}'" for option in _events(uarch)]
    head = f"perf stat -a --per-socket --no-merge -I {interval_ms} -x, -o counters.csv"
    return " \\\n  ".join([head, *options, "-- sleep 60"])


def _events(uarch: Uarch) -> Iterator[str]:
    clocks = [about.clock for about in uarch.pmus.values()]
    references = [about.reference for about in uarch.pmus.values() if about.reference]
    best = (event for ways in uarch.ways.values() for event in ways[0])
    needed = dict.fromkeys([*clocks, *references, *best, LFB_FULL])
    for key in needed:
        event = uarch.event_of(key)
        pmu = uarch.pmus[event.pmu].perf
        if key.endswith(AT_LEAST):
            full = FULL["RPQ" if "RPQ" in key else "WPQ"]
            yield f"{pmu}/{event.encoding},thresh={full},name={label_of(f'{key}{full}')}/"
        elif event.perf_name:
            yield event.name
        else:
            yield f"{pmu}/{event.encoding},name={event.name}/"

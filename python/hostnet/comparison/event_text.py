"""Words for the events at which two runs diverge, for the screen and for pages."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from hostnet.units import format_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.comparison.compare_runs import Comparison

    Event = dict[str, Any]

COMMON_EVENTS = 4
"""Events shown before the first that differs."""

OWN_EVENTS = 3
"""Events shown of each run from the first that differs."""

EPOCH_EVENTS = 12
"""Events shown of an epoch that differs from its record."""


def outcome_text(found: Comparison, events: dict[str, Any]) -> str:
    """Describes where two runs diverge, or that they do not."""
    outcome = events["outcome"]
    if outcome == "diverged":
        return f"the first {events['events_before']} events are the same; then the runs diverge"
    if outcome == "deviated":
        return _deviation(found, events)
    sentences = {
        "identical": "every state is the same",
        "told-differently": "every state is the same: the same events, reported differently",
        "reproduced": "a run made now agrees with both",
        "same-events": "every event is the same until the shorter run ends",
        "stopped": "stopped before an event that differs was found",
        "impossible": f"the runs cannot be made again: {events.get('reason')}",
        "cut-short": "every state is the same until one of the runs was stopped",
    }
    return sentences[outcome]


def _deviation(found: Comparison, events: dict[str, Any]) -> str:
    """Describes which of the records differs from a new run."""
    from hostnet._core import version

    differing = [side.label for side, agrees in zip((found.a, found.b), events["agrees"], strict=True) if not agrees]
    span = f"{format_time(events['start_ns'] * 1000)} to {format_time(events['end_ns'] * 1000)}"
    verb = "differ" if len(differing) > 1 else "differs"
    return (
        f"{' and '.join(differing)} {verb} from a run made now by hostnet {version()}, first in the epoch from {span}; "
        f"the first of its {events['events_count']} events in this epoch:"
    )


def shown_events(events: dict[str, Any]) -> list[tuple[str, Event]]:
    """Returns the events to show, each with its run: the last common ones, and the first ones of each run.

    Of an epoch that differs from its record, they are those of the new run.
    """
    if events["outcome"] == "deviated":
        return [("", event) for event in events["events"][:EPOCH_EVENTS]]
    if events["outcome"] != "diverged":
        return []
    rows = [("", event) for event in events["common"][-COMMON_EVENTS:]]
    for name in ("a", "b"):
        rows += [(name.upper(), event) for event in islice(events[name], OWN_EVENTS)]
        if not events[name]:
            rows.append((name.upper(), {"event": "nothing more in this epoch"}))
    return rows


def event_cells(name: str, event: Event) -> Sequence[str]:
    """Returns the cells of an event: its run, time in ns, part, event, sender, request, line and workload."""
    time_ns = event.get("time_ns")
    return (
        name,
        "" if time_ns is None else f"{time_ns:.3f}",
        event.get("part", ""),
        _event_text(event),
        event.get("from", ""),
        _request(event),
        _line(event),
        event.get("workload") or "",
    )


def _request(event: Event) -> str:
    """Formats the request of an event."""
    return "" if event.get("request") is None else f"{event['request']} {event['kind']}"


def _event_text(event: Event) -> str:
    """Formats the kind of an event and its details."""
    details = event.get("details")
    if not isinstance(details, dict):
        return str(event["event"])
    details_text = " ".join(f"{key} {value}" for key, value in details.items() if key != "class")
    return f"{event['event']} {details_text}"


def _line(event: Event) -> str:
    """Formats the position of the line of an event."""
    places = [event.get(key) for key in ("channel", "bank", "row", "column")]
    return "" if None in places else "/".join(map(str, places))

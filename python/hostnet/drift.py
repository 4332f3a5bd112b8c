"""Notes about runs that have not reached a steady state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet import _core

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DRIFTING = (
    ("workloads", "workload", "throughput_gb_per_s", "throughput_drift", "GB/s"),
    ("classes", "class", "goodput_gbps", "goodput_drift", "Gbps"),
)
"""Tables whose rows may drift, with the columns for the name, value and drift of a row, and the unit."""


def drift_notes(summary: Mapping[str, Any]) -> list[str]:
    """Returns a note for each workload or class whose throughput changes over the window."""
    return [_core.drift_note(*drifting) for drifting in _drifting(summary)]


def _drifting(summary: Mapping[str, Any]) -> Iterator[tuple[str, float, float, str]]:
    """Yields the name, mean, drift and unit of each row that drifts."""
    for table, key, value, drift, unit in DRIFTING:
        for row in summary.get(table, ()):
            mean, change = _number(row.get(value)), _number(row.get(drift))
            if mean and change:
                yield row[key], mean, change, unit


def _number(value: Any) -> float | None:
    """Returns the value of one run, or the mean over several runs."""
    number: float | None = value["mean"] if isinstance(value, dict) else value
    return number

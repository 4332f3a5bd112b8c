"""Notes of a run that has not come to a steady state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DRIFTING = (
    ("workloads", "workload", "throughput_gb_per_s", "throughput_drift", "GB/s"),
    ("classes", "class", "goodput_gbps", "goodput_drift", "Gbps"),
)
"""Tables whose rows may drift: what names a row, what drifts, by how much, and the unit of both."""


def drift_notes(summary: Mapping[str, Any]) -> list[str]:
    """A note for each workload or class of traffic whose throughput changes from the start of the window to its end."""
    return [
        f"{name} drifts: {change:+.3g} {unit} ({change / mean:+.0%}) from the start of the window to its end; this is "
        "no steady state: warm up and measure for longer (run.warmup, run.duration)"
        for name, mean, change, unit in _drifting(summary)
    ]


def _drifting(summary: Mapping[str, Any]) -> Iterator[tuple[str, float, float, str]]:
    for table, key, value, drift, unit in DRIFTING:
        for row in summary.get(table, ()):
            mean, change = _number(row.get(value)), _number(row.get(drift))
            if mean and change:
                yield row[key], mean, change, unit


def _number(value: Any) -> float | None:
    """A number of one run, or the mean over several."""
    number: float | None = value["mean"] if isinstance(value, dict) else value
    return number

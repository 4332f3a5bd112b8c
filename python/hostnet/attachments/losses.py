"""Notes on classes that lose goodput at another place of the NIC: how much, why, and whether it lasts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.drift import drift_notes
from hostnet.units import share_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hostnet.attachments.place import PlacedRun

    Row = dict[str, Any]

LOSS = 0.1
"""Smallest loss of goodput, as a fraction, for which there is a note; the table has smaller losses."""


def loss_notes(placed: Sequence[PlacedRun]) -> list[str]:
    """Returns notes on losses against the first place, and on runs without a steady state."""
    first, *others = placed
    notes = [f"{one.place}: {note}" for one in placed for note in drift_notes(one.results.summary)]
    return [*notes, *(note for one in others for note in _losses(first, one))]


def _losses(first: PlacedRun, other: PlacedRun) -> Iterator[str]:
    """Yields a sentence for each class that loses goodput at the other place, by more than noise."""
    summary = other.results.summary
    before = {row["class"]: row for row in first.results.summary["classes"]}
    limits = {row["class"]: row for row in summary["limits"]}
    for row in summary["classes"]:
        name, goodput, whole = row["class"], row["goodput_gbps"], before[row["class"]]["goodput_gbps"]
        halves = (row["goodput_ci95"], before[name]["goodput_ci95"])
        if None in halves or whole - goodput <= max(sum(halves), LOSS * whole):
            continue
        why = limits.get(name, {}).get("why") or "what limits it is not known"
        sentence = f"{name} has {goodput:.3g} Gbps at {other.place} and {whole:.3g} at {first.place}: {why}"
        yield "; ".join([sentence, *(_signals(summary) if row["marked_by_host"] else ())])


def _signals(summary: Row) -> Iterator[str]:
    """Yields the occupancy that the controller of each marking host sees, and the true one."""
    buffers = {row["host"]: row["iio_write_occupancy"] for row in summary["hosts"]}
    for row in summary.get("control") or ():
        count = row["occupancy_samples"]
        if not row["echo_share"] or not count:
            continue
        yield (
            f"its I_S at {row['host']} is {row['occupancy_mean_lines']:.3g} lines on average, where "
            f"{share_text(row['occupancy_discarded'] / count)} of the samples do not count, and the IIO holds "
            f"{buffers[row['host']]:.3g}"
        )

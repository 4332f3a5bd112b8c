"""Breakdown of the time of the data bus of a memory channel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.units import format_percent, share_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Row = Mapping[str, Any]

LIMIT = "DRAM channel"
"""Name of the limit that a channel is."""

CHANNEL = "channel "
"""Prefix of the place of a channel."""


def bus_text(row: Row, channels: Sequence[Row]) -> str | None:
    """Describes how long the bus of the limiting channel of a workload transfers lines; None if unknown.

    Args:
        row: The explanation of the workload.
        channels: Rows of the table `channels`.
    """
    stages = [stage for stage in row.get("stages", ()) if stage["limit"] == LIMIT and "rate" in stage["load"]]
    if not stages or LIMIT not in row["binding"]:
        return None
    used, place = max((stage["load"]["rate"]["used"], stage["place"]) for stage in stages)
    busy = [one["bus_busy_share"] for one in channels if f"{CHANNEL}{one['channel']}" == place]
    if not busy or busy[0] is None:
        return None
    return (
        f"Lines are on the bus of {place} {share_text(busy[0])} of the time. Turns between reads and writes, "
        f"refreshes and the wait for rows to open count as used too: {format_percent(min(used, 1.0))} of what it can "
        "do."
    )

"""Stages of a datagram from the sending to the receiving application."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STAGES = {
    "tx_copy": "tx copy",
    "tx_driver": "tx driver",
    "tx_flush": "tx flush",
    "tx_register": "tx reg",
    "tx_dma": "tx DMA",
    "wire": "wire",
    "rx_dma": "rx DMA",
    "rx_invalidate": "rx inval",
    "rx_driver": "rx driver",
    "rx_copy": "rx copy",
}
"""Stages of datagrams in order, with their headings."""


def stage_means(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns a row per class and direction, with the mean time of every stage in us."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        way = found.setdefault((row["class"], row["way"]), {"class": row["class"], "way": row["way"]})
        if row["stage"] == "all":
            way |= {"datagrams": row["datagrams"], "mean_us": row["mean_us"], "p99_us": row["p99_us"]}
        else:
            way[row["stage"]] = row["mean_us"]
    return list(found.values())

"""Notes that explain gaps in the tables of a comparison of places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.cluster_view import TAIL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Row = dict[str, Any]

P99 = "p99_us"


def gap_notes(traffic: Sequence[Row], hosts: Sequence[Row]) -> Iterator[str]:
    """Yields notes on percentiles without enough requests, and on servers whose NIC bypasses IIO and channels."""
    few = [f"{row['class']} at {row['place']} ({lacking(row)})" for row in traffic if lacking(row)]
    if few:
        yield f"too few requests for {TAIL[P99][0]}: {', '.join(few)}; use a longer run.duration"
    if any(row["place"] == "dimm" and not row["in_gbps"] and not row["out_gbps"] for row in hosts):
        yield "dimm: the NIC keeps its packets in the memory of its DIMM, so none pass the IIO and the host's channels"


def lacking(row: Row) -> str | None:
    """Returns how many requests a class has of those that a percentile needs; None if it has enough, or none at all."""
    if not row["requests"] or row[P99] is not None:
        return None
    return f"{row['requests']} of {TAIL[P99][1]}"

"""Loaded latency: pairs of bandwidth and latency whose offered load is known or must be inferred."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from hostnet.calibrate.measurement import Conditions, Measurement
from hostnet.curve.points import gap_of
from hostnet.units import LINE_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.calibrate.readers.content import Found

NEAR_SATURATION = 0.93
"""Above this share of the largest bandwidth, a bandwidth no longer tells the load: the curve is a wall."""

NO_LOAD_GB_PER_S = 0.1
"""A load below this is none."""

BANDWIDTH_SIGMA = 0.02
"""How well the bandwidth of a row is known, as a share."""


@dataclass(frozen=True)
class Row:
    """A row of a table of loaded latencies."""

    place: str
    latency_ns: float
    bandwidth_gb_per_s: float
    conditions: Conditions
    delay: float | None = None
    """The tool's inject delay, in whatever it counts; None if it is not known."""
    gap_known: bool = False
    """Whether the gap in the conditions is the one that was measured."""


def add_rows(found: Found, file: str, rows: Sequence[Row]) -> None:
    """Adds what rows say: the latency at each load, and the bandwidth where the load is known."""
    ordered = sorted(rows, key=lambda row: (row.conditions.reads, row.conditions.cores))
    for (reads, _), group in groupby(ordered, key=lambda row: (row.conditions.reads, row.conditions.cores)):
        same = sorted(group, key=lambda row: row.bandwidth_gb_per_s)
        skipped = 0
        for index, row in enumerate(same):
            conditions = _conditions_of(row, same)
            if conditions is None:
                skipped += 1
                continue
            known = row.gap_known or (conditions.cores > 0 and conditions.gap_ns == 0)
            slack = 0.0 if known else BANDWIDTH_SIGMA * _steepness(same, index)
            found.measurements.append(Measurement("latency", row.latency_ns, conditions, file, row.place, slack=slack))
            if known:
                found.measurements.append(Measurement("bandwidth", row.bandwidth_gb_per_s, conditions, file, row.place))
        if skipped:
            found.notes.append(
                f"{file}: {skipped} of {len(same)} rows at {100 * reads:.3g} % reads are not used: so close to the "
                "largest bandwidth, their bandwidth does not tell their load"
            )


def _conditions_of(row: Row, same: Sequence[Row]) -> Conditions | None:
    """The conditions of a row; None if they cannot be told."""
    if row.gap_known:
        return row.conditions
    delays = [other.delay for other in same]
    largest = same[-1].bandwidth_gb_per_s
    if row.delay == 0 or (None in delays and row is same[-1]):
        return replace(row.conditions, gap_ns=0.0)
    if row.bandwidth_gb_per_s > NEAR_SATURATION * largest:
        return None
    load = row.bandwidth_gb_per_s - LINE_BYTES / row.latency_ns
    if load < NO_LOAD_GB_PER_S:
        return replace(row.conditions, cores=0, reads=1.0, gap_ns=0.0)
    gap_ns = gap_of(load, row.conditions.cores, row.conditions.reads)
    return replace(row.conditions, gap_ns=round(gap_ns, 3))


def _steepness(same: Sequence[Row], index: int) -> float:
    """Relative growth of the latency per relative growth of the bandwidth, from the rows before and after."""
    low, high = same[max(index - 1, 0)], same[min(index + 1, len(same) - 1)]
    if high.bandwidth_gb_per_s <= low.bandwidth_gb_per_s:
        return 0.0
    growth = math.log(high.latency_ns / low.latency_ns)
    return abs(growth / math.log(high.bandwidth_gb_per_s / low.bandwidth_gb_per_s))

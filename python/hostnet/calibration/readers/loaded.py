"""Loaded latency: pairs of bandwidth and latency whose offered load is known or inferred."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from hostnet.calibration.curves import POINTS_MIN, CurvePoint, curve_of_points
from hostnet.calibration.measurement import Conditions, Measurement
from hostnet.curves.points import gap_of
from hostnet.units import LINE_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.calibration.readers.data_file import ParsedData

NEAR_SATURATION = 0.93
"""Fraction of the maximum bandwidth above which the bandwidth no longer determines the load."""

NO_LOAD_GB_PER_S = 0.1
"""Load in GB/s below which the memory counts as idle."""

BANDWIDTH_SIGMA = 0.02
"""Relative uncertainty of the bandwidth of a row."""


@dataclass(frozen=True)
class LoadedRow:
    """A row of a table of loaded latencies."""

    place: str
    latency_ns: float
    bandwidth_gb_per_s: float
    conditions: Conditions
    delay: float | None = None
    """The tool's inject delay, in its own unit; None if unknown."""
    gap_known: bool = False
    """True if the gap in the conditions was measured."""


def add_rows(found: ParsedData, file: str, rows: Sequence[LoadedRow]) -> None:
    """Adds curves, and of fewer rows each latency whose load can be determined, with a bandwidth that is exact."""
    ordered = sorted(rows, key=lambda row: (row.conditions.reads, row.conditions.cores))
    for (reads, _), group in groupby(ordered, key=lambda row: (row.conditions.reads, row.conditions.cores)):
        same = sorted(group, key=lambda row: row.bandwidth_gb_per_s)
        if is_curve(same):
            points = [CurvePoint(row.bandwidth_gb_per_s, row.latency_ns, row.place) for row in same]
            found.curves.append(curve_of_points(file, same[0].conditions, points))
            continue
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
                "largest bandwidth, the bandwidth does not determine the load"
            )


def is_curve(rows: Sequence[LoadedRow]) -> bool:
    """Returns True if rows of the same cores and share of reads show a whole curve, up to its maximum bandwidth."""
    loads = {replace(row.conditions, gap_ns=0.0) for row in rows}
    delays = {row.delay for row in rows}
    whole = len(rows) >= POINTS_MIN and (0 in delays or delays == {None})
    return whole and len(loads) == 1 and not any(row.gap_known or row.conditions.node for row in rows)


def _conditions_of(row: LoadedRow, same: Sequence[LoadedRow]) -> Conditions | None:
    """Returns the conditions of a row; None if they cannot be determined."""
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


def _steepness(same: Sequence[LoadedRow], index: int) -> float:
    """Returns the relative growth of latency per relative growth of bandwidth between the neighboring rows."""
    low, high = same[max(index - 1, 0)], same[min(index + 1, len(same) - 1)]
    if high.bandwidth_gb_per_s <= low.bandwidth_gb_per_s:
        return 0.0
    growth = math.log(high.latency_ns / low.latency_ns)
    return abs(growth / math.log(high.bandwidth_gb_per_s / low.bandwidth_gb_per_s))

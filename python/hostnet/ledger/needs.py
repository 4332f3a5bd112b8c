"""What a row is computed from: operating points, and what follows from their runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from hostnet.ledger.app_quantities import APP_QUANTITIES
from hostnet.ledger.chip_quantities import CHIP_QUANTITIES
from hostnet.ledger.cluster_quantities import CLUSTER_QUANTITIES
from hostnet.ledger.control_quantities import CONTROL_QUANTITIES
from hostnet.ledger.errors import LedgerError
from hostnet.ledger.fabric_quantities import FABRIC_QUANTITIES
from hostnet.ledger.formula_quantities import FORMULA_QUANTITIES
from hostnet.ledger.memory_quantities import MEMORY_QUANTITIES
from hostnet.ledger.network_quantities import NETWORK_QUANTITIES
from hostnet.ledger.noc_quantities import NOC_QUANTITIES
from hostnet.ledger.packet_quantities import PACKET_QUANTITIES
from hostnet.ledger.panels import Against, Panel, Published, Series
from hostnet.ledger.power_quantities import POWER_QUANTITIES
from hostnet.ledger.quantities import QUANTITIES, Estimate, Outcome, Quantity
from hostnet.ledger.study import Study, expand
from hostnet.ledger.training_quantities import TRAINING_QUANTITIES

if TYPE_CHECKING:
    from hostnet.ledger.points import OperatingPoint

KNOWN: Mapping[str, Quantity] = {
    **QUANTITIES,
    **APP_QUANTITIES,
    **FORMULA_QUANTITIES,
    **MEMORY_QUANTITIES,
    **NOC_QUANTITIES,
    **CHIP_QUANTITIES,
    **CLUSTER_QUANTITIES,
    **PACKET_QUANTITIES,
    **FABRIC_QUANTITIES,
    **NETWORK_QUANTITIES,
    **CONTROL_QUANTITIES,
    **POWER_QUANTITIES,
    **TRAINING_QUANTITIES,
}
"""Every quantity that `study.toml` can name."""

EXTREMES = {"least": min, "most": max}
"""Which of the values at all points of a family a row is about."""


@dataclass(frozen=True)
class Pair:
    """The operating points that one value of a quantity is computed from."""

    point: str
    baseline: str | None = None

    def names(self) -> set[str]:
        """Their names."""
        return {name for name in (self.point, self.baseline) if name is not None}


@dataclass(frozen=True)
class Needs:
    """What a row is computed from: one value, or several of which one counts, and what it is compared with.

    Of several values, `each` is what they are compared with, one by one.
    """

    values: tuple[Pair, ...]
    against: Pair | None = None
    each: tuple[Pair, ...] = ()

    def names(self) -> set[str]:
        """The operating points of all of them."""
        pairs = (*self.values, *self.each, *(() if self.against is None else (self.against,)))
        return {name for pair in pairs for name in pair.names()}


def needs(study: Study, series: Series, x: str) -> Needs | None:
    """Which operating points a value of this series needs; None when it is not simulated."""
    if series.quantity is None or series.point is None:
        return None
    if series.over is not None:
        places = [point.x for point in expand(series.point, study.families)]
        values = tuple(pair_of(study, series.point, series.baseline, place) for place in places)
        if series.against is None:
            return Needs(values)
        return Needs(values, each=tuple(pair_against(study, series.against, place) for place in places))
    value = pair_of(study, series.point, series.baseline, x)
    if series.against is None:
        return Needs((value,))
    return Needs((value,), pair_against(study, series.against, x))


def pair_against(study: Study, against: Against, x: str) -> Pair:
    """What a value at `x` is compared with."""
    there = point_before(study, against.point, x).x if against.previous else x
    return pair_of(study, against.point, against.baseline, there)


def pair_of(study: Study, point: str, baseline: str | None, x: str) -> Pair:
    """A point and its baseline at `x`."""
    return Pair(resolve_point(study, point, x), None if baseline is None else resolve_point(study, baseline, x))


def resolve_point(study: Study, name: str, x: str) -> str:
    """The operating point that `name` means at `x`: a family is taken at `x`, a single point as it is."""
    points = expand(name, study.families)
    return points[0].name if len(points) == 1 else points[place_of(study, name, points, x)].name


def point_before(study: Study, name: str, x: str) -> OperatingPoint:
    """The operating point of a family before that at `x`."""
    points = expand(name, study.families)
    place = place_of(study, name, points, x)
    if place == 0:
        raise LedgerError("malformed-file", f"{study.name}: {name!r} has no operating point before x = {x}")
    return points[place - 1]


def place_of(study: Study, name: str, points: Sequence[OperatingPoint], x: str) -> int:
    """Which of the points is that at `x`."""
    place = next((place for place, point in enumerate(points) if point.x == x), None)
    if place is None:
        raise LedgerError("malformed-file", f"{study.name}: {name!r} has no operating point for x = {x}")
    return place


def points_needed(study: Study, panels: tuple[Panel, ...]) -> set[str]:
    """Names of the operating points that the rows of these panels need."""
    return {
        name
        for panel in panels
        for value in panel.rows()
        if (need := needs(study, series_of(panel, value), value.x)) is not None
        for name in need.names()
    }


def series_of(panel: Panel, value: Published) -> Series:
    """The definition of a published value's series."""
    return next(series for series in panel.series if series.name == value.series)


def estimate_of(
    series: Series, need: Needs, outcomes: Mapping[str, Outcome], published: float | None = None
) -> Estimate:
    """What the runs say of a row. `published` is the value that the farthest of several is sought from."""
    estimates = [quantity_at(series, pair, outcomes) for pair in need.values]
    others = need.each if need.against is None else (need.against,)
    if others and series.against is not None:
        other = replace(
            series,
            quantity=series.against.quantity or series.quantity,
            workload=series.against.workload or series.workload,
        )
        found = [quantity_at(other, pair, outcomes) for pair in others]
        estimates = [compared(series, here, there) for here, there in zip(estimates, found, strict=True)]
    return extreme(series, estimates, [pair.point for pair in need.values], published)


def quantity_at(series: Series, pair: Pair, outcomes: Mapping[str, Outcome]) -> Estimate:
    """One value of the quantity of a series."""
    baseline = None if pair.baseline is None else outcomes[pair.baseline]
    return quantity_of(series)(series, outcomes[pair.point], baseline)


def quantity_of(series: Series) -> Quantity:
    """The function that computes the series. Raises `LedgerError` for a name that is none."""
    if series.quantity is None or series.quantity not in KNOWN:
        raise LedgerError("malformed-file", f"series {series.name!r}: unknown quantity {series.quantity!r}")
    return KNOWN[series.quantity]


def extreme(
    series: Series, estimates: Sequence[Estimate], names: Sequence[str] = (), published: float | None = None
) -> Estimate:
    """What several values come to; one that was not measured, if there is any, as nobody knows what it would change.

    `names` are those of the points, and `published` is what the farthest is sought from.
    """
    unknown = [estimate for estimate in estimates if math.isnan(estimate.value)]
    if unknown or series.over is None:
        return (unknown or estimates)[0]
    if series.over == "trend":
        return Estimate(rank_correlation([estimate.value for estimate in estimates]), None)
    if series.over == "mean":
        return Estimate(sum(estimate.value for estimate in estimates) / len(estimates), None)
    if series.over == "first":
        reached = [name for name, estimate in zip(names, estimates, strict=True) if estimate.value >= series.constant]
        return Estimate(float(reached[0].rpartition(":")[2]) if reached else math.nan, None)
    if series.over == "farthest":
        return max(estimates, key=lambda estimate: abs(estimate.value - (published or 0.0)))
    return EXTREMES[series.over](estimates, key=lambda estimate: estimate.value)


def rank_correlation(values: Sequence[float]) -> float:
    """Kendall's tau of values in their order: the pairs that rise less those that fall, as a share of all."""
    signs = [(later > earlier) - (later < earlier) for earlier, later in combinations(values, 2)]
    return sum(signs) / len(signs) if signs else math.nan


def compared(series: Series, here: Estimate, there: Estimate) -> Estimate:
    """The ratio of two values, or in percent how much one differs from the other, or is more than it."""
    if not there.value:
        return Estimate(math.nan, None)
    ratio = Estimate(here.value / there.value, None).with_relative(here.relative, there.relative)
    if series.compare == "ratio":
        return ratio
    more = 100 * (ratio.value - 1)
    return Estimate(more if series.compare == "more" else abs(more), None if ratio.ci95 is None else 100 * ratio.ci95)

"""Operating points that a row requires, and the computation of its value from their runs."""

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
from hostnet.ledger.curve_quantities import CURVE_QUANTITIES
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
    **CURVE_QUANTITIES,
    **CLUSTER_QUANTITIES,
    **PACKET_QUANTITIES,
    **FABRIC_QUANTITIES,
    **NETWORK_QUANTITIES,
    **CONTROL_QUANTITIES,
    **POWER_QUANTITIES,
    **TRAINING_QUANTITIES,
}
"""All quantities that `study.toml` can name."""

EXTREMES = {"least": min, "most": max}
"""Selection of one value among all points of a family."""


@dataclass(frozen=True)
class Pair:
    """Operating points that one value of a quantity is computed from."""

    point: str
    baseline: str | None = None

    def names(self) -> set[str]:
        """Returns the names of the operating points."""
        return {name for name in (self.point, self.baseline) if name is not None}


@dataclass(frozen=True)
class Dependencies:
    """Operating points of a row: of one value or of several, and of the values that they are compared with.

    If there are several values, `each` has one comparison for each of them.
    """

    values: tuple[Pair, ...]
    against: Pair | None = None
    each: tuple[Pair, ...] = ()

    def names(self) -> set[str]:
        """Returns the names of all operating points."""
        pairs = (*self.values, *self.each, *(() if self.against is None else (self.against,)))
        return {name for pair in pairs for name in pair.names()}


def dependencies_of(study: Study, series: Series, x: str) -> Dependencies | None:
    """Returns the operating points that a value of the series requires; None if the series is not simulated."""
    if series.quantity is None or series.point is None:
        return None
    if series.over is not None:
        places = [point.x for point in expand(series.point, study.families)]
        values = tuple(pair_of(study, series.point, series.baseline, place) for place in places)
        if series.against is None:
            return Dependencies(values)
        return Dependencies(values, each=tuple(pair_against(study, series.against, place) for place in places))
    value = pair_of(study, series.point, series.baseline, x)
    if series.against is None:
        return Dependencies((value,))
    return Dependencies((value,), pair_against(study, series.against, x))


def pair_against(study: Study, against: Against, x: str) -> Pair:
    """Returns the operating points that a value at `x` is compared with."""
    there = point_before(study, against.point, x).x if against.previous else x
    return pair_of(study, against.point, against.baseline, there)


def pair_of(study: Study, point: str, baseline: str | None, x: str) -> Pair:
    """Returns a point and its baseline at `x`."""
    return Pair(resolve_point(study, point, x), None if baseline is None else resolve_point(study, baseline, x))


def resolve_point(study: Study, name: str, x: str) -> str:
    """Returns the operating point of `name` at `x`: that of a family at `x`, or a single point."""
    points = expand(name, study.families)
    return points[0].name if len(points) == 1 else points[index_of_x(study, name, points, x)].name


def point_before(study: Study, name: str, x: str) -> OperatingPoint:
    """Returns the operating point of a family before that at `x`."""
    points = expand(name, study.families)
    place = index_of_x(study, name, points, x)
    if place == 0:
        raise LedgerError("malformed-file", f"{study.name}: {name!r} has no operating point before x = {x}")
    return points[place - 1]


def index_of_x(study: Study, name: str, points: Sequence[OperatingPoint], x: str) -> int:
    """Returns the index of the point at `x`."""
    place = next((place for place, point in enumerate(points) if point.x == x), None)
    if place is None:
        raise LedgerError("malformed-file", f"{study.name}: {name!r} has no operating point for x = {x}")
    return place


def points_needed(study: Study, panels: tuple[Panel, ...]) -> set[str]:
    """Returns the names of the operating points that the rows of the panels require."""
    return {
        name
        for panel in panels
        for value in panel.rows()
        if (need := dependencies_of(study, series_of(panel, value), value.x)) is not None
        for name in need.names()
    }


def series_of(panel: Panel, value: Published) -> Series:
    """Returns the series of a published value."""
    return next(series for series in panel.series if series.name == value.series)


def estimate_of(
    series: Series, need: Dependencies, outcomes: Mapping[str, Outcome], published: float | None = None
) -> Estimate:
    """Computes the value of a row. `published` is the reference for `farthest`."""
    estimates = [quantity_at(series, pair, outcomes) for pair in need.values]
    others = need.each if need.against is None else (need.against,)
    if others and series.against is not None:
        other = replace(
            series,
            quantity=series.against.quantity or series.quantity,
            workload=series.against.workload or series.workload,
        )
        found = [quantity_at(other, pair, outcomes) for pair in others]
        estimates = [relation_of(series, here, there) for here, there in zip(estimates, found, strict=True)]
    return extreme(series, estimates, [pair.point for pair in need.values], published)


def quantity_at(series: Series, pair: Pair, outcomes: Mapping[str, Outcome]) -> Estimate:
    """Computes one value of the quantity of a series."""
    baseline = None if pair.baseline is None else outcomes[pair.baseline]
    return quantity_of(series)(series, outcomes[pair.point], baseline)


def quantity_of(series: Series) -> Quantity:
    """Returns the function that computes the quantity of a series; raises `LedgerError` if it is unknown."""
    if series.quantity is None or series.quantity not in KNOWN:
        raise LedgerError("malformed-file", f"series {series.name!r}: unknown quantity {series.quantity!r}")
    return KNOWN[series.quantity]


def extreme(
    series: Series, estimates: Sequence[Estimate], names: Sequence[str] = (), published: float | None = None
) -> Estimate:
    """Reduces several values to one; if any of them was not measured, the result is that one.

    `names` are those of the points, and `published` is the reference for `farthest`.
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
    """Returns Kendall's tau of the values in their order: rising minus falling pairs, as a share of all."""
    signs = [(later > earlier) - (later < earlier) for earlier, later in combinations(values, 2)]
    return sum(signs) / len(signs) if signs else math.nan


def relation_of(series: Series, here: Estimate, there: Estimate) -> Estimate:
    """Returns the ratio of two values, or their relative difference in %, signed for "more"."""
    if not there.value:
        return Estimate(math.nan, None)
    ratio = Estimate(here.value / there.value, None).with_relative(here.relative, there.relative)
    if series.compare == "ratio":
        return ratio
    more = 100 * (ratio.value - 1)
    return Estimate(more if series.compare == "more" else abs(more), None if ratio.ci95 is None else 100 * ratio.ci95)

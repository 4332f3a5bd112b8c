"""Measured curves of latency under load: what is fitted, and what a server is judged by."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hostnet.calibration.measurement import Conditions, Measurement, error_at
from hostnet.curves.errors import CurveErrors, curve_errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hostnet.curves.trace import Trace

POINTS_MIN = 5
"""Minimum number of points of a curve; fewer latencies say nothing of its shape."""

BANDWIDTH_SIGMA = 0.02
"""Relative uncertainty of the bandwidth of a point: where a curve is steep, it makes the latency uncertain."""

IDLE_SHARE = 0.05
"""Fraction of the maximum bandwidth below which a latency counts as that without load."""

FRACTIONS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
"""Fractions of the maximum bandwidth near which points are taken from a curve that has more of them."""

FITTED = (0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Fractions of the maximum bandwidth near which points are fitted; each costs a run per trial of the parameters."""

RISE_MAX = 40
"""Largest ratio of two latencies of a curve; more are mixed units."""

GAP_MAX = 100
"""Largest ratio of two adjacent bandwidths of a curve; more are mixed units."""

PROBE = "random"
"""Order of the accesses of a pointer chase."""


@dataclass(frozen=True)
class Spot:
    """A value and its place in the file."""

    value: float
    place: str


@dataclass(frozen=True)
class CurvePoint:
    """A measured point of a curve."""

    bandwidth_gb_per_s: float
    latency_ns: float
    place: str


@dataclass(frozen=True)
class MeasuredCurve:
    """A measured curve: latency over bandwidth at one share of reads."""

    file: str
    load: Conditions
    """Cores that load the memory besides the one that measures, and what both do."""
    most: Spot
    """Maximum bandwidth in GB/s."""
    idle: Spot | None
    """Latency without load in ns, if it was measured."""
    latencies: tuple[tuple[float, Spot], ...]
    """Latencies in ns by fraction of the maximum bandwidth."""

    @property
    def reads(self) -> float:
        """Share of reads in the traffic, 0.5 to 1."""
        return self.load.reads

    def measurements(self) -> list[Measurement]:
        """Returns what is fitted: both ends of the curve, and some of the latencies between them."""
        found = [Measurement("bandwidth", self.most.value, self.load.at_fraction(1.0), self.file, self.most.place)]
        if self.idle is not None:
            idle = Conditions(probe=self.load.probe)
            found.append(Measurement("latency", self.idle.value, idle, self.file, self.idle.place))
        chosen = {nearest((own for own, _ in self.latencies), each) for each in FITTED} if self.latencies else set()
        for index, (fraction, spot) in enumerate(self.latencies):
            if fraction not in chosen:
                continue
            load, slack = self.load.at_fraction(fraction), BANDWIDTH_SIGMA * self.steepness(index)
            found.append(Measurement("latency", spot.value, load, self.file, spot.place, slack=slack))
        return found

    def steepness(self, index: int) -> float:
        """Returns the relative growth of latency per relative growth of bandwidth at one of the latencies."""
        last = len(self.latencies) - 1
        (low, before), (high, after) = self.latencies[max(index - 1, 0)], self.latencies[min(index + 1, last)]
        return abs(math.log(after.value / before.value) / math.log(high / low)) if high > low else 0.0

    def errors(self, simulated: Trace) -> CurveErrors:
        """Returns the errors of a simulated curve."""
        return curve_errors(
            [] if self.idle is None else [simulated.idle_ns / self.idle.value - 1],
            [simulated.most_gb_per_s / self.most.value - 1],
            [(fraction, simulated.latency_ns(fraction) / spot.value - 1) for fraction, spot in self.latencies],
        )


@dataclass(frozen=True)
class JudgedCurve:
    """Errors of a server before and after the fit, for one measured curve."""

    reads: float
    fitted: bool
    """True if the fit saw the curve."""
    before: CurveErrors
    after: CurveErrors

    @property
    def role(self) -> str:
        """Role of the curve: "fitted" or "judged"."""
        return "fitted" if self.fitted else "judged"

    def as_dict(self) -> dict[str, Any]:
        """Returns the errors, ready for JSON."""
        errors = {"before": self.before.as_dict(), "after": self.after.as_dict()}
        return {"reads": self.reads, "fitted": self.fitted, **errors}


def curve_of_points(file: str, load: Conditions, points: Sequence[CurvePoint]) -> MeasuredCurve:
    """Returns the curve through measured points, whose maximum bandwidth is that of the highest of them.

    Points beyond it, at which bandwidth falls while latency grows, are left out. Of many points, those nearest to some
    fractions of the maximum bandwidth are kept.

    Raises:
        DataError: The points have several units; the message names one of them.
    """
    check_latencies(file, [Spot(point.latency_ns, point.place) for point in points])
    check_bandwidths(file, points)
    branch: list[CurvePoint] = []
    for point in sorted(points, key=lambda one: (one.latency_ns, one.bandwidth_gb_per_s)):
        if not branch or point.bandwidth_gb_per_s > branch[-1].bandwidth_gb_per_s:
            branch.append(point)
    most = branch[-1].bandwidth_gb_per_s
    loaded = {point.bandwidth_gb_per_s / most: point for point in branch[:-1]}
    loaded = {fraction: point for fraction, point in loaded.items() if fraction > IDLE_SHARE}
    if len(loaded) > len(FRACTIONS):
        loaded = {near: loaded[near] for near in sorted({nearest(loaded, each) for each in FRACTIONS})}
    latencies = tuple((round(fraction, 4), Spot(point.latency_ns, point.place)) for fraction, point in loaded.items())
    first = branch[0]
    idle = Spot(first.latency_ns, first.place) if first.bandwidth_gb_per_s <= IDLE_SHARE * most else None
    return MeasuredCurve(file, load, Spot(most, branch[-1].place), idle, latencies)


def check_latencies(file: str, spots: Sequence[Spot]) -> None:
    """Checks that latencies of a curve have one unit.

    Raises:
        DataError: They do not; the message names the place.
    """
    least, far = min(spots, key=lambda spot: spot.value), max(spots, key=lambda spot: spot.value)
    if far.value > RISE_MAX * least.value:
        raise error_at(
            file,
            far.place,
            f"latency {far.value:.6g} ns is {far.value / least.value:.0f} times that of line {least.place}, "
            f"{least.value:.6g} ns; a curve rises by at most {RISE_MAX} times. Are the units mixed?",
            "implausible-data",
        )


def check_bandwidths(file: str, points: Sequence[CurvePoint]) -> None:
    """Checks that bandwidths of a curve have one unit.

    Raises:
        DataError: They do not; the message names the place.
    """
    for less, more in pairwise(sorted(points, key=lambda one: one.bandwidth_gb_per_s)):
        if more.bandwidth_gb_per_s > GAP_MAX * less.bandwidth_gb_per_s > 0:
            raise error_at(
                file,
                more.place,
                f"bandwidth {more.bandwidth_gb_per_s:.6g} GB/s is "
                f"{more.bandwidth_gb_per_s / less.bandwidth_gb_per_s:.0f} times that of line {less.place}, the next "
                f"lower one, {less.bandwidth_gb_per_s:.6g} GB/s. Are the units mixed?",
                "implausible-data",
            )


def nearest(fractions: Iterable[float], wanted: float) -> float:
    """Returns the fraction that is nearest to the wanted one."""
    return min(fractions, key=lambda one: abs(one - wanted))


def check_curve(curve: MeasuredCurve) -> None:
    """Checks that a curve has enough points, and one unit of latency.

    Raises:
        DataError: It does not; the message names the place.
    """
    spots = [spot for _, spot in curve.latencies] + ([curve.idle] if curve.idle is not None else [])
    share = f"{100 * curve.reads:.3g} % reads"
    if len(spots) + 1 < POINTS_MIN:
        count = f"{len(spots) + 1} point{'s' * (len(spots) > 0)}"
        raise error_at(
            curve.file, curve.most.place, f"the curve at {share} has {count}; it needs at least {POINTS_MIN}"
        )
    check_latencies(curve.file, spots)

"""Traces curves by fractions of their own maximum bandwidth, so that they compare with measured ones."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hostnet.curves.points import (
    LIGHTEST,
    PROBE_GAP_NS,
    gap_of,
    gaps_of,
    load_workload,
    point_of,
    probe_workload,
)
from hostnet.running.engines import evaluate
from hostnet.units import LINE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hostnet._core import Plan
    from hostnet.curves.points import Point, Setting
    from hostnet.running.engines import Progress
    from hostnet.running.results import Results, Source

PROBE_GB_PER_S = LINE_BYTES / PROBE_GAP_NS
"""Bandwidth of the probe core, in GB/s."""

NORMAL_95 = 1.96
"""Standard errors per half-width of a 95 % confidence interval."""

BEND = (0.95, 1.0, 1.05, 1.15)
"""Loads that are offered beside those asked for, as fractions of the maximum bandwidth: there the curve bends."""


@dataclass(frozen=True)
class Trace:
    """A simulated curve: its points from the lightest load to the heaviest."""

    points: tuple[Point, ...]
    config_hash: str
    """Hash of the configuration of its heaviest load."""
    events: int
    """Events of all of its runs."""

    @property
    def idle_ns(self) -> float:
        """Latency at the lightest load, in ns."""
        return self.points[0].latency_ns

    @property
    def most_gb_per_s(self) -> float:
        """Maximum bandwidth at any load, in GB/s."""
        return max(point.bandwidth_gb_per_s for point in self.points)

    def latency_ns(self, fraction: float) -> float:
        """Returns the latency at a fraction of the maximum bandwidth, in ns.

        It is linear in bandwidth between the two nearest loads of the branch up to the maximum bandwidth; heavier
        loads, at which bandwidth decreases again, are left out.
        """
        branch = rising(self.points)
        wanted = fraction * branch[-1].bandwidth_gb_per_s
        place = bisect_left([point.bandwidth_gb_per_s for point in branch], wanted)
        if place == 0:
            return branch[0].latency_ns
        low, high = branch[place - 1], branch[place]
        share = (wanted - low.bandwidth_gb_per_s) / (high.bandwidth_gb_per_s - low.bandwidth_gb_per_s)
        return low.latency_ns + share * (high.latency_ns - low.latency_ns)

    def latency_error(self, fraction: float) -> float:
        """Returns the relative standard error of the latency at the load nearest to a fraction."""
        wanted = fraction * self.most_gb_per_s
        point = min(rising(self.points), key=lambda one: abs(one.bandwidth_gb_per_s - wanted))
        return point.latency_ci95 / NORMAL_95 / point.latency_ns


def rising(points: Iterable[Point]) -> list[Point]:
    """Returns the points at each of which the bandwidth exceeds that of all lighter loads."""
    branch: list[Point] = []
    for point in points:
        if not branch or point.bandwidth_gb_per_s > branch[-1].bandwidth_gb_per_s:
            branch.append(point)
    return branch


@dataclass(frozen=True)
class Wanted:
    """A curve to trace: a server with probe and engine, a share of reads, and fractions of the maximum bandwidth."""

    setting: Setting
    reads: float
    fractions: tuple[float, ...]
    run: Mapping[str, str | int]
    """Seed, warm-up and duration of a point."""
    bend: tuple[float, ...] = BEND
    """Loads beside the fractions, as fractions of the maximum bandwidth."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Values of the server that differ, by dotted path."""

    def plan(self, gap_ns: float) -> tuple[Plan, Source]:
        """Returns the run of one point."""
        server, cores = self.setting.server, self.setting.load_cores
        load = load_workload(server, 1, cores, self.reads, gap_ns)
        return server.configuration(
            {"load": load, "probe": probe_workload(server, self.setting.probe)}, dict(self.run), self.values
        )

    def loads(self, most_gb_per_s: float) -> list[float]:
        """Returns the inject delays in ns at which the load and the probe offer the fractions, lightest first."""
        lightest = gaps_of(self.setting, self.reads)[-1]
        offers = sorted(fraction for fraction in {*self.fractions, *self.bend} if fraction > LIGHTEST)
        rates = [max(offer * most_gb_per_s - PROBE_GB_PER_S, LIGHTEST * most_gb_per_s) for offer in offers]
        return [lightest, *(round(gap_of(rate, self.setting.load_cores, self.reads), 3) for rate in rates)]


def trace(wanted: Sequence[Wanted], threads: int | None = None, progress: Progress | None = None) -> list[Trace]:
    """Traces curves: first each without inject delay, which gives its maximum bandwidth, then the fractions of that.

    All curves have the engine of the first.

    Raises:
        ConfigError: A setting is out of range.
        KeyboardInterrupt: The progress callback stopped the runs.
    """
    for curve in wanted:
        curve.setting.check()
    heaviest = run_points(wanted, [[0.0]] * len(wanted), threads, progress)
    most = [point_of(curve.reads, 0.0, results[0]) for curve, results in zip(wanted, heaviest, strict=True)]
    delays = [curve.loads(point.bandwidth_gb_per_s) for curve, point in zip(wanted, most, strict=True)]
    lighter = run_points(wanted, delays, threads, progress)
    traces = []
    for curve, own, results, last, end in zip(wanted, delays, lighter, heaviest, most, strict=True):
        points = [point_of(curve.reads, gap_ns, result) for gap_ns, result in zip(own, results, strict=True)]
        events = sum(int(result.summary.get("events", 0)) for result in (*results, *last))
        traces.append(Trace((*points, end), str(last[0].summary["config_hash"]), events))
    return traces


def run_points(
    wanted: Sequence[Wanted], delays: Sequence[Sequence[float]], threads: int | None, progress: Progress | None
) -> list[list[Results]]:
    """Runs every curve at its inject delays in ns, all of them concurrently."""
    if not wanted:
        return []
    plans = [curve.plan(gap_ns) for curve, own in zip(wanted, delays, strict=True) for gap_ns in own]
    results = iter(evaluate(wanted[0].setting.engine, plans, threads, progress))
    return [[next(results) for _ in own] for own in delays]

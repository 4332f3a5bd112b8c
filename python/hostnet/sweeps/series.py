"""Results of a sweep as plots and pages show them: a value for every combination of the swept parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hostnet.cluster_view import TAIL
from hostnet.report.subjects import subject_of
from hostnet.running.seeds import mean_of
from hostnet.sweeps.scale import is_numeric
from hostnet.units import readable_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from hostnet.sweeps.axis import Axis

    Choice = tuple[int, ...]
    Dot = tuple[float | None, float | None]

COUNT = "count"
"""Column with the number of requests of a class."""


@dataclass(frozen=True)
class Metric:
    """Metric of a y axis; `ci95` is the column of its confidence interval, empty without one."""

    name: str
    column: str
    ci95: str
    what: str
    unit: str
    always: bool = True
    """True if it is plotted even without any value."""
    logarithmic: bool = False
    """True if the axis is logarithmic for values far apart."""

    @property
    def label(self) -> str:
        """Title of the y axis."""
        return f"{self.what}, {self.unit}" if self.unit else self.what


METRICS = (
    Metric("throughput", "throughput_gb_per_s", "throughput_ci95", "throughput", "GB/s"),
    Metric("latency", "latency_mean_ns", "latency_ci95", "latency of a line", "ns"),
    Metric("operations", "operations_per_s", "operations_ci95", "operations", "per s", always=False),
    Metric("leaks", "ddio_leak_ratio", "", "leaked lines / lines written", "", always=False),
)
"""Metrics of workloads."""

METRICS_OF_HOSTS = (
    Metric("goodput", "goodput_gbps", "goodput_ci95", "goodput", "Gbps"),
    Metric("p99", "p99_us", "", "P99 of requests", "µs", always=False, logarithmic=True),
    Metric("drops", "nic_drop_percent", "", "packets that NICs drop", "%", always=False),
    Metric("power", "cores_w", "", "power of cores", "W", always=False),
    Metric("iteration", "iteration_us", "", "time of an iteration", "µs", always=False, logarithmic=True),
)
"""Metrics of traffic classes."""

METRICS_OF_CHIPS = (
    Metric("payload", "application_gb_per_s", "", "payload in and out", "GB/s"),
    Metric("latency", "latency_mean_cycles", "", "latency of an operation", "cycles"),
    Metric("noc", "noc_gb_per_s", "", "on the network on the chip", "GB/s"),
)
"""Metrics of chips."""

MEASURED = {"workload": METRICS, "class": METRICS_OF_HOSTS, "op": METRICS_OF_CHIPS}
"""Metrics by subject of the rows."""


@dataclass(frozen=True)
class Sweep:
    """Results of a workload, or a traffic class, for every combination of the plotted parameters."""

    workload: str
    axes: tuple[Axis, ...]
    dots: dict[tuple[Choice, str], Dot]
    """Value and half-width of its confidence interval, by combination and column."""
    measured: tuple[Metric, ...] = METRICS
    """Metrics that may be plotted."""

    def dot(self, choice: Choice, metric: Metric) -> Dot:
        """Returns a value; None if it is missing."""
        return self.dots.get((choice, metric.column), (None, None))

    def values(self, metric: Metric) -> list[float]:
        """Returns all values of a metric that are known."""
        return [value for (_, column), (value, _) in self.dots.items() if column == metric.column and value is not None]

    def ends(self, metric: Metric, *, intervals: bool) -> tuple[float, float] | None:
        """Returns the smallest and the largest value of a metric, or end of an interval; None without any value."""
        known = [dot for (_, column), dot in self.dots.items() if column == metric.column]
        sides = (-1, 1) if intervals else (0,)
        ends = [value + side * (ci95 or 0.0) for value, ci95 in known if value is not None for side in sides]
        return (min(ends), max(ends)) if ends else None

    @property
    def metrics(self) -> list[Metric]:
        """Metrics that are plotted: without those that have no value, or of which nothing happened at any point."""
        return [metric for metric in self.measured if metric.always or any(self.values(metric))]

    def in_readable_units(self) -> Sweep:
        """Returns the results with every metric in a unit in which its largest value is readable."""
        units = {
            metric.column: readable_unit(metric.unit, max(map(abs, self.values(metric)), default=0.0))
            for metric in self.measured
        }
        dots = {key: _scaled(dot, units[key[1]][1]) for key, dot in self.dots.items()}
        measured = tuple(replace(metric, unit=units[metric.column][0]) for metric in self.measured)
        return replace(self, dots=dots, measured=measured)


def _scaled(dot: Dot, factor: float) -> Dot:
    """Returns a value and its interval in another unit."""
    value, ci95 = dot
    return None if value is None else value * factor, None if ci95 is None else ci95 * factor


def ordered_axes(axes: Sequence[Axis]) -> tuple[Axis, ...]:
    """Returns the swept parameters as a picture has them: x axis, lines, panels, and the rest.

    A parameter with a single value is left out if there is another one. The first quantity comes first, because only
    along a quantity may a line be drawn; the others keep their order.
    """
    drawn = [axis for axis in axes if len(axis.values) > 1] or list(axes[:1])
    along = next((axis for axis in drawn if is_numeric(axis)), drawn[0])
    return (along, *(axis for axis in drawn if axis is not along))


def columns_of(names: Sequence[str], axes: Sequence[Axis]) -> list[str]:
    """Returns the columns of a table that `sweeps_of` reads."""
    subject = subject_of(names)
    metrics = [column for metric in MEASURED[subject] for column in (metric.column, metric.ci95) if column]
    return [name for name in dict.fromkeys((subject, *(axis.path for axis in axes), *metrics, COUNT)) if name in names]


def sweeps_of(table: pa.Table, axes: tuple[Axis, ...]) -> list[Sweep]:
    """Returns the values of every workload, in the order of the table; several seeds become their mean."""
    subject = subject_of(table.column_names)
    metrics = MEASURED[subject]
    measured = [metric for metric in metrics if table[metric.column].null_count < table.num_rows]
    content: dict[str, list[Any]] = table.select(columns_of(table.column_names, axes)).to_pydict()
    places = [{value: index for index, value in enumerate(axis.columns)} for axis in axes]
    chosen = [[place[value] for value in content[axis.path]] for axis, place in zip(axes, places, strict=True)]
    found: dict[str, dict[tuple[Choice, str], list[Dot]]] = {}
    for row, (workload, *choice) in enumerate(zip(content[subject], *chosen, strict=True)):
        of_workload = found.setdefault(workload, {})
        for metric in measured:
            of_workload.setdefault((tuple(choice), metric.column), []).append(_dot(content, metric, row))
    return [
        Sweep(workload, axes, {key: _mean(dots) for key, dots in of_workload.items()}, metrics)
        for workload, of_workload in found.items()
    ]


def _dot(content: dict[str, list[Any]], metric: Metric, row: int) -> Dot:
    """Returns a value and its interval. A percentile that no request lies beyond is no value."""
    value = content[metric.column][row]
    if is_too_few(metric.column, content[COUNT][row] if COUNT in content else None):
        value = None
    return value, content[metric.ci95][row] if metric.ci95 else None


def is_too_few(column: str, requests: int | None) -> bool:
    """Returns True if there were too few requests for a percentile."""
    return requests is not None and column in TAIL and requests < TAIL[column][1]


def _mean(dots: Sequence[Dot]) -> Dot:
    """Returns a single value with its own interval, or the mean over several seeds with its interval."""
    if len(dots) == 1:
        return dots[0]
    mean = mean_of([value for value, _ in dots])
    return mean["mean"], mean["ci95"]

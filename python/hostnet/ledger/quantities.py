"""Computes plotted quantities from the summary of a run, as the publication computed them from hardware counters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hostnet.ledger.errors import LedgerError
from hostnet.ledger.panels import ALL, Series
from hostnet.units import LINE_BYTES


@dataclass(frozen=True)
class Estimate:
    """A value and the half-width of its 95 % confidence interval in the same unit; None if unknown."""

    value: float
    ci95: float | None

    @property
    def relative(self) -> float | None:
        """Half-width as a share of the value."""
        return None if self.ci95 is None or self.value == 0 else abs(self.ci95 / self.value)

    def scaled(self, factor: float) -> Estimate:
        """Returns the estimate multiplied by a factor."""
        return Estimate(self.value * factor, None if self.ci95 is None else self.ci95 * abs(factor))

    def with_relative(self, *shares: float | None) -> Estimate:
        """Returns the value with a half-width from the relative half-widths of its inputs (first order)."""
        known = [share for share in shares if share is not None]
        return Estimate(self.value, abs(self.value) * math.hypot(*known) if known else None)


@dataclass(frozen=True)
class Outcome:
    """Results of an operating point: a view of its summary."""

    name: str
    summary: Mapping[str, Any]

    @property
    def skipped(self) -> str | None:
        """Reason why the point was not run, if it was skipped."""
        reason: str | None = self.summary.get("skipped")
        return reason

    def row(self, table: str, **keys: object) -> Mapping[str, Any]:
        """Returns the row of a table whose columns have these values; raises `LedgerError` if there is none."""
        for row in self.summary.get(table, ()):
            if all(row.get(column) == value for column, value in keys.items()):
                return dict(row)
        wanted = ", ".join(f"{column} {value!r}" for column, value in keys.items())
        raise LedgerError("malformed-file", f"the run of {self.name} has no row in table {table!r} with {wanted}")

    def workload(self, name: str | None) -> Mapping[str, Any]:
        """Returns the row of a workload."""
        return self.row("workloads", workload=name)

    def domain(self, name: str | None, workload: str | None) -> Mapping[str, Any]:
        """Returns the row of a domain and a workload over the whole machine. A single workload is all of them."""
        alone = len(self.summary.get("workloads", ())) == 1
        return self.row("domains", domain=name, part="all", workload=ALL if alone else workload)

    def channels(self) -> Sequence[Mapping[str, Any]]:
        """Returns the rows of single channels."""
        return [row for row in self.summary.get("channels", ()) if row["channel"] >= 0]

    def throughput(self, workload: str | None) -> Estimate:
        """Returns the throughput of a workload, in GB/s."""
        row = self.workload(workload)
        return Estimate(number(row, "throughput_gb_per_s"), row.get("throughput_ci95"))


Quantity = Callable[[Series, Outcome, Outcome | None], Estimate]


def number(row: Mapping[str, Any], column: str) -> float:
    """Returns a measured value; NaN if it is missing."""
    value = row[column]
    return math.nan if value is None else float(value)


def traffic(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the DRAM traffic that a workload causes, in GB/s."""
    row = run.workload(series.workload)
    value = number(row, "read_gb_per_s") + number(row, "write_gb_per_s")
    return Estimate(value, None).with_relative(run.throughput(series.workload).relative)


def degradation(series: Series, run: Outcome, alone: Outcome | None) -> Estimate:
    """Returns the throughput alone over the throughput together with other workloads."""
    isolated, together = needed(series, alone).throughput(series.workload), run.throughput(series.workload)
    ratio = isolated.value / together.value if together.value else math.nan
    return Estimate(ratio, None).with_relative(isolated.relative, together.relative)


def latency(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the mean time that a credit of the domain is held, in ns."""
    return measured(series, run, run.domain(series.domain, series.workload), "latency_mean_ns", "latency_ci95")


def latency_inflation(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the latency minus that of the baseline, in ns."""
    now, before = latency(series, run, None), latency(series, needed(series, base), None)
    known = [estimate.ci95 for estimate in (now, before) if estimate.ci95 is not None]
    return Estimate(now.value - before.value, math.hypot(*known) if known else None)


def p2m_latency(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the mean occupancy times 64 B over the rate of the application, in ns."""
    rate_gb_per_s = number(run.workload(series.workload), "app_gb_per_s")
    occupied = in_use(series, run, None)
    value = occupied.value * LINE_BYTES / rate_gb_per_s if rate_gb_per_s else math.nan
    return Estimate(value, None).with_relative(occupied.relative, run.throughput(series.workload).relative)


def in_use(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the mean number of credits in use."""
    return measured(series, run, run.domain(series.domain, series.workload), "in_use_mean", "in_use_ci95")


def capacity(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the number of credits of the domain."""
    return Estimate(number(run.domain(series.domain, series.workload), "capacity"), None)


def rpq_occupancy(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the mean occupancy of the read pending queue per channel, in entries."""
    queues = measured(series, run, run.domain("RPQ", ALL), "in_use_mean", "in_use_ci95")
    return mean_over_channels(run, "rpq_mean", queues.scaled(1 / max(len(run.channels()), 1)))


def wpq_full(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the share of time that the write pending queue is full, as a mean over channels, in %."""
    queues = measured(series, run, run.domain("WPQ", ALL), "over_threshold_share", "over_threshold_ci95")
    return mean_over_channels(run, "wpq_full_share", queues).scaled(100)


def row_miss_ratio(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the activations for reads per line read, in %."""
    return measured(series, run, run.row("channels", channel=-1), "row_miss_ratio", "row_miss_ci95").scaled(100)


def measured(series: Series, run: Outcome, row: Mapping[str, Any], column: str, ci95_column: str) -> Estimate:
    """Returns a column with its half-width, or with the relative one of the throughput if it is unknown."""
    estimate = Estimate(number(row, column), row.get(ci95_column))
    if estimate.ci95 is not None:
        return estimate
    return estimate.with_relative(run.throughput(series.workload).relative)


def mean_over_channels(run: Outcome, column: str, queues: Estimate) -> Estimate:
    """Returns the mean of a column over the channels, with the half-width of the queues per channel."""
    values = [number(row, column) for row in run.channels()]
    if not values:
        raise LedgerError("malformed-file", f"the run of {run.name} has no rows in table 'channels'")
    return Estimate(sum(values) / len(values), queues.ci95)


def needed(series: Series, baseline: Outcome | None) -> Outcome:
    """Returns the baseline; raises `LedgerError` if there is none."""
    if baseline is None:
        raise LedgerError("malformed-file", f"series {series.name!r}: quantity {series.quantity!r} needs a baseline")
    return baseline


QUANTITIES: dict[str, Quantity] = {
    function.__name__: function
    for function in (
        traffic,
        degradation,
        latency,
        latency_inflation,
        p2m_latency,
        in_use,
        capacity,
        rpq_occupancy,
        wpq_full,
        row_miss_ratio,
    )
}
"""Quantities of servers that `study.toml` can name."""

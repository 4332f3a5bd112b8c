"""Quantities of applications, caches and DDIO."""

from __future__ import annotations

import math

from hostnet.ledger.panels import Series
from hostnet.ledger.quantities import Estimate, Outcome, Quantity, measured, needed, number, traffic
from hostnet.units import BITS_PER_BYTE, LINE_BYTES

MEASURED_IN_ALL = -1
"""Channel number of the row with the total of all channels."""


def operations(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the operations of the application, in millions per second."""
    row = run.workload(series.workload)
    return Estimate(number(row, "operations_per_s"), row.get("operations_ci95")).scaled(1e-6)


def execution_time(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the time that all operations of the application take at the measured rate, in s."""
    row = run.workload(series.workload)
    return Estimate(number(row, "execution_time_s"), None).with_relative(operations(series, run, None).relative)


def operations_degradation(series: Series, run: Outcome, alone: Outcome | None) -> Estimate:
    """Returns the operations per second alone over those together with other workloads."""
    return ratio(operations(series, needed(series, alone), None), operations(series, run, None))


def time_degradation(series: Series, run: Outcome, alone: Outcome | None) -> Estimate:
    """Returns the execution time together with other workloads over that alone."""
    return ratio(execution_time(series, run, None), execution_time(series, needed(series, alone), None))


def ratio(above: Estimate, below: Estimate) -> Estimate:
    """Returns the ratio of two estimates; NaN if the denominator is 0."""
    value = above.value / below.value if below.value else math.nan
    return Estimate(value, None).with_relative(above.relative, below.relative)


def traffic_degradation(series: Series, run: Outcome, alone: Outcome | None) -> Estimate:
    """Returns the DRAM traffic of a workload alone over that together, including prefetches."""
    return ratio(traffic(series, needed(series, alone), None), traffic(series, run, None))


def application_rate(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the data rate of the application, in GB/s."""
    return measured(series, run, run.workload(series.workload), "app_gb_per_s", "app_ci95")


def dma_rate(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the data rate of a device that generates DMA, in Gb/s."""
    return application_rate(series, run, None).scaled(BITS_PER_BYTE)


def dma_rate_ratio(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the data rate of a device that generates DMA over that of the baseline."""
    return ratio(dma_rate(series, run, None), dma_rate(series, needed(series, base), None))


def command_latency(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the median latency of the commands of a device, in ns."""
    return Estimate(number(run.workload(series.workload), "io_latency_p50_ns"), None)


def application_loss(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the relative loss of the data rate against the baseline, in %."""
    share = ratio(application_rate(series, run, None), application_rate(series, needed(series, base), None))
    return Estimate(100 * (1 - share.value), None if share.ci95 is None else 100 * share.ci95)


def memory_utilization(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the total DRAM traffic, in % of the theoretical maximum."""
    row = run.row("channels", channel=MEASURED_IN_ALL)
    used = number(row, "read_gb_per_s") + number(row, "write_gb_per_s")
    return Estimate(100 * used / series.peak if series.peak else math.nan, None).with_relative(
        run.throughput(series.workload).relative
    )


def llc_miss_ratio(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the LLC miss ratio of the cores of a workload, in %."""
    return Estimate(number(run.row("caches", workload=series.workload), "llc_miss_ratio"), None).scaled(100)


def ddio_miss_ratio(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the share of device writes whose line is not in the LLC, in %."""
    hits = number(run.row("caches", workload=series.workload), "ddio_hit_ratio")
    return Estimate(100 * (1 - hits), None)


def ddio_leak_ratio(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the device lines evicted from the LLC unread, per line written by devices, in %."""
    return Estimate(number(run.row("caches", workload=series.workload), "ddio_leak_ratio"), None).scaled(100)


def write_row_miss_ratio(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the activations for writes per line written, in %."""
    row = run.row("channels", channel=MEASURED_IN_ALL)
    return measured(series, run, row, "write_row_miss_ratio", "write_row_miss_ci95").scaled(100)


def activations_per_line(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the activations per line read or written."""
    row = run.row("channels", channel=MEASURED_IN_ALL)
    traffic_gb_per_s = number(row, "read_gb_per_s") + number(row, "write_gb_per_s")
    lines = traffic_gb_per_s * number(run.summary, "window_ns") / LINE_BYTES
    value = number(row, "activations") / lines if lines else math.nan
    return Estimate(value, None).with_relative(run.throughput(series.workload).relative)


APP_QUANTITIES: dict[str, Quantity] = {
    function.__name__: function
    for function in (
        operations,
        execution_time,
        operations_degradation,
        time_degradation,
        traffic_degradation,
        application_rate,
        dma_rate,
        dma_rate_ratio,
        command_latency,
        application_loss,
        memory_utilization,
        llc_miss_ratio,
        ddio_miss_ratio,
        ddio_leak_ratio,
        write_row_miss_ratio,
        activations_per_line,
    )
}
"""Quantities of applications that `study.toml` can name."""

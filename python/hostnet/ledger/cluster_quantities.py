"""Quantities of hosts and flows of clusters, from the summary and the tables of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from hostnet.ledger.panels import Series
from hostnet.ledger.quantities import Estimate, Outcome, Quantity, needed, number

BITS = 8


def only(run: Outcome, table: str) -> Mapping[str, Any]:
    """Returns the row of the only server of the cluster."""
    return run.row(table)


def flow_class(series: Series, run: Outcome) -> Mapping[str, Any]:
    """Returns the row of a traffic class."""
    return run.row("classes", **{"class": series.workload})


def goodput(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the goodput of a traffic class, in Gbps."""
    row = flow_class(series, run)
    return Estimate(number(row, "goodput_gbps"), row.get("goodput_ci95"))


def goodput_change(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the goodput minus that of the baseline, in Gbps."""
    here, there = goodput(series, run, None), goodput(series, needed(series, base), None)
    known = [estimate.ci95 for estimate in (here, there) if estimate.ci95 is not None]
    return Estimate(here.value - there.value, math.hypot(*known) if known else None)


def goodput_per_x(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the goodput in Gbps, divided by the x of the point."""
    return goodput(series, run, None).scaled(1 / float(run.name.rpartition(":")[2]))


def goodput_degradation(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the goodput of the baseline over the goodput."""
    there, here = goodput(series, needed(series, base), None), goodput(series, run, None)
    ratio = there.value / here.value if here.value else math.nan
    return Estimate(ratio, None).with_relative(here.relative, there.relative)


def goodput_loss(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the relative loss of goodput against the baseline, in %."""
    here, there = goodput(series, run, None), goodput(series, needed(series, base), None)
    ratio = here.value / there.value if there.value else math.nan
    share = Estimate(ratio, None).with_relative(here.relative, there.relative)
    return Estimate(100 * (1 - share.value), None if share.ci95 is None else 100 * share.ci95)


def nic_drops(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the packets dropped by the NIC, in % of received ones; the interval is that of a Poisson count."""
    row = flow_class(series, run)
    dropped = sum(number(row, f"nic_dropped_{reason}") for reason in ("full", "ring", "other"))
    return share_of_packets(dropped, number(row, "nic_received"))


def share_of_packets(count: float, packets: float) -> Estimate:
    """Returns a count in % of packets, with the half-width of a Poisson count."""
    if not packets:
        return Estimate(math.nan, None)
    return Estimate(100 * count / packets, 196 * math.sqrt(max(count, 1)) / packets)


def drops_before(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the drop ratio of the baseline over this one; a lower bound, because no drop counts as one."""
    here, there = flow_class(series, run), nic_drops(series, needed(series, base), None)
    least = 100 / number(here, "nic_received")
    value = max(nic_drops(series, run, None).value, least)
    return Estimate(there.value / value, None).with_relative(there.relative)


def timeouts(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the retransmission timeouts of a traffic class."""
    return Estimate(number(flow_class(series, run), "timeouts"), None)


def lost(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the packets of a traffic class that were dropped or retransmitted."""
    row = flow_class(series, run)
    keys = ("retransmitted_packets", "nic_dropped_full", "nic_dropped_ring", "nic_dropped_other", "fabric_dropped")
    return Estimate(sum(number(row, key) for key in keys), None)


def function_share(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the share of NIC function `constant` in the data written by all functions, in %."""
    written = {row["function"]: number(row, "written_gbps") for row in run.summary["functions"]}
    return Estimate(100 * written[int(series.constant)] / sum(written.values()), None)


def ddio_found(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the share of a class's device writes to the LLC whose line the LLC or an L2 had, in %."""
    row = run.row("caches", workload=series.workload)
    updates, allocations, of_cores = (
        number(row, column) for column in ("ddio_updates", "ddio_allocations", "ddio_core_hits")
    )
    return Estimate(100 * (updates + of_cores) / (updates + allocations), None)


def iio_occupancy(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the mean occupancy of the IIO write buffer, in lines."""
    return Estimate(number(only(run, "hosts"), "iio_write_occupancy"), None)


def iio_occupancy_peak(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the largest mean occupancy of the IIO write buffer in a step of the time series, in lines."""
    return Estimate(max(float(row["iio_write_occupancy"]) for row in run.summary["series"]), None)


def full_share(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the share of steps of the time series with a mean IIO write occupancy of at least `constant`, in %."""
    steps = [float(row["iio_write_occupancy"]) for row in run.summary["series"]]
    return Estimate(100 * sum(step >= series.constant for step in steps) / len(steps), None)


def iio_latency(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the mean time of a line in the IIO write buffer, in ns."""
    return Estimate(number(only(run, "hosts"), "iio_write_latency_ns"), None)


def pcie_bandwidth(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns B_S: the rate of lines entering the IIO write buffer times 64 B, in Gbps."""
    return Estimate(number(only(run, "hosts"), "iio_write_gbps"), None)


def pcie_overhead(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the relative excess of the PCIe bandwidth over the goodput, in %."""
    return Estimate(100 * (pcie_bandwidth(series, run, None).value / goodput(series, run, None).value - 1), None)


def little_error(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the occupancy of the IIO write buffer over its bandwidth times latency: 1 if Little's law holds."""
    lines_per_ns = pcie_bandwidth(series, run, None).value / BITS / 64
    return Estimate(
        iio_occupancy(series, run, None).value / (lines_per_ns * iio_latency(series, run, None).value), None
    )


def memory_bandwidth(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the DRAM traffic of a workload, or of all if none is named, in GB/s."""
    rows = [row for row in run.summary["memory"] if series.workload in (None, row["workload"])]
    return Estimate(sum(number(row, "gb_per_s") for row in rows), None)


def memory_of_all(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the total DRAM traffic, in GB/s."""
    return Estimate(sum(number(row, "gb_per_s") for row in run.summary["memory"]), None)


def memory_change(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the DRAM traffic of a workload minus that in the baseline, in GB/s."""
    before = memory_bandwidth(series, needed(series, base), None)
    return Estimate(memory_bandwidth(series, run, None).value - before.value, None)


def memory_degradation(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the DRAM traffic of a workload in the baseline over that here."""
    there, here = memory_bandwidth(series, needed(series, base), None), memory_bandwidth(series, run, None)
    return Estimate(there.value / here.value if here.value else math.nan, None)


def p2m_traffic(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the rate at which the NIC writes to memory, in GB/s."""
    return pcie_bandwidth(series, run, None).scaled(1 / BITS)


def c2m_traffic(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the DRAM traffic of a traffic class beyond the writes of the NIC, in GB/s."""
    return Estimate(memory_bandwidth(series, run, None).value - p2m_traffic(series, run, None).value, None)


def memory_share(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the share of a workload in the DRAM traffic, in %."""
    whole = memory_of_all(series, run, None).value
    return Estimate(100 * memory_bandwidth(series, run, None).value / whole if whole else math.nan, None)


def memory_utilisation(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the total DRAM traffic, in % of the theoretical maximum `peak`."""
    return Estimate(100 * memory_of_all(series, run, None).value / series.peak, None)


def memory_per_byte(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the DRAM traffic of a traffic class per byte of goodput."""
    rate = goodput(series, run, None)
    value = BITS * memory_bandwidth(series, run, None).value / rate.value if rate.value else math.nan
    return Estimate(value, None).with_relative(rate.relative)


def memory_per_request(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the DRAM traffic of a workload over its requests: `constant` lines per line read."""
    row = run.row("memory", workload=series.workload)
    expected = series.constant * number(row, "read_gb_per_s")
    return Estimate(number(row, "gb_per_s") / expected if expected else math.nan, None)


def core_time(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the busy time of network cores: softirq, system calls, copies and memory stalls, in %."""
    row = only(run, "hosts")
    kinds = ("softirq", "call", "copy", "stalled", "send")
    return Estimate(100 * sum(number(row, f"core_{kind}_share") for kind in kinds), None)


def credit_wait(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the share of time that the NIC waits for PCIe credits, in %."""
    return Estimate(100 * number(only(run, "hosts"), "nic_credit_wait_share"), None)


def nic_wait(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the 99th percentile of the time in the NIC buffer, in us."""
    return Estimate(number(only(run, "hosts"), "nic_buffered_p99_us"), None)


def rpc_latency(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns a percentile of the request latency, in us."""
    return Estimate(number(run.row("latencies", **{"class": series.workload}), f"{series.percentile}_us"), None)


def rpc_inflation(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the request latency minus that of the baseline, in us."""
    there = rpc_latency(series, needed(series, base), None)
    return Estimate(rpc_latency(series, run, None).value - there.value, None)


def rpc_ratio(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the request latency over that of the baseline."""
    there = rpc_latency(series, needed(series, base), None)
    return Estimate(rpc_latency(series, run, None).value / there.value, None)


def fairness(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns Jain's index of the goodput of the flows of a class."""
    rates = [float(row["goodput_gbps"]) for row in run.summary["flows"] if row["class"] == series.workload]
    squares = len(rates) * sum(rate * rate for rate in rates)
    return Estimate(sum(rates) ** 2 / squares if squares else math.nan, None)


CLUSTER_QUANTITIES: dict[str, Quantity] = {
    function.__name__: function
    for function in (
        goodput,
        goodput_change,
        goodput_per_x,
        goodput_degradation,
        goodput_loss,
        nic_drops,
        drops_before,
        timeouts,
        lost,
        function_share,
        ddio_found,
        iio_occupancy,
        iio_occupancy_peak,
        full_share,
        iio_latency,
        pcie_bandwidth,
        pcie_overhead,
        little_error,
        memory_bandwidth,
        memory_of_all,
        memory_change,
        memory_degradation,
        p2m_traffic,
        c2m_traffic,
        memory_share,
        memory_utilisation,
        memory_per_byte,
        memory_per_request,
        core_time,
        credit_wait,
        nic_wait,
        rpc_latency,
        rpc_inflation,
        rpc_ratio,
        fairness,
    )
}
"""Quantities of clusters that `study.toml` can name."""

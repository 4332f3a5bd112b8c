"""Quantities of single packets, from the summary and the tables of a run of a cluster."""

from __future__ import annotations

import math

from hostnet.ledger.cluster_quantities import flow_class
from hostnet.ledger.panels import Series
from hostnet.ledger.quantities import Estimate, Outcome, Quantity, needed, number


def packet_rate(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the rate of data packets that a traffic class sends, in millions per second."""
    return Estimate(1e3 * number(flow_class(series, run), "sent_packets") / float(run.summary["window_ns"]), None)


def packet_cost(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the time per packet, in ns."""
    rate = packet_rate(series, run, None).value
    return Estimate(1e3 / rate if rate else math.nan, None)


def packet_cost_change(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the time per packet minus that of the baseline, in ns."""
    there = packet_cost(series, needed(series, base), None)
    return Estimate(packet_cost(series, run, None).value - there.value, None)


def llc_misses_per_packet(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the LLC misses of the cores of a traffic class, per packet that it sends."""
    misses = number(run.row("caches", workload=series.workload), "llc_misses")
    packets = number(flow_class(series, run), "sent_packets")
    return Estimate(misses / packets if packets else math.nan, None)


PACKET_QUANTITIES: dict[str, Quantity] = {
    function.__name__: function for function in (packet_rate, packet_cost, packet_cost_change, llc_misses_per_packet)
}
"""Quantities of packets that `study.toml` can name."""

"""Quantities of switches and their queues, from the summary of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hostnet.ledger.cluster_quantities import flow_class, share_of_packets
from hostnet.ledger.panels import Series
from hostnet.ledger.quantities import Estimate, Outcome, Quantity, number


def busiest(run: Outcome) -> Mapping[str, Any]:
    """Returns the switch queue that marks most packets."""
    queues: Sequence[Mapping[str, Any]] = [row for row in run.summary["queues"] if row["marked_packets"] is not None]
    return max(queues, key=lambda row: int(row["marked_packets"]))


def fabric_congestion(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the packets that switches mark or drop, in % of those sent."""
    row = flow_class(series, run)
    marked = sum(queue["marked_packets"] or 0 for queue in run.summary["queues"])
    return share_of_packets(marked + number(row, "fabric_dropped"), number(row, "sent_packets"))


def fabric_drops(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the packets of a traffic class that switches drop."""
    return Estimate(number(flow_class(series, run), "fabric_dropped"), None)


def switch_marks(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the packets that switches mark."""
    return Estimate(float(sum(queue["marked_packets"] or 0 for queue in run.summary["queues"])), None)


def mark_share(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the share of packets marked by the queue that marks most."""
    row = busiest(run)
    return Estimate(row["marked_packets"] / row["sent_packets"], None)


def mark_law(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the share of marks over the square root of 2 / W, where W = `constant` is the mean window in packets."""
    return Estimate(mark_share(series, run, None).value / math.sqrt(2 / series.constant), None)


def queue_peak(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the maximum length of the queue that marks most, in packets."""
    return Estimate(float(busiest(run)["queue_max_packets"]), None)


def queue_mean(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the mean length of the queue that marks most, in packets."""
    return Estimate(float(busiest(run)["queue_mean_packets"]), None)


def queue_spread(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the standard deviation of the length of the queue that marks most, in packets."""
    return Estimate(float(busiest(run)["queue_sd_packets"]), None)


FABRIC_QUANTITIES: dict[str, Quantity] = {
    function.__name__: function
    for function in (
        fabric_congestion,
        fabric_drops,
        switch_marks,
        mark_share,
        mark_law,
        queue_peak,
        queue_mean,
        queue_spread,
    )
}
"""Quantities of switches that `study.toml` can name."""

"""Quantities of other simulators of networks on a chip, from a run of the network alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hostnet.ledger.memory_quantities import of_summary
from hostnet.ledger.quantities import Quantity


def latency(which: str, statistic: str) -> Callable[[Any], Any]:
    """Returns a reader of a statistic of a latency, in cycles."""
    return lambda summary: summary["latency"][which][f"{statistic}_cycles"]


NOC_MEASURES: dict[str, Callable[[Any], Any]] = {
    "packet_mean": latency("packet", "mean"),
    "packet_p99": latency("packet", "p99"),
    "packet_max": latency("packet", "max"),
    "network_mean": latency("network", "mean"),
    "accepted": lambda summary: summary["rate"]["accepted"],
    "routers_mean": lambda summary: summary["packets"]["links_mean"] + 1,
}
"""Values that are read from the summary of a run of the network alone."""

NOC_QUANTITIES: dict[str, Quantity] = {name: of_summary(read) for name, read in NOC_MEASURES.items()}
"""Quantities of the network alone that `study.toml` can name."""

"""Quantities of other memory simulators, from the summary of a run of the memory alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from hostnet.ledger.panels import Series
from hostnet.ledger.quantities import Estimate, Outcome, Quantity

Read = Callable[[Any], Any]


def of_summary(read: Read) -> Quantity:
    """Returns a quantity that is read from the summary. Simulated traffic is deterministic, so it has no interval."""

    def quantity(series: Series, run: Outcome, baseline: Outcome | None) -> Estimate:
        del series, baseline
        value = read(run.summary)
        return Estimate(math.nan if value is None else float(value), None)

    return quantity


def refresh_surplus(summary: Any) -> float:
    """Returns the refreshes beyond the closed form: elapsed time over tREFI on every rank."""
    dram = summary["config"]["memory"]["dram"]
    due = summary["memory"]["controllers"] * dram["ranks"] * summary["time"]["elapsed_clocks"] / dram["timing"]["refi"]
    return float(summary["commands"]["REF"] - due)


def latency(start: str, statistic: str) -> Read:
    """Returns a reader of a statistic of the read latency; None if requests have no time of arrival."""
    return lambda summary: (summary["latency"][f"read_from_{start}"] or {}).get(statistic)


MEASURES: dict[str, Read] = {
    "bandwidth": lambda summary: summary["bandwidth"]["gb_per_s"],
    "activations": lambda summary: summary["rows"]["activations_per_request"],
    "refreshes": lambda summary: summary["commands"]["REF"],
    "refresh_surplus": refresh_surplus,
    "mean_from_acceptance": latency("acceptance", "mean_ns"),
    "mean_from_arrival": latency("arrival", "mean_ns"),
    "p99_from_acceptance": latency("acceptance", "p99_ns"),
    "p99_from_arrival": latency("arrival", "p99_ns"),
}
"""Values that are read from the summary of a run of the memory alone."""

MEMORY_QUANTITIES: dict[str, Quantity] = {name: of_summary(read) for name, read in MEASURES.items()}
"""Quantities of the memory alone that `study.toml` can name."""

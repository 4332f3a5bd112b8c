"""Section on distributions: latencies of requests, and completion times of flows."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from hostnet.cluster_view import percentiles
from hostnet.report.distributions import Distribution, distribution_cards, of_buckets, of_percentiles, of_values
from hostnet.report.html import Html, element, section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.report.load import Row, RunFiles

SHARES = {"p50_us": 0.5, "p90_us": 0.9, "p99_us": 0.99, "p99_9_us": 0.999, "p99_99_us": 0.9999}
"""Share of requests of each percentile."""

FLOWS_MIN = 5
"""Smallest number of completed flows of a class whose times have a chart."""


def distributions_section(run: RunFiles) -> Html | None:
    """Creates the section; None without requests and without completed flows."""
    latencies = latency_distributions(run)
    cards = distribution_cards("Latency of requests", "requests", latencies)
    cards += distribution_cards("Completion time of flows", "flows", completion_distributions(run.flows))
    if not cards:
        return None
    rough = any(not one.exact for one in latencies)
    note = "Drawn from the percentiles in the summary, because the run recorded no histogram." if rough else None
    return section("Distributions", element("div", *cards, class_="pair fixed"), note=note)


def latency_distributions(run: RunFiles) -> list[Distribution]:
    """Returns the latencies of each class with several requests, from its histogram or else from its percentiles."""
    buckets: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for row in run.latency_histogram:
        buckets[row["class"]].append((row["latency_us"], row["requests"]))
    found = []
    for row in run.summary.get("latencies", ()):
        name = row["class"]
        if row["count"] > 1:
            found.append(of_buckets(name, buckets[name]) if name in buckets else from_percentiles(row))
    return [one for one in found if one is not None]


def from_percentiles(row: Row) -> Distribution | None:
    """Returns the percentiles of a class as a distribution."""
    known = {SHARES[key]: value for key, value in percentiles(row).items()}
    return of_percentiles(row["class"], {**known, 1.0: row["max_us"]}, row["count"])


def completion_distributions(flows: Sequence[Row]) -> list[Distribution]:
    """Returns the completion times of the classes with several flows that ended."""
    times: dict[str, list[float]] = defaultdict(list)
    for row in flows:
        if row["completion_us"] is not None:
            times[row["class"]].append(row["completion_us"])
    every = [of_values(name, own) for name, own in times.items() if len(own) >= FLOWS_MIN]
    return [one for one in every if one is not None]

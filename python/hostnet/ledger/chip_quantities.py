"""Quantities of chips, from the summary of a run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from hostnet.ledger.memory_quantities import Read, of_summary
from hostnet.ledger.panels import Series
from hostnet.ledger.quantities import Estimate, Outcome, Quantity, needed

LOAD = "load_cycles"
"""Key of the software time of a core that loads remote memory."""


def latency(summary: Any) -> float:
    """Returns the mean latency of an operation, in cycles; NaN if none has ended."""
    return math.nan if summary["latency"] is None else float(summary["latency"]["mean_cycles"])


def parts(summary: Any, wanted: Iterable[str]) -> float:
    """Returns the mean time of an operation in some parts of the breakdown, in cycles; NaN if one does not exist."""
    known = {row["part"]: float(row["mean_cycles"]) for row in summary["breakdown"]["parts"]}
    return sum(known.get(part, math.nan) for part in wanted)


def remote_access(summary: Any) -> float:
    """Returns the mean time of a remote request in LLC, memory and between them, without its pipeline, in cycles."""
    return parts(summary, ["rrpp"]) - float(summary["config"]["ni"]["rrpp_cycles"])


def bisection(summary: Any) -> float:
    """Returns the peak bandwidth of the links between the two halves of the columns, in both directions, in GB/s."""
    middle = int(summary["config"]["chip"]["columns"]) // 2
    crossing = [row for row in summary["noc"]["links"] if columns_of(row) == {middle - 1, middle}]
    return len(crossing) * float(summary["noc"]["link_gb_per_s"])


def columns_of(link: Mapping[str, Any]) -> set[int]:
    """Returns the columns of the routers at the ends of a mesh link; empty for other links."""
    return {int(link[end][0]) for end in ("from", "to")} if link["kind"] == "mesh" else set()


CHIP_MEASURES: dict[str, Read] = {
    "chip_latency": latency,
    "remote_access": remote_access,
    "application_bandwidth": lambda summary: summary["bandwidth"]["application_gb_per_s"],
    "incoming_bandwidth": lambda summary: summary["bandwidth"]["in_gb_per_s"],
    "chip_traffic": lambda summary: summary["noc"]["gb_per_s"],
    "chip_traffic_ratio": lambda summary: (
        summary["noc"]["gb_per_s"] / (summary["bandwidth"]["application_gb_per_s"] or math.nan)
    ),
    "flits_per_line": lambda summary: summary["noc"]["flits_per_line"],
    "bisection": bisection,
    "window_change": lambda summary: summary["change"],
    "diameter": lambda summary: summary["config"]["rack"]["diameter"],
}
"""Values that are read from the summary of a run of a chip."""


def chip_parts(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the mean time of an operation in `parts` of the breakdown, in cycles."""
    return Estimate(parts(run.summary, series.parts), None)


def parts_difference(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the time in `parts` minus that of the baseline, in cycles."""
    return Estimate(parts(run.summary, series.parts) - parts(needed(series, base).summary, series.parts), None)


def on_chip_share(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the share of the latency outside of `parts`, which are those of the network between chips, in %."""
    return Estimate(100 * (1 - parts(run.summary, series.parts) / latency(run.summary)), None)


def chip_overhead(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the relative increase of the latency over the baseline, in %."""
    return Estimate(100 * (latency(run.summary) / latency(needed(series, base).summary) - 1), None)


def chip_reduction(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the relative reduction of the latency from the baseline, in %."""
    return chip_overhead(series, run, base).scaled(-1)


def remote_reduction(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the relative reduction of the time of remote requests in LLC and memory, in %."""
    there = remote_access(needed(series, base).summary)
    return Estimate(100 * (1 - remote_access(run.summary) / there), None)


def parts_per_hop(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the time in `parts` per hop between chips beyond those of the baseline, in cycles."""
    hops = [int(outcome.summary["config"]["rack"]["hops"]) for outcome in (run, needed(series, base))]
    added = parts_difference(series, run, base).value
    return Estimate(added / (hops[0] - hops[1]) if hops[0] != hops[1] else math.nan, None)


def numa_projection(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the mean latency with the queues of the baseline, its `parts`, replaced by a load, in cycles."""
    queues = parts(needed(series, base).summary, series.parts)
    return Estimate(latency(run.summary) - queues + float(run.summary["config"]["software"][LOAD]), None)


def bandwidth_share(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the application bandwidth, in % of that of the baseline."""
    here, there = (read_bandwidth(outcome) for outcome in (run, needed(series, base)))
    return Estimate(100 * here / there if there else math.nan, None)


def read_bandwidth(run: Outcome) -> float:
    """Returns the application bandwidth, in GB/s."""
    return float(CHIP_MEASURES["application_bandwidth"](run.summary))


def hotspot(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the busy share of the busiest link along column `constant` over that of the busiest other mesh link."""
    column = {int(series.constant)}
    meshed = [row for row in run.summary["noc"]["links"] if row["kind"] == "mesh"]
    along = [float(row["share"]) for row in meshed if columns_of(row) == column]
    others = [float(row["share"]) for row in meshed if columns_of(row) != column]
    return Estimate(max(along) / max(others), None)


CHIP_QUANTITIES: dict[str, Quantity] = {
    **{name: of_summary(read) for name, read in CHIP_MEASURES.items()},
    **{
        function.__name__: function
        for function in (
            chip_parts,
            parts_difference,
            on_chip_share,
            chip_overhead,
            chip_reduction,
            remote_reduction,
            parts_per_hop,
            numa_projection,
            bandwidth_share,
            hotspot,
        )
    },
}
"""Quantities of chips that `study.toml` can name."""

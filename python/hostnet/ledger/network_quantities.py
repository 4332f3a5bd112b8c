"""Quantities of whole networks and of their simulation, from the summary and the tables of a run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hostnet.ledger.panels import Series
from hostnet.ledger.quantities import Estimate, Outcome, Quantity, needed, number


def completion(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns a percentile of the completion times of a traffic class, in us."""
    row = run.row("completions", **{"class": series.workload}, size="all")
    return Estimate(number(row, f"{series.percentile}_us"), None)


def job_time(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the time from the launch of a job until its last rank is done, in us."""
    row = run.row("jobs", job=series.workload)
    return Estimate(number(row, "done_us") - number(row, "launched_us"), None)


def job_speedup(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the time of a job in the baseline over its time."""
    here, there = job_time(series, run, None).value, job_time(series, needed(series, base), None).value
    return Estimate(there / here, None)


def job_memory(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the memory traffic of all servers with ranks of a job over that in the baseline."""
    here, there = (
        number(found.row("jobs", job=series.workload), "memory_gb_per_s") for found in (run, needed(series, base))
    )
    return Estimate(here / there, None)


def job_time_saved(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the relative reduction of the time of a job from the baseline, in %."""
    return Estimate(100 * (1 - 1 / job_speedup(series, run, base).value), None)


def job_energy_saved(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the relative reduction of the metered energy until all jobs are done, in %."""
    here, there = (
        sum(number(row, "energy_uj") for row in found.summary["energy"] if row["part"] == "all")
        for found in (run, needed(series, base))
    )
    return Estimate(100 * (1 - here / there), None)


def stage_time(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the mean time of the datagrams of a class in the stage `domain` on the way to the receiver, in us."""
    row = run.row("stages", **{"class": series.workload}, way="there", stage=series.domain)
    return Estimate(number(row, "mean_us"), None)


def one_way(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the mean one-way latency of the datagrams of a class, in us."""
    row = run.row("stages", **{"class": series.workload}, way="there", stage="all")
    return Estimate(number(row, "mean_us"), None)


def one_way_saved(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the relative reduction of the one-way latency from the baseline, in %."""
    here, there = one_way(series, run, None).value, one_way(series, needed(series, base), None).value
    return Estimate(100 * (1 - here / there), None)


def one_way_less(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the reduction of the one-way latency from the baseline, in us."""
    here, there = one_way(series, run, None).value, one_way(series, needed(series, base), None).value
    return Estimate(there - here, None)


def stage_share(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the share of the stages `parts` in the one-way latency, in %."""
    rows = [row for row in run.summary["stages"] if row["class"] == series.workload and row["way"] == "there"]
    return Estimate(sum(number(row, "percent") for row in rows if row["stage"] in series.parts), None)


def driver_share(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the time of the stages `parts` over that of all stages except system calls in the baseline."""
    copies = ("tx_copy", "rx_copy", "all")

    def time(found: Outcome, chosen: Callable[[str], bool]) -> float:
        rows = [row for row in found.summary["stages"] if row["class"] == series.workload and row["way"] == "there"]
        return sum(number(row, "mean_us") for row in rows if chosen(row["stage"]))

    whole = time(needed(series, base), lambda stage: stage not in copies)
    return Estimate(time(run, lambda stage: stage in series.parts) / whole, None)


def of_packets(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns column `domain` of the DIMM that receives most packets; per packet if the column is a count."""
    row = max(run.summary["dimms"], key=lambda row: number(row, "packets"))
    mean = series.domain in ("burst_ns", "burst_lines")
    return Estimate(number(row, series.domain or "") / (1.0 if mean else number(row, "packets")), None)


def one_way_of_all(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the mean of the one-way latency over all classes, in us."""
    rows = [row for row in run.summary["stages"] if row["way"] == "there" and row["stage"] == "all"]
    return Estimate(sum(number(row, "mean_us") for row in rows) / len(rows) if rows else math.nan, None)


def one_way_of_all_saved(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the relative reduction of the one-way latency, as a mean over all classes, in %."""
    there = needed(series, base)
    names = [row["class"] for row in run.summary["classes"]]
    saved = [one_way_saved(replace(series, workload=name), run, there).value for name in names]
    return Estimate(sum(saved) / len(saved), None)


def app_latency(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the mean latency of the lines of a workload of the only server, in ns."""
    (server,) = run.summary["servers"].values()
    row = next(row for row in server["workloads"] if row["workload"] == series.workload)
    return Estimate(number(row, "latency_mean_ns"), None)


def app_latency_of_all(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the geometric mean over all servers of the mean line latency of a workload, in ns."""
    rows = [row for server in run.summary["servers"].values() for row in server["workloads"]]
    found = [number(row, "latency_mean_ns") for row in rows if row["workload"] == series.workload]
    return Estimate(math.exp(sum(map(math.log, found)) / len(found)), None)


def cable_rate(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the rate of the busiest port on the wire, in Gbps."""
    return Estimate(max(number(row, "sent_gbps") for row in run.summary["queues"]), None)


def members(series: Series, run: Outcome) -> list[dict[str, Any]]:
    """Returns the rows of a server in a pool of memory, or of the servers of a table of hosts."""
    name = str(series.workload)
    return [row for row in run.summary["pool"] if row["place"] == name or row["place"].startswith(f"{name}-")]


def pool_read_latency(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the mean latency of reads of memory of other servers, in us."""
    rows = members(series, run)
    return Estimate(sum(number(row, "read_mean_ns") for row in rows) / len(rows) / 1000, None)


def pool_read_p99(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the largest 99th percentile of the read latency among the servers, in us."""
    return Estimate(max(number(row, "read_p99_ns") for row in members(series, run)) / 1000, None)


def pool_header(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the wire overhead of a line beyond preamble, checksum and gap (24 B), in % of its data."""
    (row,) = members(series, run)
    return Estimate(100 * (number(row, "demand_bytes") / number(row, "lines_read_here") - 64 - 24) / 64, None)


def pool_retries(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the retries, in % of reads."""
    rows = members(series, run)
    retries, reads = (sum(number(row, key) for row in rows) for key in ("retries", "reads"))
    return Estimate(100 * retries / reads, None)


def pool_dropped(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the dropped messages of demand or prefetch (`workload`), in % of those sent."""
    rows = run.summary["pool"]
    total = {key: sum(row[key] or 0 for row in rows) for key in ("reads", "prefetch_hits", "prefetches", "retries")}
    requested = {"demand": total["reads"] - total["prefetch_hits"] + total["retries"], "prefetch": total["prefetches"]}
    dropped = sum(row[f"dropped_{series.workload}"] or 0 for row in rows)
    return Estimate(100 * dropped / requested[str(series.workload)], None)


def pool_granted_here(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the share of page requests that a switch or controller (`workload`) granted, in %."""
    granted = {row["place"]: row["grants_here"] or 0 for row in run.summary["pool"]}
    return Estimate(100 * granted[str(series.workload)] / sum(granted.values()), None)


def pool_grant(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the mean time from a request for a shared page to its grant, in us."""
    rows = [row for row in members(series, run) if row["grant_mean_ns"] is not None]
    return Estimate(sum(number(row, "grant_mean_ns") for row in rows) / len(rows) / 1000, None)


def repeat(series: Series, run: Outcome) -> dict[str, Any]:
    """Returns the repeated run in the way `domain`."""
    return next(again for again in run.summary["again"] if again["way"] == series.domain)


def differences(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns 1 if a repeated run has other results, else 0; NaN if it could not be executed."""
    again = repeat(series, run)
    return Estimate(float(not again["same"]) if "same" in again else math.nan, None)


def meetings(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the number of exchanges between processes, per ms of simulated time."""
    return Estimate(repeat(series, run).get("meetings_per_ms", math.nan), None)


def wall_time(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the wall-clock time of a run in several processes, in s."""
    return Estimate(repeat(series, run).get("wall_time_s", math.nan), None)


NETWORK_QUANTITIES: dict[str, Quantity] = {
    function.__name__: function
    for function in (
        completion,
        job_time,
        job_speedup,
        job_memory,
        job_time_saved,
        job_energy_saved,
        stage_time,
        one_way,
        one_way_saved,
        one_way_less,
        stage_share,
        driver_share,
        of_packets,
        one_way_of_all,
        one_way_of_all_saved,
        app_latency,
        app_latency_of_all,
        cable_rate,
        pool_read_latency,
        pool_read_p99,
        pool_header,
        pool_retries,
        pool_dropped,
        pool_granted_here,
        pool_grant,
        differences,
        meetings,
        wall_time,
    )
}
"""Quantities of networks that `study.toml` can name."""

"""Builds the simulation of a measurement, and selects the result to compare with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.calibration.measurement import MIXED
from hostnet.curves.points import PROBE_GAP_NS, RUN, Setting, load_workload, probe_workload, writes_per_read
from hostnet.curves.trace import NORMAL_95, Wanted
from hostnet.units import LINE_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostnet.calibration.measurement import Conditions
    from hostnet.presets import ServerFile
    from hostnet.running.results import Results

    Tree = dict[str, Any]

LINES = 500_000
"""Approximate number of lines that the runs of one point move in total."""

LINES_EACH = (40_000, 100_000)
"""Minimum and maximum number of lines per run."""

DURATION_US = (80, 2000)
"""Minimum and maximum duration of a measurement in us."""

WARM_UP_US = 20
"""Warm-up in us of a run without storage."""

TRACE: dict[str, str | int] = {**RUN, "duration": "200 us"}
"""Simulated time of a point of a curve: long enough that its noise does not hide the influence of a parameter."""

BEND = (1.0, 1.1)
"""Loads of a curve beside those that were measured, as fractions of its maximum bandwidth."""

FILE_SIZE = "1 GiB"
"""File size of a job, unless a block is larger."""

IO_ERROR_MAX = 0.01
"""Maximum relative error of storage runs: few commands arrive at regular gaps, which look like noise."""


def workloads_of(conditions: Conditions, server: ServerFile) -> Tree:
    """Returns the workloads, as in a configuration file."""
    workloads: Tree = {}
    if conditions.probe:
        workloads["probe"] = probe_workload(server, conditions.probe)
    if conditions.cores:
        first = 1 if conditions.probe else 0
        workloads["load"] = load_workload(
            server, first, conditions.cores, conditions.reads, conditions.gap_ns, conditions.pattern
        )
    if conditions.node:
        for workload in workloads.values():
            workload["memory"] = f"node:{conditions.node}"
    if conditions.rw:
        drives = range(conditions.drives or server.drives)
        job = {"rw": conditions.rw, "bs": f"{conditions.bs} B", "iodepth": conditions.iodepth, "size": FILE_SIZE}
        if conditions.rw in MIXED:
            job["rwmixread"] = conditions.rwmixread
        if conditions.bs > 2**30:
            job["size"] = job["bs"]
        workloads["disk"] = {"kind": "fio", "jobs": [{**job, "ssd": ssd} for ssd in drives] * conditions.numjobs}
    return workloads


def wanted_trace(
    server: ServerFile, load: Conditions, fractions: Sequence[float], engine: str, values: Mapping[str, Any]
) -> Wanted:
    """Returns the curve to trace for measurements at fractions of the maximum bandwidth of a load."""
    setting = Setting(server, (load.reads,), cores=load.cores, probe=load.probe, engine=engine)
    return Wanted(setting, load.reads, tuple(fractions), TRACE, BEND, values)


def run_of(conditions: Conditions, server: ServerFile, situations: int) -> Tree:
    """Returns the run settings: the lighter the load and the fewer the situations, the longer the run."""
    rate = 1000 / PROBE_GAP_NS if conditions.probe else 0.0
    if conditions.cores:
        peak = server.core_peak_gb_per_s(conditions.cores)
        if conditions.gap_ns:
            offered = conditions.cores * LINE_BYTES * (1 + writes_per_read(conditions.reads)) / conditions.gap_ns
            peak = min(peak, offered)
        rate += 1000 * min(peak, server.memory_peak_gb_per_s) / LINE_BYTES
    latency_us = server.time_ns("ssd.latency") / 1000
    if conditions.rw:
        in_flight = conditions.bs * conditions.iodepth * conditions.numjobs * (conditions.drives or server.drives)
        rate += min(in_flight / LINE_BYTES / max(latency_us, 1), 1000 * server.pcie_peak_gb_per_s / LINE_BYTES)
    shortest, longest = DURATION_US
    lines = min(max(LINES / situations, LINES_EACH[0]), LINES_EACH[1])
    duration_us = round(min(max(lines / rate, shortest), longest))
    warm_up_us = WARM_UP_US + (round(2 * latency_us) if conditions.rw else 0)
    return {"seed": 1, "warmup": f"{warm_up_us} us", "duration": f"{duration_us} us"}


def answer_of(quantity: str, results: Results) -> tuple[float, float]:
    """Returns the value of a quantity in the results, and its relative standard error."""
    rows = results.workloads
    if quantity == "bandwidth":
        memory = [rows[name] for name in ("load", "probe") if name in rows]
        # Traffic over an expander's link does not appear in the socket's channels.
        far = any("CXL" in name for name in results.domains)
        value = sum(
            row["throughput_gb_per_s"] if far else row["read_gb_per_s"] + row["write_gb_per_s"] for row in memory
        )
        error = rows["load"]["throughput_ci95"]
    elif quantity == "io_bandwidth":
        value, error = rows["disk"]["app_gb_per_s"], rows["disk"]["throughput_ci95"]
    else:
        row = rows[{"latency": "probe", "lfb_latency": "load", "iio_latency": "disk"}[quantity]]
        value, error = row["latency_mean_ns"], row["latency_ci95"]
    value = max(float(value or 0.0), 1e-9)
    share = float(error or 0.0) / NORMAL_95 / value
    return value, min(share, IO_ERROR_MAX) if quantity == "io_bandwidth" else share

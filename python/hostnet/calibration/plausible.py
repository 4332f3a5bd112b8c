"""Rejects measurements that the server cannot produce: wrong units, or cores that it does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.calibration.measurement import DataError, error_at
from hostnet.units import LINE_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.calibration.measurement import Measurement
    from hostnet.presets import ServerFile

MARGIN = 1.02
"""Factor by which a measurement may exceed a limit, as clocks and windows are inexact."""

SLOWEST_NS = 10_000
"""Latency in ns above that of any memory: a streaming core moves a full LFB at least once in this time."""

LATENCY_NS = {"latency": (10, 100_000), "lfb_latency": (10, 100_000), "iio_latency": (20, 1_000_000)}
"""Minimum and maximum latency under load in ns; DRAM cannot respond faster than the minimum."""

IDLE_NS = 2_000
"""Maximum latency of an idle memory in ns."""

SMALLEST_SHARE = 0.01
"""Fraction of the limit below which a value is implausible."""

READS_DIFFERENCE_NOTED = 0.03
"""Difference between the stated and the counted fraction of reads above which a note is made."""

READS_DIFFERENCE_MAX = 0.1
"""Maximum difference of these; prefetchers and background traffic do not explain more."""

IO_SHARE = 0.005
"""Fraction of the link bandwidth that a deep queue moves at least."""

IO_SLOWEST_S = 0.1
"""Maximum time in s for all I/Os in flight to complete."""


def check_plausible(measurements: Sequence[Measurement], server: ServerFile) -> None:
    """Checks that the server can have produced the measurements.

    Raises:
        DataError: It cannot; the message names the position, the value and the limit.
    """
    for measurement in measurements:
        _check_parts(measurement, server)
        if measurement.quantity == "bandwidth":
            _check_bandwidth(measurement, server)
        elif measurement.quantity == "io_bandwidth":
            _check_io(measurement, server)
        else:
            _check_latency(measurement)


def compare_reads(file: str, reads: float, lines_read: float | None, lines_written: float | None) -> list[str]:
    """Compares the condition `reads` with the DRAM lines counted in a file; returns notes on small differences.

    Raises:
        DataError: They contradict each other.
    """
    if not lines_read or lines_written is None:
        return []
    counted = lines_read / (lines_read + lines_written)
    text = f"{file}: reads is {100 * reads:.3g} %, but {100 * counted:.3g} % of the lines counted in DRAM are reads"
    apart = abs(counted - reads)
    if apart > READS_DIFFERENCE_MAX:
        raise DataError(
            "implausible-data",
            f"{text} ({lines_read:.4g} of {lines_read + lines_written:.4g}); stores alone are 50 %, as each "
            "reads its line and writes it back; set reads= to what ran",
        )
    return [f"{text}; prefetchers and the rest of the system may do that"] if apart > READS_DIFFERENCE_NOTED else []


def _error(measurement: Measurement, text: str, code: str = "implausible-data") -> DataError:
    return error_at(measurement.file, measurement.place, text, code)


def _check_parts(measurement: Measurement, server: ServerFile) -> None:
    conditions = measurement.conditions
    wanted = conditions.cores + bool(conditions.probe) + bool(conditions.rw)
    if wanted > server.cores:
        also = " (one measures)" * bool(conditions.probe) + " (one serves the drives)" * bool(conditions.rw)
        raise _error(
            measurement, f"cores: {conditions.cores}{also}; {server.label} has {server.cores}", "too-many-cores"
        )
    if conditions.node and server.expander_peak_gb_per_s is None:
        text = f"node: {conditions.node}; {server.label} has no [expander], so its only node is 0"
        raise _error(measurement, text, "does-not-exist")
    if conditions.drives > server.drives:
        raise _error(measurement, f"drives: {conditions.drives}; {server.label} has {server.drives}", "does-not-exist")


def _check_bandwidth(measurement: Measurement, server: ServerFile) -> None:
    conditions, value = measurement.conditions, measurement.value
    peak, cores = server.memory_peak_gb_per_s, conditions.cores
    if conditions.node and server.expander_peak_gb_per_s is not None:
        peak = server.expander_peak_gb_per_s * (1 if conditions.reads == 1 else 2)
    if value > MARGIN * peak:
        hint = _unit_hint(value, peak, "GB/s", "MB/s")
        raise _error(
            measurement, f"bandwidth {value:.6g} GB/s is more than this memory can move, {peak:.4g} GB/s{hint}"
        )
    entries = int(server.effective["core"]["lfb"]["entries"])
    least = min(0.01 * peak, cores * entries * LINE_BYTES / SLOWEST_NS)
    if conditions.gap_ns == 0 and value < least:
        raise _error(
            measurement,
            f"bandwidth {value:.4g} GB/s is less than {cores} core{'s' * (cores > 1)} of any server move, "
            f"{least:.4g} GB/s; was it GB/s in place of a smaller unit?",
        )


def _check_io(measurement: Measurement, server: ServerFile) -> None:
    peak, value, conditions = server.pcie_peak_gb_per_s, measurement.value, measurement.conditions
    if value > MARGIN * peak:
        hint = _unit_hint(value, peak, "GB/s", "MB/s")
        raise _error(
            measurement, f"io_bandwidth {value:.6g} GB/s is more than all PCIe lanes can carry, {peak:.4g} GB/s{hint}"
        )
    in_flight = conditions.bs * conditions.iodepth * conditions.numjobs * (conditions.drives or server.drives)
    least = min(IO_SHARE * peak, in_flight / IO_SLOWEST_S / 1e9)
    if value < least:
        raise _error(
            measurement,
            f"io_bandwidth {value:.4g} GB/s is less than any drive moves with {in_flight / 2**20:.4g} MiB in flight, "
            f"{least:.4g} GB/s; was it GB/s in place of a smaller unit?",
        )


def _check_latency(measurement: Measurement) -> None:
    value, (least, most) = measurement.value, LATENCY_NS[measurement.quantity]
    if measurement.quantity == "latency" and not measurement.conditions.cores:
        most = IDLE_NS
    if value < least:
        hint = "; was it us?" if value * 1000 >= least else ""
        raise _error(measurement, f"{measurement.quantity} {value:.4g} ns is shorter than any, {least} ns{hint}")
    if value > most:
        hint = "; was it ps?" if value / 1000 >= least else ""
        raise _error(measurement, f"{measurement.quantity} {value:.6g} ns is longer than any, {most} ns{hint}")


def _unit_hint(value: float, limit: float, unit: str, smaller: str) -> str:
    """Returns a hint at a wrong unit if the value would fit in the smaller one, or at the wrong machine."""
    if SMALLEST_SHARE * limit <= value / 1000 <= MARGIN * limit:
        return f"; was it {smaller} rather than {unit}?"
    return "; was it measured on several sockets, or on another server?" if value / 1000 < limit else ""

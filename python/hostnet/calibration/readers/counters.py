"""Reads measurements from counter files of perf and PCM."""

from __future__ import annotations

import importlib
import importlib.util
import re
from typing import TYPE_CHECKING, Any

from hostnet.calibration.measurement import Conditions, DataError, Measurement
from hostnet.calibration.plausible import compare_reads
from hostnet.calibration.readers.data_file import ParsedData
from hostnet.units import LINE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hostnet.calibration.readers.data_file import DataFile

MODULE = "hostnet.counters"
"""Module that reads counter files."""

LOOKS_LIKE = re.compile(
    r"\b(?:uncore_|unc_\w|offcore_|pcm\b|l1d_pend_miss|l1d\.|<not counted>|<not supported>|PCIRdCur"
    r"|IB write,IB read)|^\s*Date[,;]\s*Time[,;]|\bMem Read \(|\bCh\d+Read\b|Mem Ch\s+\d+: Reads"
    r"|Performance counter stats for",
    re.I | re.M,
)
"""Identifies counter files."""


def matches(content: DataFile) -> bool:
    """Returns True if the text looks like a counter file."""
    return LOOKS_LIKE.search(content.text) is not None


def read(content: DataFile) -> ParsedData:
    """Derives measurements from counters, under the conditions that the user gives: counters do not tell what ran.

    Raises:
        ConfigError: The counters cannot be read, or the conditions are missing.
    """
    if importlib.util.find_spec(MODULE) is None:
        raise DataError(
            "missing-package",
            f"{content.file}: looks like counters of perf or PCM, which this build of hostnet does not read",
        )
    conditions = content.conditions(Conditions())
    counted = importlib.import_module(MODULE).read(content.file, content.server.effective)
    if not conditions.cores and not (conditions.rw and conditions.bs and conditions.iodepth):
        raise DataError(
            "missing-key",
            f"{content.file}: counters do not tell what ran; say it: {content.file}@cores=4,reads=100 "
            f"or {content.file}@rw=read,bs=8m,iodepth=64",
        )
    found = ParsedData(notes=[f"{content.file}: {warning}" for warning in counted.warnings])
    if conditions.cores and not conditions.rw and not conditions.node:
        counts = (counted.total.get("lines_read"), counted.total.get("lines_written"))
        found.notes += compare_reads(content.file, conditions.reads, *counts)
    for quantity, value in quantities_of(counted.total, conditions):
        found.measurements.append(Measurement(quantity, value, conditions, content.file, "total"))
    if not found.measurements:
        raise DataError(
            "malformed-file",
            f"{content.file}: has none of the counters that {conditions} would need; see docs/calibrate.md",
        )
    return found


def quantities_of(total: Mapping[str, Any], conditions: Conditions) -> Iterator[tuple[str, float]]:
    """Yields the measurements in the counts of a whole file, by Little's law."""
    window_ns = float(total["window_ns"])
    lines_read, lines_written = total.get("lines_read"), total.get("lines_written")
    if conditions.cores and not conditions.rw and lines_read is not None and lines_written is not None:
        yield "bandwidth", (lines_read + lines_written) * LINE_BYTES / window_ns
    if conditions.cores:
        yield from _latency("lfb_latency", total.get("lfb"), window_ns)
    if conditions.rw:
        flow = total.get("iio_read" if "write" in conditions.rw else "iio_write")
        yield from _latency("iio_latency", flow, window_ns)


def _latency(quantity: str, flow: Mapping[str, float | None] | None, window_ns: float) -> Iterator[tuple[str, float]]:
    occupancy, lines = (flow.get("occupancy"), flow.get("lines")) if flow else (None, None)
    if occupancy and lines:
        yield quantity, occupancy * window_ns / lines

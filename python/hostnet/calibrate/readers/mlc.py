"""What Intel Memory Latency Checker prints: loaded latencies, idle latency, peak injection bandwidths."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from hostnet.calibrate.measurement import Conditions, Measurement, number_of, wrong
from hostnet.calibrate.readers.content import Found
from hostnet.calibrate.readers.loaded import Row, add_rows

if TYPE_CHECKING:
    from hostnet.calibrate.readers.content import Content

BANNER = re.compile(r"Memory Latency Checker|^\s*Inject\s+Latency\s+Bandwidth|Measuring Loaded Latenc", re.M | re.I)
"""Shows that a text is MLC's."""

ROW = re.compile(r"\s*(\d{4,6})\s+(\S+)\s+(\S+)\s*")
"""Inject delay, latency in ns, bandwidth in MB/s."""

BROKEN_ROW = re.compile(r"\s*\d{4,6}(\s.*)?")
"""A row of the table, whole or not."""

IDLE = re.compile(r"Each iteration took .*?\(\s*(\S+)\s*ns\s*\)", re.I)
"""The idle latency."""

PEAK = re.compile(r"\s*(ALL Reads|\d+:\d+ Reads-Writes)\s*:\s*(\S+)\s*", re.I)
"""A peak injection bandwidth in MB/s."""

MB = 1e-3
"""GB of a MB."""


def matches(content: Content) -> bool:
    """Whether the text is MLC's."""
    return BANNER.search(content.text) is not None or IDLE.search(content.text) is not None


def read(content: Content) -> Found:
    """The measurements in MLC's output.

    Raises:
        DataError: A row is not whole, or nothing in it is understood.
    """
    found, rows = Found(), []
    cores = max(content.server.cores - 1, 1)
    start = content.conditions(Conditions(cores=cores, probe="sequential"))
    reads = start.reads
    in_table = False
    for index, line in enumerate(content.text.splitlines(), 1):
        if "traffic" in line.lower() and "reads" not in content.given:
            reads = reads_of(line, content.file, index)
        elif line.strip().startswith("====") or re.match(r"\s*Delay\s", line):
            in_table = True
        elif in_table and BROKEN_ROW.fullmatch(line):
            rows.append(row_of(line, content.file, index, replace(start, reads=reads)))
        elif (match := IDLE.search(line)) is not None:
            found.measurements.append(_idle(match[1], content, index))
        elif (match := PEAK.fullmatch(line)) is not None:
            found.measurements.append(_peak(match[1], match[2], content, index))
        elif line.strip():
            in_table = False
    if not rows and not found.measurements:
        place = len(content.text.splitlines())
        raise wrong(content.file, place, "the output of MLC ends without a measurement; is it truncated?")
    add_rows(found, content.file, rows)
    return found


def reads_of(line: str, file: str, index: int) -> float:
    """The share of reads that MLC names in a line such as "Using Read-only traffic type"."""
    if re.search(r"read[- ]only|all reads", line, re.I):
        return 1.0
    match = re.search(r"(\d+)\s*:\s*(\d+)", line)
    if match and int(match[1]) >= int(match[2]) > 0:
        return int(match[1]) / (int(match[1]) + int(match[2]))
    raise wrong(file, index, f'the traffic "{line.strip()}" is not modelled; if it is, say its share: {file}@reads=67')


def row_of(line: str, file: str, index: int, conditions: Conditions) -> Row:
    """A row of the table of loaded latencies."""
    match = ROW.fullmatch(line)
    if match is None:
        raise wrong(file, index, f'"{line.strip()}" is not a delay, a latency and a bandwidth; is the file truncated?')
    latency_ns, bandwidth = _number(match[2], "latency", file, index), _number(match[3], "bandwidth", file, index)
    return Row(str(index), latency_ns, bandwidth * MB, conditions, float(match[1]))


def _idle(text: str, content: Content, index: int) -> Measurement:
    conditions = content.conditions(Conditions(probe="sequential"))
    return Measurement("latency", _number(text, "latency", content.file, index), conditions, content.file, str(index))


def _peak(mix: str, text: str, content: Content, index: int) -> Measurement:
    reads = 1.0 if mix.lower() == "all reads" else reads_of(mix, content.file, index)
    conditions = content.conditions(Conditions(cores=content.server.cores, reads=reads))
    bandwidth = _number(text, "bandwidth", content.file, index) * MB
    return Measurement("bandwidth", bandwidth, conditions, content.file, str(index))


def _number(text: str, what: str, file: str, index: int) -> float:
    try:
        return number_of(text, what)
    except ValueError as error:
        raise wrong(file, index, str(error)) from None

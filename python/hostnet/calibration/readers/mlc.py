"""Reads the output of Intel Memory Latency Checker: loaded latencies, idle latency, peak injection bandwidths."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from hostnet.calibration.measurement import Conditions, Measurement, error_at, parse_positive
from hostnet.calibration.readers.data_file import ParsedData
from hostnet.calibration.readers.loaded import LoadedRow, add_rows
from hostnet.calibration.readers.mlc_machine import Command, count_nodes, parse_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.calibration.readers.data_file import DataFile

BANNER = re.compile(
    r"Memory Latency Checker|Memory Bandwidths between nodes|Measuring idle latenc"
    r"|^\s*Inject\s+Latency\s+Bandwidth|Measuring Loaded Latenc",
    re.M | re.I,
)
"""Identifies output of MLC."""

ROW = re.compile(r"\s*(\d{4,6})\s+(\S+)\s+(\S+)\s*")
"""Matches inject delay, latency in ns and bandwidth in MB/s."""

BROKEN_ROW = re.compile(r"\s*\d{4,6}(\s.*)?")
"""Matches a row of the table, complete or not."""

UNIT = re.compile(r"\S+/s(ec)?\b", re.I)
"""Matches the unit of the bandwidths in the heading of the table."""

IDLE = re.compile(r"Each iteration took .*?\(\s*(\S+)\s*ns\s*\)", re.I)
"""Matches the idle latency."""

OF_FIRST = re.compile(r"\s*0((?:\s+\S+)+)\s*")
"""Matches the row of the first node in a table of nodes: a number per memory node, its own first."""

PEAK = re.compile(r"\s*(ALL Reads|\d+:\d+ Reads-Writes)\s*:\s*(\S+)\s*", re.I)
"""Matches a peak injection bandwidth in MB/s."""

NODES_MAX = 2
"""Maximum number of memory nodes of a server of one socket: its own, and the one behind a link."""

MB = 1e-3
"""GB per MB."""


def matches(content: DataFile) -> bool:
    """Returns True if the text is MLC's."""
    return BANNER.search(content.text) is not None or IDLE.search(content.text) is not None


def read(content: DataFile) -> ParsedData:
    """Parses MLC's output.

    Raises:
        DataError: A row is incomplete, or the output has no measurement.
    """
    reader = _Reader(content)
    for index, line in enumerate(content.text.splitlines(), 1):
        reader.take(index, line)
    reader.close()
    if not reader.rows and not reader.found.measurements:
        place = len(content.text.splitlines())
        raise error_at(content.file, place, "the output of MLC ends without a measurement; is it truncated?")
    add_rows(reader.found, content.file, reader.rows)
    return reader.found


class _Reader:
    """Parses the output line by line, tracking the current section."""

    def __init__(self, content: DataFile) -> None:
        self.content = content
        self.command = Command()
        self.sockets = count_nodes(content.text.splitlines())
        self.found, self.rows = ParsedData(), list[LoadedRow]()
        given = content.conditions(Conditions())
        self.reads: float | None = given.reads
        self.traffic = (1, "")
        self.part = ""
        self.of_all: list[int] = []

    def take(self, index: int, line: str) -> None:
        """Parses the next line."""
        text = line.strip()
        if self.take_heading(index, line, text):
            return
        if self.part == "loaded" and BROKEN_ROW.fullmatch(line):
            row = parse_row(line, self.content.file, index, self.loaded())
            if self.is_of_one_socket(index):
                self.rows.append(row)
        elif self.part in ("idle", "between") and (match := OF_FIRST.fullmatch(line)) is not None:
            self.nodes(match[1].split(), index)
            self.part = ""
        elif (match := IDLE.search(line)) is not None:
            self.add("latency", match[1], Conditions(probe="sequential", node=self.command.node), index)
        elif (match := PEAK.fullmatch(line)) is not None:
            self.peak(match[1], match[2], index)
        elif text and self.part == "loaded":
            self.part = ""

    def take_heading(self, index: int, line: str, text: str) -> bool:
        """Handles a line that introduces others; returns False if it is no such line."""
        if text.startswith("Intel(R) Memory Latency Checker"):
            self.command, self.part = Command(), ""
        elif (command := parse_command(self.content, index, line)) is not None:
            self.command = command
            for remark in command.remarks:
                self.note(f"{index}: {remark}")
        elif re.search(r"Unable to modify prefetchers", line):
            self.note(f"{index}: the prefetchers were on, which the model does not have")
        elif re.search(r"\btraffic\b", line) and "reads" not in self.content.given:
            self.reads, self.traffic = parse_reads(line), (index, text)
        elif re.match(r"Measuring idle latenc", text):
            self.part = "idle"
        elif re.match(r"Measuring Memory Bandwidths between nodes", text):
            self.part = "between"
        elif text.startswith("====") or re.match(r"Delay\s", text):
            self.part = "loaded"
            if (unit := UNIT.search(text)) is not None and unit[0] != "MB/sec":
                raise error_at(self.content.file, index, f"the bandwidths are in {unit[0]}; MLC prints MB/sec")
        else:
            return False
        return True

    def is_of_one_socket(self, index: int) -> bool:
        """Returns True if a value for all cores covers a single socket."""
        if self.sockets < NODES_MAX or self.command.cores or "cores" in self.content.given:
            return True
        self.of_all.append(index)
        return False

    def close(self) -> None:
        """Notes the rows that are left out; fails if there are no others."""
        if not self.of_all:
            return
        last = max(self.content.server.cores - 1, 1)
        message = (
            f"{self.of_all[0]} to {self.of_all[-1]}: {len(self.of_all)} rows are left out: they cover the cores "
            f"of all {self.sockets} nodes in the table of nodes. To measure one socket, run mlc with -k1-{last}, "
            "the cores of node 0"
        )
        if not self.rows and not self.found.measurements:
            raise error_at(self.content.file, self.of_all[0], message.partition(": ")[2])
        self.note(message)

    def note(self, text: str) -> None:
        """Adds a note on a line."""
        note = f"{self.content.file}:{text}"
        if note not in self.found.notes:
            self.found.notes.append(note)

    def loaded(self) -> Conditions:
        """Returns the conditions of a row of the table of loaded latencies."""
        if self.reads is None:
            index, text = self.traffic
            hint = f"if it is, say its share: {self.content.file}@reads=67"
            raise error_at(self.content.file, index, f'the traffic "{text}" is not modelled; {hint}', "not-supported")
        command = self.command
        cores = command.cores or max(self.content.server.cores - 1, 1)
        start = Conditions(cores=cores, probe="sequential", node=command.node)
        return replace(self.content.conditions(start), reads=self.reads)

    def nodes(self, cells: Sequence[str], index: int) -> None:
        """Adds the values of the first node with its own memory, and with that of an expander."""
        values = cells if self.content.server.expander_peak_gb_per_s is not None else cells[:1]
        if len(values) > NODES_MAX:
            message = f"{len(values)} nodes; {self.content.server.label} has two, its own and the one behind the link"
            raise error_at(self.content.file, index, f"{message}: leave the columns of these two")
        for node, text in enumerate(values):
            if self.part == "idle":
                self.add("latency", text, Conditions(probe="sequential", node=node), index)
            elif self.reads is not None:
                cores = self.command.cores or self.content.server.cores
                start = Conditions(cores=cores, reads=self.reads, node=node)
                self.add("bandwidth", text, start, index)

    def add(self, quantity: str, text: str, start: Conditions, index: int) -> None:
        """Adds an idle latency or a bandwidth."""
        conditions = self.content.conditions(start)
        value = _number(text, quantity, self.content.file, index) * (MB if quantity == "bandwidth" else 1.0)
        self.found.measurements.append(Measurement(quantity, value, conditions, self.content.file, str(index)))

    def peak(self, mix: str, text: str, index: int) -> None:
        """Adds a peak injection bandwidth of all cores."""
        reads = parse_reads(mix)
        if reads is None:
            return
        if self.is_of_one_socket(index):
            cores = self.command.cores or self.content.server.cores
            self.add("bandwidth", text, Conditions(cores=cores, reads=reads), index)


def parse_reads(line: str) -> float | None:
    """Returns the fraction of reads in a line like "Using Read-only traffic type"; None if it is not modeled."""
    if re.search(r"read[- ]only|all reads", line, re.I):
        return 1.0
    match = re.search(r"(\d+)\s*:\s*(\d+)", line)
    if match and int(match[1]) >= int(match[2]) > 0:
        return int(match[1]) / (int(match[1]) + int(match[2]))
    return None


def parse_row(line: str, file: str, index: int, conditions: Conditions) -> LoadedRow:
    """Parses a row of the table of loaded latencies."""
    match = ROW.fullmatch(line)
    if match is None:
        raise error_at(
            file, index, f'"{line.strip()}" is not a delay, a latency and a bandwidth; is the file truncated?'
        )
    latency_ns, bandwidth = _number(match[2], "latency", file, index), _number(match[3], "bandwidth", file, index)
    return LoadedRow(str(index), latency_ns, bandwidth * MB, conditions, float(match[1]))


def _number(text: str, what: str, file: str, index: int) -> float:
    try:
        return parse_positive(text, what)
    except ValueError as error:
        raise error_at(file, index, str(error)) from None

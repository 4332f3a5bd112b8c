"""What Intel Memory Latency Checker prints: loaded latencies, idle latency, peak injection bandwidths."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from hostnet.calibrate.measurement import Conditions, Measurement, number_of, wrong
from hostnet.calibrate.readers.content import Found
from hostnet.calibrate.readers.loaded import Row, add_rows
from hostnet.calibrate.readers.mlc_machine import Command, command_of, nodes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.calibrate.readers.content import Content

BANNER = re.compile(
    r"Memory Latency Checker|Memory Bandwidths between nodes|Measuring idle latenc"
    r"|^\s*Inject\s+Latency\s+Bandwidth|Measuring Loaded Latenc",
    re.M | re.I,
)
"""Shows that a text is MLC's."""

ROW = re.compile(r"\s*(\d{4,6})\s+(\S+)\s+(\S+)\s*")
"""Inject delay, latency in ns, bandwidth in MB/s."""

BROKEN_ROW = re.compile(r"\s*\d{4,6}(\s.*)?")
"""A row of the table, whole or not."""

UNIT = re.compile(r"\S+/s(ec)?\b", re.I)
"""The unit of the bandwidths in the heading of the table."""

IDLE = re.compile(r"Each iteration took .*?\(\s*(\S+)\s*ns\s*\)", re.I)
"""The idle latency."""

OF_FIRST = re.compile(r"\s*0((?:\s+\S+)+)\s*")
"""The row of the first node in a table of nodes: a number for the memory of each, its own first."""

PEAK = re.compile(r"\s*(ALL Reads|\d+:\d+ Reads-Writes)\s*:\s*(\S+)\s*", re.I)
"""A peak injection bandwidth in MB/s."""

NODES_MAX = 2
"""Nodes of memory that a server of one socket has: its own, and the one behind a link."""

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
    reader = _Reader(content)
    for index, line in enumerate(content.text.splitlines(), 1):
        reader.take(index, line)
    reader.close()
    if not reader.rows and not reader.found.measurements:
        place = len(content.text.splitlines())
        raise wrong(content.file, place, "the output of MLC ends without a measurement; is it truncated?")
    add_rows(reader.found, content.file, reader.rows)
    return reader.found


class _Reader:
    """Reads the output line by line, knowing which part it is in."""

    def __init__(self, content: Content) -> None:
        self.content = content
        self.command = Command()
        self.sockets = nodes_of(content.text.splitlines())
        self.found, self.rows = Found(), list[Row]()
        given = content.conditions(Conditions())
        self.reads: float | None = given.reads
        self.traffic = (1, "")
        self.part = ""
        self.of_all: list[int] = []

    def take(self, index: int, line: str) -> None:
        """Takes the next line."""
        text = line.strip()
        if self.heads(index, line, text):
            return
        if self.part == "loaded" and BROKEN_ROW.fullmatch(line):
            row = row_of(line, self.content.file, index, self.loaded())
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

    def heads(self, index: int, line: str, text: str) -> bool:
        """Handles a line that introduces the next ones."""
        if text.startswith("Intel(R) Memory Latency Checker"):
            self.command, self.part = Command(), ""
        elif (command := command_of(self.content, index, line)) is not None:
            self.command = command
            for remark in command.remarks:
                self.note(f"{index}: {remark}")
        elif re.search(r"Unable to modify prefetchers", line):
            self.note(f"{index}: the prefetchers were on, which the model does not have")
        elif re.search(r"\btraffic\b", line) and "reads" not in self.content.given:
            self.reads, self.traffic = reads_of(line), (index, text)
        elif re.match(r"Measuring idle latenc", text):
            self.part = "idle"
        elif re.match(r"Measuring Memory Bandwidths between nodes", text):
            self.part = "between"
        elif text.startswith("====") or re.match(r"Delay\s", text):
            self.part = "loaded"
            if (unit := UNIT.search(text)) is not None and unit[0] != "MB/sec":
                raise wrong(self.content.file, index, f"the bandwidths are in {unit[0]}; MLC prints MB/sec")
        else:
            return False
        return True

    def is_of_one_socket(self, index: int) -> bool:
        """Returns True if a number for all cores covers a single socket."""
        if self.sockets < NODES_MAX or self.command.cores or "cores" in self.content.given:
            return True
        self.of_all.append(index)
        return False

    def close(self) -> None:
        """Notes the rows that are left out, and refuses a file that has no others."""
        if not self.of_all:
            return
        last = max(self.content.server.cores - 1, 1)
        message = (
            f"{self.of_all[0]} to {self.of_all[-1]}: {len(self.of_all)} rows are left out: they cover the cores "
            f"of all {self.sockets} nodes in the table of nodes. To measure one socket, run mlc with -k1-{last}, "
            "the cores of node 0"
        )
        if not self.rows and not self.found.measurements:
            raise wrong(self.content.file, self.of_all[0], message.partition(": ")[2])
        self.note(message)

    def note(self, text: str) -> None:
        """Notes something about a line."""
        note = f"{self.content.file}:{text}"
        if note not in self.found.notes:
            self.found.notes.append(note)

    def loaded(self) -> Conditions:
        """The conditions of a row of the table of loaded latencies."""
        if self.reads is None:
            index, text = self.traffic
            hint = f"if it is, say its share: {self.content.file}@reads=67"
            raise wrong(self.content.file, index, f'the traffic "{text}" is not modelled; {hint}', "not-supported")
        command = self.command
        cores = command.cores or max(self.content.server.cores - 1, 1)
        start = Conditions(cores=cores, probe="sequential", node=command.node)
        return replace(self.content.conditions(start), reads=self.reads)

    def nodes(self, cells: Sequence[str], index: int) -> None:
        """Adds what the cores of the first node measured with its own memory, and with that of an expander."""
        told = cells if self.content.server.expander_peak_gb_per_s is not None else cells[:1]
        if len(told) > NODES_MAX:
            message = f"{len(told)} nodes; {self.content.server.label} has two, its own and the one behind the link"
            raise wrong(self.content.file, index, f"{message}: leave the columns of these two")
        for node, text in enumerate(told):
            if self.part == "idle":
                self.add("latency", text, Conditions(probe="sequential", node=node), index)
            elif self.reads is not None:
                cores = self.command.cores or self.content.server.cores
                start = Conditions(cores=cores, reads=self.reads, node=node)
                self.add("bandwidth", text, start, index)

    def add(self, quantity: str, text: str, start: Conditions, index: int) -> None:
        """Adds an idle latency, or a bandwidth."""
        conditions = self.content.conditions(start)
        value = _number(text, quantity, self.content.file, index) * (MB if quantity == "bandwidth" else 1.0)
        self.found.measurements.append(Measurement(quantity, value, conditions, self.content.file, str(index)))

    def peak(self, mix: str, text: str, index: int) -> None:
        """Adds a peak injection bandwidth, with all cores."""
        reads = reads_of(mix)
        if reads is None:
            return
        if self.is_of_one_socket(index):
            cores = self.command.cores or self.content.server.cores
            self.add("bandwidth", text, Conditions(cores=cores, reads=reads), index)


def reads_of(line: str) -> float | None:
    """The share of reads that a line such as "Using Read-only traffic type" names; None if the model cannot have it."""
    if re.search(r"read[- ]only|all reads", line, re.I):
        return 1.0
    match = re.search(r"(\d+)\s*:\s*(\d+)", line)
    if match and int(match[1]) >= int(match[2]) > 0:
        return int(match[1]) / (int(match[1]) + int(match[2]))
    return None


def row_of(line: str, file: str, index: int, conditions: Conditions) -> Row:
    """A row of the table of loaded latencies."""
    match = ROW.fullmatch(line)
    if match is None:
        raise wrong(file, index, f'"{line.strip()}" is not a delay, a latency and a bandwidth; is the file truncated?')
    latency_ns, bandwidth = _number(match[2], "latency", file, index), _number(match[3], "bandwidth", file, index)
    return Row(str(index), latency_ns, bandwidth * MB, conditions, float(match[1]))


def _number(text: str, what: str, file: str, index: int) -> float:
    try:
        return number_of(text, what)
    except ValueError as error:
        raise wrong(file, index, str(error)) from None

"""Reads the machine and the command from MLC's output: sockets, cores and the node of the buffers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hostnet.calibration.measurement import error_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.calibration.readers.data_file import DataFile

COMMAND = re.compile(r"\s*Command line parameters:(.*)", re.I)
"""Matches the options of the command."""

OPTION = re.compile(r"(?:^|\s)-([a-zA-Z])(\S*)")
"""Matches an option with its value; options with two hyphens only select what is printed."""

MATRIX = re.compile(r"\s*(?:Measuring idle latenc|Measuring Memory Bandwidths between nodes)", re.I)
"""Matches the title of a table with a row for each node that has cores."""

NODE_ROW = re.compile(r"\s*(\d{1,3})(?:\s+(?:\d+(?:\.\d+)?|-))+\s*")
"""Matches a row of such a table."""

HEADING = re.compile(r"\s*(?:Numa node|Memory node|Socket|Using\b.*|Bandwidths\b.*)(?:\s+\d+)*\s*", re.I)

CORES_MAX = 4096
"""Maximum number of a core."""


RANDOM = "at random within small blocks, where most reads are row hits, so it is read as sequential; if it is not, give"
"""MLC's random reads: over a whole buffer they would measure the TLB."""

REMARKS = {
    "e": "-e leaves the prefetchers on, which the model does not have",
    "r": f"-r measures latency {RANDOM} @probe=random",
    "U": f"-U loads the memory {RANDOM} @pattern=random",
}
"""Effects of some options."""


@dataclass(frozen=True)
class Command:
    """The load that a command generates."""

    cores: int = 0
    """Cores that generate the load (-k); 0 if not given."""
    node: int = 0
    """Node of their buffers (-j)."""
    remarks: tuple[str, ...] = ()
    """Differences from the model."""


def parse_command(content: DataFile, index: int, line: str) -> Command | None:
    """Reads the options of the command from the line that has them.

    Raises:
        DataError: The list of cores or the node is invalid, or a file defines the threads.
    """
    match = COMMAND.match(line)
    if match is None:
        return None
    options = dict(OPTION.findall(match[1]))
    if "o" in options and not {"cores", "reads"} <= content.given.keys():
        hint = f"give the load: {content.file}@cores=4,reads=100"
        raise error_at(content.file, index, f"-o reads the load of each thread from a file that is not here; {hint}")
    node = options.get("j", "0")
    if not node.isdigit() or int(node[:4]) > 1:
        raise error_at(content.file, index, f"-j{node}: on a server of one socket, buffers are in node 0 or 1")
    return Command(
        cores=_count(content, index, options["k"]) if "k" in options else 0,
        node=int(node),
        remarks=tuple(remark for name, remark in REMARKS.items() if name in options),
    )


def count_nodes(lines: Sequence[str]) -> int:
    """Returns the number of memory nodes with cores, from the rows of a table of nodes; 0 without a table."""
    most, rows, inside = 0, 0, False
    for line in lines:
        if MATRIX.match(line):
            inside, rows = True, 0
        elif inside and NODE_ROW.fullmatch(line):
            rows += 1
            most = max(most, rows)
        elif inside and line.strip() and not HEADING.fullmatch(line):
            inside = False
    return most


def _count(content: DataFile, index: int, text: str) -> int:
    """Counts the cores of a list such as 1-3,5; a single number is the last core of a list from 1."""
    cores: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?", part)
        if match is None or int(match[2] or match[1]) > CORES_MAX or int(match[1]) > int(match[2] or match[1]):
            hint = f"give the number of loading cores: {content.file}@cores=N"
            raise error_at(content.file, index, f'-k{text}: "{part}" is not a list of cores; {hint}')
        cores.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return len(cores)

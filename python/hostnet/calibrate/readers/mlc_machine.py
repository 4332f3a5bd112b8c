"""Reads the machine and the command from MLC's output: sockets, cores, the node of the buffers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hostnet.calibrate.measurement import wrong

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.calibrate.readers.content import Content

COMMAND = re.compile(r"\s*Command line parameters:(.*)", re.I)
"""The options of the command."""

OPTION = re.compile(r"(?:^|\s)-([a-zA-Z])(\S*)")
"""An option with its value; those of two hyphens say which part is printed."""

MATRIX = re.compile(r"\s*(?:Measuring idle latenc|Measuring Memory Bandwidths between nodes)", re.I)
"""Begins a table with a row for each node that has cores."""

NODE_ROW = re.compile(r"\s*(\d{1,3})(?:\s+(?:\d+(?:\.\d+)?|-))+\s*")
"""A row of such a table."""

HEADING = re.compile(r"\s*(?:Numa node|Memory node|Socket|Using\b.*|Bandwidths\b.*)(?:\s+\d+)*\s*", re.I)

CORES_MAX = 4096
"""The largest number of a core."""


RANDOM = "at random within small blocks, so rows are mostly open: taken as in order; if not, say it"
"""Random reads of MLC: over all of a buffer it would measure the TLB."""

REMARKS = {
    "e": "-e leaves the prefetchers on, which the model has not",
    "r": f"-r measures latency {RANDOM}: @probe=random",
    "U": f"-U loads the memory {RANDOM}: @pattern=random",
}
"""Effects of some options."""


@dataclass(frozen=True)
class Command:
    """Load that a command asked for."""

    cores: int = 0
    """Cores that make the load (-k); 0 if it does not say."""
    node: int = 0
    """The node of their buffers (-j)."""
    remarks: tuple[str, ...] = ()
    """Differences from the model."""


def command_of(content: Content, index: int, line: str) -> Command | None:
    """The options of the command, in the line that has them.

    Raises:
        DataError: The list of cores or the node is none, or each thread does something of its own.
    """
    match = COMMAND.match(line)
    if match is None:
        return None
    options = dict(OPTION.findall(match[1]))
    if "o" in options and not {"cores", "reads"} <= content.given.keys():
        hint = f"say it: {content.file}@cores=4,reads=100"
        raise wrong(content.file, index, f"-o takes what each thread does from a file, which is not here; {hint}")
    node = options.get("j", "0")
    if not node.isdigit() or int(node[:4]) > 1:
        raise wrong(content.file, index, f"-j{node}: buffers of a server of one socket are in node 0 or 1")
    return Command(
        cores=_count(content, index, options["k"]) if "k" in options else 0,
        node=int(node),
        remarks=tuple(remark for name, remark in REMARKS.items() if name in options),
    )


def nodes_of(lines: Sequence[str]) -> int:
    """Counts the nodes of memory with cores: a table of nodes has a row for each; 0 if there is none."""
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


def _count(content: Content, index: int, text: str) -> int:
    """Counts the cores of a list such as 1-3,5; a single number is the last core of a list from 1."""
    cores: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?", part)
        if match is None or int(match[2] or match[1]) > CORES_MAX or int(match[1]) > int(match[2] or match[1]):
            hint = f"say how many cores made the load: {content.file}@cores=N"
            raise wrong(content.file, index, f'-k{text}: "{part}" is no list of cores; {hint}')
        cores.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return len(cores)

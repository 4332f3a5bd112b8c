"""Assigns the memory of NUMA nodes to packages, by the kind of memory and the packages that it is local to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hostnet.hwloc.topology import BareNode
from hostnet.units import SIZE_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

DRAM = ("", "DRAM")
"""Kinds of memory on the channels of a socket; hwloc names none if there is only one kind."""

BEHIND_CXL = ("CXL-DRAM",)
"""Kinds of memory that are modelled as a socket without cores, regardless of the nearest package."""

STACKED = ("HBM", "MCDRAM")
"""Kinds of memory that a package may have instead of DRAM."""

GIB = SIZE_BYTES["GiB"]


@dataclass(frozen=True)
class Node:
    """A NUMA node."""

    number: str
    """Number in the operating system; "?" if unknown."""
    kind: str
    """Name of its kind of memory in hwloc; "" if it has none."""
    size: int
    """Size in bytes."""
    near: int
    """Local processing units, as a bit set; 0 for none."""


@dataclass
class Memory:
    """Memory of a machine, assigned to packages."""

    sizes: list[int]
    """Bytes per package."""
    numbers: list[list[str]]
    """Numbers of the NUMA nodes of each package."""
    bare: list[BareNode] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def assign_memory(nodes: Sequence[Node], packages: Sequence[int]) -> Memory:
    """Assigns memory to packages, given as bit sets of processing units; nodes local to none are kept separate."""
    memory = Memory([0] * len(packages), [[] for _ in packages])
    for node in nodes:
        places = [index for index, units in enumerate(packages) if node.near & units]
        if not node.size and not node.near:
            memory.notes.append(f"NUMA node {node.number} has neither cores nor memory and is left out")
        elif node.kind in BEHIND_CXL or (node.kind in DRAM and not node.near):
            memory.bare.append(BareNode(node.number, node.size))
        elif node.kind in DRAM and places:
            _add(memory, node, places)
        elif node.kind in DRAM:
            memory.notes.append(
                f"NUMA node {node.number} ({_gib(node)}) is local to cores outside any package, and is left out"
            )
    _assign_other_memory(memory, nodes, packages)
    return memory


def _assign_other_memory(memory: Memory, nodes: Sequence[Node], packages: Sequence[int]) -> None:
    """Assigns stacked memory to packages without DRAM, and omits other kinds of memory."""
    has_dram = [size > 0 for size in memory.sizes]
    for node in nodes:
        if node.kind in DRAM or node.kind in BEHIND_CXL:
            continue
        places = [index for index, units in enumerate(packages) if node.near & units]
        if node.kind in STACKED and places and not any(has_dram[place] for place in places):
            _add(memory, node, places)
            memory.notes.append(f"NUMA node {node.number} is {node.kind}: choose a memory.device of that kind")
            continue
        local = f" local to {_packages(places)}" if places else ""
        memory.notes.append(
            f"NUMA node {node.number} is {_gib(node)} of {node.kind}{local} and is left out: all channels of a socket "
            "have the same kind of memory. To use it instead, set memory.device and memory.size by hand"
        )


def _add(memory: Memory, node: Node, places: Sequence[int]) -> None:
    """Adds a node to the package that it is local to, or splits it evenly among several."""
    for place in places:
        memory.sizes[place] += node.size // len(places)
        memory.numbers[place].append(node.number)
    if len(places) > 1:
        note = f"NUMA node {node.number} is local to several packages ({_packages(places)})"
        memory.notes.append(f"{note}; its memory is split evenly among them")


def _packages(places: Sequence[int]) -> str:
    """Lists packages."""
    numbers = ", ".join(str(place) for place in places)
    return f"package{'' if len(places) == 1 else 's'} {numbers}"


def _gib(node: Node) -> str:
    """Formats the size of a node."""
    return f"{node.size / GIB:.4g} GiB"

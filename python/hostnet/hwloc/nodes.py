"""Assigns the memory of NUMA nodes to packages, by its kind and by the packages that it is local to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hostnet.hwloc.topology import BareNode

if TYPE_CHECKING:
    from collections.abc import Sequence

DRAM = ("", "DRAM")
"""Kinds of memory that the channels of a socket have; hwloc names none where there is one kind."""

BEHIND_CXL = ("CXL-DRAM",)
"""Kinds of memory that the model has as a socket without cores, whichever package is near."""

STACKED = ("HBM", "MCDRAM")
"""Kinds of memory that a package may have in the place of DRAM."""

GIB = 1 << 30


@dataclass(frozen=True)
class Node:
    """A NUMA node."""

    number: str
    """Its number in the operating system; "?" if it is not known."""
    kind: str
    """Name of its memory in hwloc; "" for nothing."""
    size: int
    """Bytes."""
    near: int
    """The processing units beside it, as bits; 0 for none."""


@dataclass
class Memory:
    """The memory of a machine, assigned to packages."""

    sizes: list[int]
    """Bytes of each package."""
    numbers: list[list[str]]
    """The numbers of the NUMA nodes of each package."""
    bare: list[BareNode] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def share_out(nodes: Sequence[Node], packages: Sequence[int]) -> Memory:
    """Assigns memory to packages, given as their processing units; nodes that are local to none are listed apart."""
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
    _share_out_others(memory, nodes, packages)
    return memory


def _share_out_others(memory: Memory, nodes: Sequence[Node], packages: Sequence[int]) -> None:
    """Uses stacked memory for packages without DRAM, and leaves out other kinds of memory."""
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
    numbers = ", ".join(str(place) for place in places)
    return f"package{'' if len(places) == 1 else 's'} {numbers}"


def _gib(node: Node) -> str:
    return f"{node.size / GIB:.4g} GiB"

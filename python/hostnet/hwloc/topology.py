"""Topology of a machine as hwloc knows it."""

from __future__ import annotations

from dataclasses import dataclass

from hostnet._core import ConfigError


class TopologyError(ConfigError):
    """The file is no topology that a server can be drafted from."""


@dataclass(frozen=True)
class Drive:
    """An NVMe drive."""

    address: str
    """PCI address."""
    link_gb_per_s: float
    """Speed of its link; 0 if hwloc does not know it."""
    name: str
    """What hwloc calls it; "" for nothing."""


@dataclass(frozen=True)
class Nic:
    """A port of a network card."""

    address: str
    """PCI address."""
    name: str
    """What hwloc calls it; "" for nothing."""


@dataclass(frozen=True)
class BareNode:
    """A NUMA node of DRAM that is beside no package alone, or behind CXL."""

    number: str
    """Its number in the operating system; "?" if it is not known."""
    memory: int
    """Bytes."""


@dataclass(frozen=True)
class Package:
    """A processor."""

    index: int
    """Its number in the file, from 0."""
    model: str
    """What the processor calls itself; "" if it does not."""
    family: str
    """Numbers of family and model, such as "6/85"; "" if they are not known."""
    cores: int
    """0 where a cgroup or a job has none of them."""
    memory: int
    """Bytes of its NUMA nodes of DRAM; 0 if hwloc does not know."""
    nodes: tuple[str, ...]
    """The numbers of its NUMA nodes in the operating system."""
    l2: int
    """Bytes of one L2 cache; 0 for none."""
    l3: int
    """Bytes of all L3 caches together; 0 for none."""
    drives: tuple[Drive, ...]
    """Drives at this processor."""
    nics: tuple[Nic, ...]
    """Ports of network cards at this processor."""


@dataclass(frozen=True)
class Topology:
    """A machine."""

    packages: tuple[Package, ...]
    bare: tuple[BareNode, ...]
    """Memory without cores."""
    loose: tuple[Drive, ...]
    """Drives of which hwloc does not say at which of several packages they are."""
    loose_nics: tuple[Nic, ...]
    """The same of network cards."""
    notes: tuple[str, ...]
    """What could not be told apart."""


def printable(text: str) -> str:
    """Text for one line of a comment."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:100]

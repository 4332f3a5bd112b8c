"""Topology of a machine as reported by hwloc."""

from __future__ import annotations

from dataclasses import dataclass

from hostnet._core import ConfigError


class TopologyError(ConfigError):
    """Raised if no server can be drafted from a file."""


@dataclass(frozen=True)
class Drive:
    """An NVMe drive."""

    address: str
    """PCI address."""
    link_gb_per_s: float
    """Speed of its link, in GB/s; 0 if unknown."""
    name: str
    """Name in hwloc; "" if it has none."""


@dataclass(frozen=True)
class Nic:
    """A port of a network card."""

    address: str
    """PCI address."""
    name: str
    """Name in hwloc; "" if it has none."""


@dataclass(frozen=True)
class BareNode:
    """A NUMA node of DRAM that is not local to a single package, or is behind CXL."""

    number: str
    """Number in the operating system; "?" if unknown."""
    memory: int
    """Size in bytes."""


@dataclass(frozen=True)
class Package:
    """A processor package."""

    index: int
    """Number in the file, from 0."""
    model: str
    """Name of the processor; "" if unknown."""
    family: str
    """Numbers of family and model, such as "6/85", or of implementer and part, such as "0x41/0xd4f"; "" if unknown."""
    cores: int
    """Number of cores; 0 if a cgroup or a job hides all of them."""
    memory: int
    """Bytes of its NUMA nodes of DRAM; 0 if unknown."""
    nodes: tuple[str, ...]
    """Numbers of its NUMA nodes in the operating system."""
    l2: int
    """Size of one L2 cache, in bytes; 0 for none."""
    l3: int
    """Total size of the L3 caches, in bytes; 0 for none."""
    l3_cores: tuple[int, ...]
    """Cores of each L3 cache that has any."""
    drives: tuple[Drive, ...]
    """Drives attached to the package."""
    nics: tuple[Nic, ...]
    """Ports of network cards attached to the package."""


@dataclass(frozen=True)
class Topology:
    """A machine."""

    packages: tuple[Package, ...]
    bare: tuple[BareNode, ...]
    """Memory without cores."""
    loose: tuple[Drive, ...]
    """Drives for which hwloc does not report the package."""
    loose_nics: tuple[Nic, ...]
    """Ports of network cards for which hwloc does not report the package."""
    notes: tuple[str, ...]
    """Notes on what hwloc leaves open."""


def printable(text: str) -> str:
    """Returns the text as one printable line of at most 100 characters."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:100]

"""Sockets of a draft other than the first: the values in which they differ from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hostnet._core import ConfigError
from hostnet.hwloc.families import family_of
from hostnet.hwloc.value import Value
from hostnet.hwloc.values import DRIVES_MAX, core_values, drive_values, memory_values
from hostnet.presets import ServerFile, value_at_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hostnet.hwloc.topology import BareNode, Drive, Nic, Package, Topology

TWO = 2
"""Maximum number of packages that use all their links between each other; with more, each pair has one link."""

SOCKETS_MAX = 8
"""Maximum number of sockets of a server."""


@dataclass(frozen=True)
class Socket:
    """A socket of the draft other than the first."""

    number: int
    """Number in the server, from 1."""
    what: str
    """Description of the socket on the machine."""
    values: tuple[Value, ...]
    """Values that differ from the first socket."""
    nics: tuple[Nic, ...] = ()
    """Ports of network cards that are attached to the socket."""


def sockets_source(topology: Topology) -> str:
    """Returns the source of the number of sockets."""
    packages, bare = len(topology.packages), len(topology.bare)
    source = f"hwloc: {packages} package{'' if packages == 1 else 's'}"
    return f"{source}, {bare} NUMA node{'' if bare == 1 else 's'} without cores" if bare else source


def other_sockets(
    topology: Topology, server: ServerFile, first: Sequence[Value], notes: list[str]
) -> tuple[Socket, ...]:
    """Returns the sockets after the first: packages, then NUMA nodes without cores.

    Raises:
        ConfigError: A server cannot have so many sockets, or a package has too many cores.
    """
    packages, bare = topology.packages, topology.bare
    if len(packages) + len(bare) > SOCKETS_MAX:
        raise ConfigError(
            "too-many",
            f"the machine has {len(packages)} packages and {len(bare)} NUMA nodes without cores; at most "
            f"{SOCKETS_MAX} sockets can be simulated; --package N drafts one package alone",
        )
    found = []
    left = DRIVES_MAX - next(value.value for value in first if value.path == "ssd.count")
    for number, package in enumerate(packages[1:], 1):
        if not package.cores:
            notes.append(
                f"package {package.index} shows no cores: it is socket {number}, with only its memory and devices"
            )
        elif package.model != packages[0].model:
            notes.append(f"socket {number} is another processor; what hwloc cannot know is assumed as of the first")
        drives = package.drives[:left]
        if len(drives) < len(package.drives):
            notes.append(
                f"socket {number}: of {len(package.drives)} drives {len(drives)} are taken; a server has at most "
                f"{DRIVES_MAX}"
            )
        left -= len(drives)
        found.append(package_socket(number, package, drives, first, server, notes))
    for number, node in enumerate(bare, len(packages)):
        notes.append(
            f"NUMA node {node.number} has no cores: it is socket {number}, reached over UPI however it is attached; "
            "its channels are assumed. On a server of one socket, describe memory behind a CXL link as an [expander]"
        )
        found.append(node_socket(number, node, first, server))
    return tuple(found)


def package_socket(
    number: int, package: Package, drives: Sequence[Drive], first: Sequence[Value], server: ServerFile, notes: list[str]
) -> Socket:
    """Returns the socket of a package."""
    cores = core_values(package, server, notes) if package.cores else [Value("core.count", 0, "hwloc shows none")]
    values = [*cores, *memory_values(package.memory, package.nodes, server)]
    if drives:
        values += drive_values(drives, server, family_of(package), notes)
    else:
        values += [Value("ssd.count", 0, "hwloc shows none")]
    what = f"package {package.index}{nodes_text(package.nodes)}"
    return Socket(number, what, tuple(differing_values(number, values, first, server)), package.nics)


def node_socket(number: int, node: BareNode, first: Sequence[Value], server: ServerFile) -> Socket:
    """Returns the socket of a NUMA node without cores."""
    none = "hwloc: memory alone"
    memory = memory_values(node.memory, (node.number,), server)
    values = [Value("core.count", 0, none), *memory, Value("ssd.count", 0, none)]
    return Socket(
        number, f"NUMA node {node.number}, without cores", tuple(differing_values(number, values, first, server))
    )


def nodes_text(nodes: Sequence[str]) -> str:
    """Lists the NUMA nodes of a package."""
    if not nodes:
        return ""
    return f", NUMA node{'' if len(nodes) == 1 else 's'} {', '.join(nodes)}"


def link_values(topology: Topology, notes: list[str]) -> tuple[Value, ...]:
    """Returns the values of the links between packages that follow from the number of packages."""
    packages = len(topology.packages)
    if packages <= TWO:
        return ()
    notes.append(
        f"each two of the {packages} packages are taken to be joined by one UPI link; where some are not, lines go "
        "over a third, which is not simulated"
    )
    return (Value("upi.links", 1, f"assumed: one link between each two of {packages} packages, check"),)


def differing_values(
    number: int, values: Sequence[Value], first: Sequence[Value], server: ServerFile
) -> Iterator[Value]:
    """Yields the values that differ from the first socket; all if the preset has a table for this socket.

    The number of drives is also yielded if the preset assigns drives to sockets, because the machine overrides that.
    """
    of_first = {value.path: value.value for value in first}
    has_table = str(number) in (server.effective.get("socket") or {})
    has_places = server.effective["ssd"].get("sockets") is not None
    paths = {value.path for value in values}
    for value in values:
        if (
            has_table
            or (has_places and value.path == "ssd.count")
            or value.path not in of_first
            or of_first[value.path] != value.value
        ):
            yield value
    rows = "memory.dram.rows"
    if rows in of_first and rows not in paths:
        yield Value(rows, value_at_path(server.effective, rows), f"as in {server.name}")

"""Drafts a server from a topology, with a preset for everything that hwloc does not report."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hostnet import _core
from hostnet._core import ConfigError
from hostnet.hwloc.chiplets import chiplet_values, has_chiplets
from hostnet.hwloc.families import ARM_PRESETS, SPECIAL, family_of, has_core_dies, is_arm
from hostnet.hwloc.sockets import Socket, link_values, other_sockets, sockets_source
from hostnet.hwloc.value import Value
from hostnet.hwloc.values import core_values, drive_values, memory_values
from hostnet.presets import ServerFile, load_server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.hwloc.topology import Package, Topology


NUMBER = re.compile(r"\d{4}\w?")
"""Number of a processor at the end of the name of its preset. Other names end in a number of cores, or in a machine."""


@dataclass(frozen=True)
class Draft:
    """A drafted server."""

    base: ServerFile
    """Preset that supplies all other values."""
    package: Package
    """The first socket."""
    description: str
    why_base: str
    """Reason for the choice of the preset."""
    sockets_source: str
    """Source of the number of sockets, for its comment."""
    values: tuple[Value, ...]
    """Values from hwloc or derived from it: of the first socket, and of others that do not differ from it."""
    others: tuple[Socket, ...]
    """Sockets other than the first."""
    notes: tuple[str, ...]


def draft(topology: Topology, package: int | None = None, base: str | None = None) -> Draft:
    """Drafts a server from a machine: a socket for each package, and for each NUMA node without cores.

    Args:
        topology: The machine.
        package: Number of the only package to draft; all by default.
        base: Preset for values that hwloc does not report; by default the one nearest to the first package.

    Raises:
        ConfigError: There is no such package or preset, or the machine is larger than a server can be.
    """
    count = len(topology.packages)
    if package is not None and not 0 <= package < count:
        raise ConfigError("does-not-exist", f"--package {package}: the machine has {count}, numbered from 0")
    if package is None:
        with_cores_first = sorted(topology.packages, key=lambda one: one.cores == 0)
        topology = replace(topology, packages=tuple(with_cores_first))
    first = topology.packages[package or 0]
    if not first.cores:
        raise ConfigError(
            "wrong-count", f"--package {package}: has no cores in this topology; run lstopo outside the cgroup or job"
        )
    notes = list(topology.notes)
    drives = [*first.drives, *topology.loose]
    _note_loose(topology, package, notes)
    drafted = topology.packages if package is None else (first,)
    server, why, chiplets = _base_and_chiplets(drafted, base, notes)
    if str(server.effective["memory"].get("device")).startswith("HBM"):
        notes.append(f"the channels of {server.name} are HBM: for a machine with DDR5, name another preset with --base")
    values = (
        *core_values(first, server, notes),
        *chiplets,
        *memory_values(first.memory, first.nodes, server),
        *drive_values(drives, server, family_of(first), notes),
    )
    if package is None:
        others, source = other_sockets(topology, server, values, notes), sockets_source(topology)
    else:
        others, source = (), f"as requested: package {package} of {count} alone" if count > 1 else "hwloc"
        notes += [f"NUMA node {node.number} belongs to no single package and is left out" for node in topology.bare]
    if others and "upi" not in server.effective:
        raise ConfigError(
            "must-agree",
            f"--base {server.name}: a server of one socket; name another preset, or --package N for one of them",
        )
    if others:
        values = (*values, *link_values(topology, notes))
        notes.append(
            "predictions and hostnet calibrate cover servers of one socket; --package N drafts one package alone"
        )
    alike = sum(one.cores > 0 for one in topology.packages)
    cores = f"{alike} x {first.cores} cores" if others and alike > 1 else f"{first.cores} cores"
    description = f"{first.model or 'unknown processor'}, {cores}, from lstopo"
    return Draft(server, first, description, why, source, values, others, tuple(dict.fromkeys(notes)))


def _note_loose(topology: Topology, package: int | None, notes: list[str]) -> None:
    """Adds notes on devices whose package is unknown, and on network cards."""
    where = "the first socket" if package is None else f"package {package}"
    for drive in topology.loose:
        notes.append(f"drive {drive.address}: hwloc does not say at which package it is; assumed at {where}")
    for nic in topology.loose_nics:
        notes.append(f"network card {nic.address}: hwloc does not say at which package it is")
    for socket, other in enumerate(topology.packages[1:] if package is None else (), 1):
        if other.nics:
            notes.append(
                f"network card {other.nics[0].address} hangs off socket {socket}; a server file has no NIC, and "
                "nic.functions says where that of a host of a cluster hangs off"
            )


def _base_and_chiplets(
    packages: Sequence[Package], base: str | None, notes: list[str]
) -> tuple[ServerFile, str, list[Value]]:
    """Returns the preset, the reason for its choice, and the chiplets of the packages.

    Raises:
        ConfigError: The preset that the user wants is unknown, or its CCDs cannot share the cores.
    """
    first = packages[0]
    name, why = nearest_preset(first) if base is None else (_known(base), "as asked")
    server = load_server(name)
    chiplets = chiplet_values(packages, server, notes)
    if chiplets is not None:
        return server, why, chiplets
    if base is not None:
        raise ConfigError(
            "not-a-multiple",
            f"--base {name}: its {server.effective['chiplets']['ccds']} CCDs cannot share {first.cores} cores per "
            "package; name a preset without chiplets",
        )
    name = _by_cores(_stand_ins(first, chiplets=False), first.cores)
    return load_server(name), "a server of one die: the nearest by number of cores", []


def nearest_preset(package: Package) -> tuple[str, str]:
    """Returns the preset that is most similar to a processor, and the reason."""
    presets = [name for name, _, _ in _core.presets()]
    for name in presets:
        number = name.rpartition("-")[2]
        if NUMBER.fullmatch(number) and re.search(rf"\b{number}\b", package.model, re.IGNORECASE):
            return name, "the same processor"
    family = family_of(package)
    relatives = [name for name in presets if family is not None and name.startswith(family.presets)]
    if relatives:
        return _by_cores(relatives, package.cores), "the nearest family"
    stand_ins = _stand_ins(package, chiplets=has_core_dies(package))
    return _by_cores(stand_ins, package.cores), "no preset of this family: the nearest by number of cores"


def _stand_ins(package: Package, *, chiplets: bool) -> list[str]:
    """Returns the presets that stand in for a processor of unknown family: servers with UPI, of its kind of cores."""
    found = []
    for name, _, _ in _core.presets():
        server = load_server(name)
        kind = name.startswith(ARM_PRESETS) if is_arm(package) else not name.startswith(SPECIAL)
        if "upi" in server.effective and kind and has_chiplets(server) == chiplets:
            found.append(name)
    return found


def _by_cores(names: Sequence[str], cores: int) -> str:
    """Returns the preset whose number of cores is nearest."""
    return min(names, key=lambda name: abs(load_server(name).cores - cores))


def _known(name: str) -> str:
    """Checks the name of a preset."""
    presets = [preset for preset, _, _ in _core.presets()]
    if name not in presets:
        near = difflib.get_close_matches(name, presets, 1)
        hint = f'did you mean "{near[0]}"?' if near else "`hostnet list presets` names all"
        raise ConfigError("unknown-name", f"--base {name}: not a preset; {hint}")
    return name

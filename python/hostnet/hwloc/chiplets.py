"""Derives the chiplets of a socket from the L3 caches and NUMA nodes of a package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.hwloc.families import family_of
from hostnet.hwloc.value import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.hwloc.topology import Package
    from hostnet.presets import ServerFile

CCDS_MAX = 16
"""Maximum number of CCDs of a socket."""

NODES = (1, 2, 4)
"""Numbers of NUMA nodes that a socket with chiplets can have."""


def has_chiplets(server: ServerFile) -> bool:
    """Returns True if the cores of a server are on several dies."""
    return server.effective.get("chiplets") is not None


def chiplet_values(packages: Sequence[Package], server: ServerFile, notes: list[str]) -> list[Value] | None:
    """Returns the CCDs and NUMA nodes of the sockets, which are alike; None if no number of CCDs fits their cores.

    The list is empty if the server has no chiplets.
    """
    if not has_chiplets(server):
        return []
    ccds = _ccds(packages, server, notes)
    if ccds is None:
        return None
    notes.append(
        f"hwloc shows neither the clock of the data fabric (chiplets.fclk) nor what a CCD can have in flight "
        f"(chiplets.entries): both are assumed as in {server.name}"
    )
    return [ccds, *_nodes(packages[0], server, notes)]


def _ccds(packages: Sequence[Package], server: ServerFile, notes: list[str]) -> Value | None:
    """Returns the number of CCDs: from the L3 caches, or that of the preset if they have unequal numbers of cores."""
    caches, family = packages[0].l3_cores, family_of(packages[0])
    each = max(family.l3_per_ccd if family else 1, 1)
    # A virtual machine or a cgroup may have a part of one CCD.
    each = min(each, max(len(caches), 1))
    found, left = divmod(len(caches), each)
    alike = all(package.l3_cores == caches for package in packages if package.cores)
    if alike and not left and len(set(caches)) == 1 and _fit(found, packages):
        what = f"{len(caches)} L3 cache{'' if len(caches) == 1 else 's'} of {caches[0]} cores"
        return Value("chiplets.ccds", found, f"hwloc: {what}{f', {each} per CCD' if each > 1 else ''}")
    assumed = int(server.effective["chiplets"]["ccds"])
    fits = _fit(assumed, packages)
    notes.append(f"{_why_not(caches)}: {f'{assumed} CCDs are assumed' if fits else 'no chiplets are drafted'}")
    return Value("chiplets.ccds", assumed, f"assumed as in {server.name}, check") if fits else None


def _why_not(caches: Sequence[int]) -> str:
    """Returns the reason why the L3 caches of the packages do not give the number of CCDs."""
    if not caches:
        return "hwloc shows no L3 cache, and so no CCDs"
    cores = ", ".join(map(str, sorted(set(caches))))
    return (
        f"hwloc shows {len(caches)} L3 cache{'' if len(caches) == 1 else 's'} of {cores} cores in the first package; "
        "all CCDs of a server have the same number of cores in the model"
    )


def _fit(ccds: int, packages: Sequence[Package]) -> bool:
    """Returns True if the cores of every package can be shared by a number of CCDs."""
    return 0 < ccds <= CCDS_MAX and all(package.cores % ccds == 0 for package in packages)


def _nodes(package: Package, server: ServerFile, notes: list[str]) -> list[Value]:
    """Returns the number of NUMA nodes per socket, if hwloc shows one that a socket can have."""
    nodes = len(package.nodes)
    if nodes in NODES and int(server.effective["memory"]["channels"]) % nodes == 0:
        return [Value("chiplets.nps", nodes, f"hwloc: {nodes} NUMA node{'' if nodes == 1 else 's'} in the package")]
    if nodes:
        notes.append(
            f"hwloc shows {nodes} NUMA nodes in a package; a socket has 1, 2 or 4, so each L3 may be shown as a node: "
            "check chiplets.nps"
        )
    return []

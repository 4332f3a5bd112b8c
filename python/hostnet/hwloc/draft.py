"""From what hwloc knows to a server, with a preset for the rest."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet._core import ConfigError
from hostnet.presets import PCIE_GENERATIONS, ServerFile, load_server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.hwloc.topology import Drive, Package, Topology

XEON = re.compile(r"xeon.*\b(?:gold|silver|bronze|platinum)\D*\d(\d)\d\d", re.IGNORECASE)
"""The generation of a Xeon Scalable processor is the second digit of its number."""


@dataclass(frozen=True)
class Family:
    """Processors of one generation: the presets that are nearest, and the L3 in one slice."""

    presets: str
    slice_bytes: int


SKYLAKE = Family("cascade-lake", 1408 * 1024)
ICE_LAKE = Family("ice-lake", 1536 * 1024)
SAPPHIRE_RAPIDS = Family("ice-lake", 1920 * 1024)
EMERALD_RAPIDS = Family("ice-lake", 5120 * 1024)

GENERATIONS = {"1": SKYLAKE, "2": SKYLAKE, "3": ICE_LAKE, "4": SAPPHIRE_RAPIDS, "5": EMERALD_RAPIDS}
"""The family of each generation. Cascade Lake is as Skylake; of later ones than Ice Lake there is no preset."""

FAMILIES = {
    "6/85": SKYLAKE,
    "6/106": ICE_LAKE,
    "6/108": ICE_LAKE,
    "6/143": SAPPHIRE_RAPIDS,
    "6/207": EMERALD_RAPIDS,
}
"""The same by family and model number (Intel Software Developer's Manual, volume 4, table 2-1)."""

SLICES_PER_CORE_MAX = 4
"""The most slices for each core that is in use, of processors on sale: a Xeon Gold 6250 has 26 for 8."""

LANES_USUAL = (4, 8, 2, 16, 1)
"""Lanes of a drive, the usual first."""

LINK_MARGIN = 0.02
"""How far the speed that hwloc tells may be from that of a link."""

SLICES_MAX = 256
"""The most slices of a server."""

ROWS_MAX = 1 << 24
"""The most rows of a bank."""

CORES_MAX = 1024
"""The most cores of a server."""

GIB = 1 << 30
MIB = 1 << 20


@dataclass(frozen=True)
class Value:
    """A value of the draft."""

    path: str
    value: Any
    source: str
    """Where it comes from, for the comment."""


@dataclass(frozen=True)
class Draft:
    """A server, value by value."""

    base: ServerFile
    """The preset that everything else comes from."""
    package: Package
    description: str
    why_base: str
    """Why this preset is the nearest."""
    values: tuple[Value, ...]
    """What hwloc tells or what follows from it."""
    notes: tuple[str, ...]


def draft(topology: Topology, package: int | None = None, base: str | None = None) -> Draft:
    """Drafts a server from one package of a machine.

    Args:
        topology: The machine.
        package: Its number; the first one if not given.
        base: The preset for what hwloc cannot know; the nearest if not given.

    Raises:
        ConfigError: There is no such package or preset, or the package is larger than a server can be.
    """
    count = len(topology.packages)
    if package is not None and not 0 <= package < count:
        raise ConfigError(f"--package {package}: the machine has {count}, numbered from 0")
    chosen = topology.packages[package or 0]
    name, why = nearest_preset(chosen) if base is None else (_known(base), "as asked")
    server = load_server(name)
    notes = list(topology.notes)
    if count > 1:
        other = "; --package N takes another" if package is None else ""
        notes.insert(
            0, f"package {chosen.index} of {count} is drafted, since a server of hostnet is one package{other}"
        )
    values = (*_core_values(chosen, notes), *_memory_values(chosen, server), *_drive_values(chosen, server, notes))
    description = f"{chosen.model or 'unknown processor'}, {chosen.cores} cores, from lstopo"
    return Draft(server, chosen, description, why, values, tuple(notes))


def nearest_preset(package: Package) -> tuple[str, str]:
    """The preset that is most like a processor, and why."""
    presets = [name for name, _, _ in _core.presets()]
    for name in presets:
        number = name.rpartition("-")[2]
        if re.search(rf"\b{re.escape(number)}\b", package.model):
            return name, "the same processor"
    family = family_of(package)
    relatives = [name for name in presets if family is not None and name.startswith(family.presets)]
    if relatives:
        return _by_cores(relatives, package.cores), "the nearest family"
    return _by_cores(presets, package.cores), "no preset of this family: the nearest by number of cores"


def family_of(package: Package) -> Family | None:
    """The generation of a processor, by the number of a Xeon or by its family and model, if it is known."""
    match = XEON.search(package.model)
    return GENERATIONS.get(match[1]) if match else FAMILIES.get(package.family)


def _by_cores(names: Sequence[str], cores: int) -> str:
    return min(names, key=lambda name: abs(load_server(name).cores - cores))


def _known(name: str) -> str:
    presets = [preset for preset, _, _ in _core.presets()]
    if name not in presets:
        near = difflib.get_close_matches(name, presets, 1)
        hint = f'did you mean "{near[0]}"?' if near else f"presets are {', '.join(presets)}"
        raise ConfigError(f"--base {name}: not a preset; {hint}")
    return name


def _core_values(package: Package, notes: list[str]) -> list[Value]:
    if package.cores > CORES_MAX:
        raise ConfigError(f"package {package.index} has {package.cores} cores; at most {CORES_MAX} can be simulated")
    return [Value("core.count", package.cores, "hwloc"), _slices(package, notes)]


def _slices(package: Package, notes: list[str]) -> Value:
    """The slices that the L3 is made of, where the size of one is known and the machine shows all of its processor."""
    family = family_of(package)
    assumed = Value("cha.slices", min(package.cores, SLICES_MAX), "assumed: one slice per core, check")
    if family is None or not package.l3 or package.l3 % family.slice_bytes:
        return assumed
    slices, each = package.l3 // family.slice_bytes, f"{_mib(family.slice_bytes)} MiB"
    if slices > SLICES_PER_CORE_MAX * package.cores or slices > SLICES_MAX:
        notes.append(
            f"hwloc shows an L3 of {_mib(package.l3)} MiB, which is {slices} slices of {each}, for {package.cores} "
            "cores: a virtual machine shows the L3 of a processor of which it has some cores. One slice per core is "
            "assumed"
        )
        return assumed
    if slices < package.cores:
        notes.append(
            f"hwloc shows an L3 of {_mib(package.l3)} MiB, which is {slices} slices of {each}, fewer than the "
            f"{package.cores} cores: this processor has slices of another size. One slice per core is assumed"
        )
        return assumed
    source = f"hwloc: L3 of {_mib(package.l3)} MiB, in slices of {each} as this family has"
    return Value("cha.slices", slices, source)


def _memory_values(package: Package, server: ServerFile) -> list[Value]:
    """The memory in use, and as many rows as it needs."""
    if not package.memory:
        return [Value("memory.size", "all", "hwloc tells no memory size; all that the channels hold")]
    nodes = f" in {package.nodes} NUMA nodes" if package.nodes > 1 else ""
    told = f"hwloc: {package.memory / GIB:.1f} GiB{nodes}"
    unit, name = (GIB, "GiB") if package.memory >= GIB else (MIB, "MiB")
    whole = package.memory // unit
    if not whole:
        return [Value("memory.size", "all", f"hwloc tells {package.memory} B; all that the channels hold")]
    size = Value("memory.size", f"{whole} {name}", told)
    dram, held = server.effective["memory"]["dram"], server.memory_held
    rows, most = int(dram["rows"]), whole * unit
    while held < most and rows < ROWS_MAX:
        rows, held = rows * 2, held * 2
    if held < most:
        return [Value("memory.size", "all", f"{told}; more than the model can hold")]
    if rows == dram["rows"]:
        return [size]
    return [
        size,
        Value("memory.dram.rows", rows, f"so many that the channels hold {whole} {name}; ranks as in {server.name}"),
    ]


def _drive_values(package: Package, server: ServerFile, notes: list[str]) -> list[Value]:
    """Drives and their links. The model has drives of one kind, at least one."""
    drives = list(package.drives)
    if not drives:
        notes.append("hwloc shows no NVMe drive at this package; the model needs one, so one is assumed")
    if len(drives) > 64:
        notes.append(f"hwloc shows {len(drives)} drives; at most 64 can be simulated")
        drives = drives[:64]
    count = Value("ssd.count", max(len(drives), 1), "hwloc" if drives else "assumed: hwloc shows none")
    links = Counter(link for drive in drives if (link := link_of(drive)) is not None)
    if not links:
        lanes = 4 * count.value
        generation = server.effective["pcie"]["generation"]
        source = "assumed: hwloc tells no link speed, check"
        return [count, Value("pcie.generation", generation, source), Value("pcie.lanes", lanes, source)]
    (generation, lanes), most = links.most_common(1)[0]
    if most < len(drives):
        notes.append(
            f"{len(drives) - most} of {len(drives)} drives have other links or none that hwloc knows; "
            "drives of the model are all alike"
        )
    speed = next(drive.link_gb_per_s for drive in drives if link_of(drive) == (generation, lanes))
    source = f"hwloc: {speed:.2f} GB/s per drive"
    return [count, Value("pcie.generation", generation, source), Value("pcie.lanes", lanes * len(drives), source)]


def link_of(drive: Drive) -> tuple[int, int] | None:
    """Generation and lanes of a drive's link, from its speed; four lanes where several fit."""
    for lanes in LANES_USUAL:
        for generation in PCIE_GENERATIONS:
            speed = _core.link_bytes_per_s(generation, lanes) / 10**9
            if abs(drive.link_gb_per_s - speed) < LINK_MARGIN * speed:
                return generation, lanes
    return None


def _mib(size: int) -> str:
    return f"{size / 2**20:.4g}"

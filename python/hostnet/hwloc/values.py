"""Derives values of a server file from what hwloc reports of a processor, memory and drives."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hostnet import _core
from hostnet._core import ConfigError
from hostnet.hwloc.chiplets import has_chiplets
from hostnet.hwloc.families import Family, family_of
from hostnet.hwloc.value import Value
from hostnet.presets import PCIE_GENERATIONS, ServerFile
from hostnet.running.ranges import CORES_MAX
from hostnet.units import SIZE_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.hwloc.topology import Drive, Package

SLICES_PER_CORE_MAX = 4
"""Maximum number of slices per active core of any processor on sale: a Xeon Gold 6250 has 26 for 8."""

LANES_USUAL = (4, 8, 2, 16, 1)
"""Lanes of a drive, the most common first."""

LINK_MARGIN = 0.005
"""Largest relative difference between the speed that hwloc reports and that of a link."""

SLICES_MAX = 256
"""Maximum number of slices of a server."""

ROWS_MAX = 1 << 24
"""Maximum number of rows of a bank."""

DRIVES_MAX = 64
"""Maximum number of drives of a server."""

GIB, MIB = SIZE_BYTES["GiB"], SIZE_BYTES["MiB"]


def core_values(package: Package, server: ServerFile, notes: list[str]) -> list[Value]:
    """Returns the number of cores, and of slices if they do not follow from the preset or the channels of memory.

    Raises:
        ConfigError: There are too many cores.
    """
    if package.cores > CORES_MAX:
        raise ConfigError(
            "too-many", f"package {package.index} has {package.cores} cores; at most {CORES_MAX} can be simulated"
        )
    cores = Value("core.count", package.cores, "hwloc")
    family = family_of(package)
    as_preset = family is not None and not family.slice_bytes and server.name.startswith(family.presets)
    return [cores] if as_preset or has_chiplets(server) else [cores, _slices(package, notes)]


def _slices(package: Package, notes: list[str]) -> Value:
    """Returns the number of L3 slices, if the slice size is known and the machine shows its whole processor."""
    family = family_of(package)
    assumed = Value("cha.slices", min(package.cores, SLICES_MAX), "assumed: one slice per core, check")
    if family is None or not family.slice_bytes or not package.l3 or package.l3 % family.slice_bytes:
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


def memory_values(memory: int, nodes: Sequence[str], server: ServerFile) -> list[Value]:
    """Returns the memory of some NUMA nodes, and the number of rows that hold it."""
    if not memory:
        return [Value("memory.size", "all", "hwloc reports no memory size; all that the channels hold")]
    size_text = f"hwloc: {memory / GIB:.2f} GiB{f' in {len(nodes)} NUMA nodes' if len(nodes) > 1 else ''}"
    unit, name = (GIB, "GiB") if memory % GIB == 0 else (MIB, "MiB")
    whole = memory // unit
    if not whole:
        return [Value("memory.size", "all", f"hwloc reports {memory} B; all that the channels hold")]
    size = Value("memory.size", f"{whole} {name}", size_text)
    dram, held = server.effective["memory"]["dram"], server.memory_bytes
    rows, most = int(dram["rows"]), whole * unit
    while held < most and rows < ROWS_MAX:
        rows, held = rows * 2, held * 2
    if held < most:
        return [Value("memory.size", "all", f"{size_text}; more than the model can hold")]
    if rows == dram["rows"]:
        return [size]
    return [
        size,
        Value("memory.dram.rows", rows, f"chosen so that the channels hold {whole} {name}; ranks as in {server.name}"),
    ]


def drive_values(drives: Sequence[Drive], server: ServerFile, family: Family | None, notes: list[str]) -> list[Value]:
    """Returns the drives of a socket and their links: one kind of drive per socket, and at least one drive."""
    if not drives:
        notes.append("hwloc shows no NVMe drive at the first socket; the model needs one there, so one is assumed")
    if len(drives) > DRIVES_MAX:
        notes.append(f"hwloc shows {len(drives)} drives; at most {DRIVES_MAX} can be simulated")
        drives = drives[:DRIVES_MAX]
    count = Value("ssd.count", max(len(drives), 1), "hwloc" if drives else "assumed: hwloc shows none")
    newest = family.generation if family else PCIE_GENERATIONS[-1]
    links = Counter(fits[0] for drive in drives if (fits := links_of(drive, newest)))
    if not links:
        lanes = 4 * count.value
        generation = server.effective["pcie"]["generation"]
        source = "assumed: hwloc reports no link speed, check"
        return [count, Value("pcie.generation", generation, source), Value("pcie.lanes", lanes, source)]
    (generation, lanes), most = links.most_common(1)[0]
    if most < len(drives):
        notes.append(
            f"{len(drives) - most} of {len(drives)} drives have other links or none that hwloc knows; "
            "drives of the model are all alike"
        )
    fits = next(fits for drive in drives if (fits := links_of(drive, newest))[:1] == [(generation, lanes)])
    speed = next(drive.link_gb_per_s for drive in drives if links_of(drive, newest) == fits)
    source = f"hwloc: {speed:.2f} GB/s per drive{_guess(fits, family)}"
    return [count, Value("pcie.generation", generation, source), Value("pcie.lanes", lanes * len(drives), source)]


def links_of(drive: Drive, newest: int = PCIE_GENERATIONS[-1]) -> list[tuple[int, int]]:
    """Returns generation and lanes of all links with the speed of a drive's link, the most common width first."""
    return [
        (generation, lanes)
        for lanes in LANES_USUAL
        for generation in PCIE_GENERATIONS
        if generation <= newest
        and abs(drive.link_gb_per_s - (speed := _core.link_bytes_per_s(generation, lanes) / 10**9))
        < LINK_MARGIN * speed
    ]


def _guess(fits: Sequence[tuple[int, int]], family: Family | None) -> str:
    """Describes the uncertainty of generation and lanes, of which hwloc reports only the resulting speed."""
    if len(fits) == 1:
        return f", given that this family has PCIe {family.generation} at most" if family else ""
    (generation, lanes), *others = fits
    also = " or ".join(f"{other} x{width}" for other, width in others)
    return f"; PCIe {generation} x{lanes} is assumed, but it may be {also}: check"


def _mib(size: int) -> str:
    """Formats a size in MiB."""
    return f"{size / 2**20:.4g}"

"""Topologies in the format of lstopo, constructed by hand."""

from __future__ import annotations

from collections.abc import Sequence

GIB = 1 << 30
MIB = 1 << 20

SPACE = 48
"""Minimum distance between the first processing units of two packages."""

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "{dtd}">\n<topology{version}>\n'


def cpuset(first: int, count: int) -> str:
    """Returns a set of processing units in words of 32 bits, the highest first; empty words are omitted."""
    bits = ((1 << count) - 1) << first
    words: list[str] = []
    while bits or not words:
        words.append(f"0x{bits & 0xFFFFFFFF:08x}" if bits & 0xFFFFFFFF else "")
        bits >>= 32
    return ",".join(reversed(words))


def drive(address: str, speed: float, model: str = "") -> str:
    """Returns an NVMe drive behind its bridge."""
    info = f'<info name="Model" value="{model}"/>' if model else ""
    return (
        f'<object type="Bridge" bridge_type="1-1" depth="1" bridge_pci="0000:[01-01]" pci_link_speed="{speed:.6f}">'
        f'<object type="PCIDev" pci_busid="{address}" pci_type="0108 [144d:a80a] [144d:a801] 00" '
        f'pci_link_speed="{speed:.6f}"><object type="OSDev" name="nvme0n1" osdev_type="0">{info}</object>'
        "</object></object>"
    )


def nic(address: str, name: str = "", kind: str = "0200") -> str:
    """Returns a port of a network card."""
    inside = f'<object type="OSDev" name="{name}" osdev_type="2"/>' if name else ""
    return f'<object type="PCIDev" pci_busid="{address}" pci_type="{kind} [15b3:1019] [15b3:0008] 00">{inside}</object>'


def bare_node(index: int, size: int) -> str:
    """Returns memory without cores."""
    return f'<object type="NUMANode" os_index="{index}" cpuset="0x0" nodeset="{1 << index:#x}" local_memory="{size}"/>'


def package(
    index: int,
    model: str,
    cores: int,
    memory: Sequence[int],
    l3: int,
    inside: str = "",
    family: str = "6/85",
    caches: Sequence[int] = (),
) -> str:
    """Returns a package of hwloc 2; two processing units per core.

    Its NUMA nodes share its cores evenly, and have an L3 each, or several with as many cores as `caches` says.
    """
    each, units = cores // len(memory), 2 * cores
    start = index * max(units, SPACE)
    infos = ("CPUImplementer", "CPUPart") if family.startswith("0x") else ("CPUFamilyNumber", "CPUModelNumber")
    parts = [f'<object type="Package" os_index="{index}" cpuset="{cpuset(start, units)}">', info("CPUModel", model)]
    parts += map(info, infos, family.split("/"))
    size = l3 // (len(memory) * max(len(caches), 1))
    for node, node_size in enumerate(memory):
        first = start + node * 2 * each
        near = cpuset(first, 2 * each)
        parts.append(f'<object type="Group" cpuset="{near}">')
        parts.append(
            f'<object type="NUMANode" os_index="{index * len(memory) + node}" cpuset="{near}" '
            f'local_memory="{node_size}"/>'
        )
        for count in caches or (each,):
            parts.append(l3_cache(first, count, size))
            first += 2 * count
        parts.append("</object>")
    return "".join(parts) + inside + "</object>"


def info(name: str, value: str) -> str:
    return f'<info name="{name}" value="{value}"/>'


def l3_cache(first: int, cores: int, size: int) -> str:
    """Returns an L3 with the L2 caches and the cores behind it."""
    parts = [
        f'<object type="L3Cache" cpuset="{cpuset(first, 2 * cores)}" cache_size="{size}" depth="3" cache_type="0">'
    ]
    for core in range(cores):
        place = cpuset(first + 2 * core, 2)
        parts.append(
            f'<object type="L2Cache" cpuset="{place}" cache_size="{MIB}" depth="2" cache_type="0">'
            f'<object type="Core" cpuset="{place}"><object type="PU" cpuset="{place}"/><object type="PU"/></object>'
            "</object>"
        )
    return "".join(parts) + "</object>"


def machine(inside: str, units: int = 128) -> str:
    """Returns a whole file of hwloc 2."""
    head = HEAD.format(dtd="hwloc2.dtd", version=' version="2.0"')
    return f'{head}<object type="Machine" os_index="0" cpuset="{cpuset(0, units)}">{inside}</object></topology>\n'


LAPTOP = machine(
    package(0, "12th Gen Intel(R) Core(TM) i5-1240P", 6, [16 * GIB - 300 * MIB], 12 * MIB, family="6/154")
    + drive("0000:01:00.0", 7.876923, "SAMSUNG MZVL2512"),
    12,
)

ONE_SOCKET = machine(
    package(
        0,
        "Intel(R) Xeon(R) Gold 6234 CPU @ 3.30GHz",
        8,
        [192 * GIB],
        18 * 1408 * 1024,
        "".join(drive(f"0000:{bus}:00.0", 3.938462) for bus in (17, 18, 19, 20)),
    ),
    16,
)

TWO_SOCKETS = machine(
    "".join(
        package(
            index,
            "Intel(R) Xeon(R) Platinum 8358 CPU @ 2.60GHz",
            32,
            [256 * GIB],
            48 * MIB,
            "".join(drive(f"000{index}:{bus}:00.0", 7.876923) for bus in range(16, 18 + 2 * index)),
            "6/106",
        )
        for index in range(2)
    )
)

FOUR_SOCKETS = machine(
    "".join(
        package(
            index,
            "Intel(R) Xeon(R) Platinum 8260 CPU @ 2.40GHz",
            24 - 4 * (index == 3),
            [(192 - 96 * (index == 2)) * GIB],
            26 * 1408 * 1024,
            drive("0000:d8:00.0", 3.938462) + nic("0000:d9:00.0", "ens1f0") if index == 1 else "",
        )
        for index in range(4)
    )
    + bare_node(4, 128 * GIB)
    + nic("0000:01:00.0"),
    192,
)
"""Sockets with different numbers of cores, one with less memory, drives and network cards; a node without cores."""

MANY_NODES = machine(package(0, "AMD EPYC 9654 96-Core Processor", 96, [32 * GIB] * 12, 384 * MIB, family="25/17"), 192)
"""A machine that shows each L3 as a NUMA node."""

ROME = machine(
    "".join(
        package(
            index,
            "AMD EPYC 7702 64-Core Processor",
            64,
            [64 * GIB] * 4,
            256 * MIB,
            drive(f"000{index}:01:00.0", 7.876923),
            "23/49",
            [4] * 4,
        )
        for index in range(2)
    ),
    256,
)
"""Two sockets of eight CCDs with two L3 each, with NPS4."""

GENOA = machine(package(0, "AMD EPYC 9354 32-Core Processor", 32, [192 * GIB] * 2, 256 * MIB, "", "25/17", [4] * 4), 64)
"""A socket of eight CCDs with half their cores, with NPS2."""

VERSION_1 = (
    HEAD.format(dtd="hwloc.dtd", version="")
    + f'<object type="Machine" os_index="0" cpuset="{cpuset(0, 8)}">'
    + "".join(
        f'<object type="NUMANode" os_index="{node}" cpuset="{cpuset(4 * node, 4)}" local_memory="{24 * GIB}">'
        f'<object type="Socket" os_index="{node}" cpuset="{cpuset(4 * node, 4)}">'
        '<info name="CPUModel" value="Intel(R) Xeon(R) CPU E5-2630 v4 @ 2.20GHz"/>'
        f'<object type="Cache" cache_size="{10 * MIB}" depth="3" cache_type="0">'
        + f'<object type="Cache" cache_size="{256 * 1024}" depth="2" cache_type="0"/>'
        + '<object type="Cache" cache_size="32768" depth="2" cache_type="2"/>'
        + "".join(f'<object type="Core" cpuset="{cpuset(4 * node + core, 1)}"/>' for core in range(4))
        + "</object></object>"
        + (drive("0000:03:00.0", 3.938462) if node == 1 else "")
        + "</object>"
        for node in range(2)
    )
    + "</object></topology>"
)

ALL = {
    "laptop": LAPTOP,
    "one-socket": ONE_SOCKET,
    "two-sockets": TWO_SOCKETS,
    "four-sockets": FOUR_SOCKETS,
    "many-nodes": MANY_NODES,
    "rome": ROME,
    "genoa": GENOA,
    "version-1": VERSION_1,
}

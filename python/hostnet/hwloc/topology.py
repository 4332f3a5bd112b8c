"""What hwloc knows of a machine, read from its XML, versions 1 and 2."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hostnet._core import ConfigError
from hostnet.files import read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from xml.etree.ElementTree import Element

BYTES_MAX = 128 << 20
"""The largest file."""

PACKAGES = ("Package", "Socket")
"""What the versions of hwloc call a processor."""

NVME = "0108"
"""PCI class of NVMe controllers (PCI Code and ID Assignment Specification)."""

CACHE = re.compile(r"L(\d)Cache")
"""A data or unified cache of hwloc 2; hwloc 1 gives the level in an attribute."""

INSTRUCTIONS = "2"
"""The cache type of an instruction cache."""


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
class Package:
    """A processor."""

    index: int
    """Its number in the file, from 0."""
    model: str
    """What the processor calls itself; "" if it does not."""
    family: str
    """Numbers of family and model, such as "6/85"; "" if they are not known."""
    cores: int
    memory: int
    """Bytes of its NUMA nodes; 0 if hwloc does not know."""
    nodes: int
    """NUMA nodes with cores."""
    l2: int
    """Bytes of one L2 cache; 0 for none."""
    l3: int
    """Bytes of all L3 caches together; 0 for none."""
    drives: tuple[Drive, ...]
    """Drives at this processor."""


@dataclass(frozen=True)
class Topology:
    """A machine."""

    packages: tuple[Package, ...]
    notes: tuple[str, ...]
    """What could not be told apart."""


def read_topology(file: Path) -> Topology:
    """Reads what `lstopo --of xml` wrote.

    Raises:
        ConfigError: The file is too long, something else, damaged, or has no processor.
        OSError: It cannot be read.
    """
    return _Reader(str(file), _parse(str(file), read_bytes(file, BYTES_MAX))).topology()


def _parse(file: str, content: bytes) -> Element:
    """The root of the XML. Entities are refused: lstopo writes none."""
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    if not content.strip():
        raise TopologyError(f"{file}: is empty")
    try:
        root: Element = fromstring(content, forbid_dtd=False, forbid_entities=True, forbid_external=True)
    except DefusedXmlException:
        raise TopologyError(f"{file}: defines XML entities, which lstopo never does; it is not read") from None
    except ParseError as error:
        line, column = error.position
        reason = str(error).partition(":")[0]
        raise TopologyError(f"{file}:{line}: column {column + 1}: not whole XML: {reason}; is it truncated?") from None
    except (ValueError, LookupError) as error:
        raise TopologyError(f"{file}: not readable as XML: {error}") from None
    if root.tag != "topology":
        tag = re.sub(r"\{.*\}", "", root.tag)[:40]
        raise TopologyError(f"{file}: not a topology of hwloc: it begins with <{tag}>; write one with lstopo --of xml")
    return root


class _Reader:
    """Walks over the objects of a topology."""

    def __init__(self, file: str, root: Element) -> None:
        self.file = file
        self.parents = {child: parent for parent in root.iter() for child in parent}
        self.objects = list(root.iter("object"))
        self.notes: list[str] = []

    def topology(self) -> Topology:
        packages = [element for element in self.objects if element.get("type") in PACKAGES]
        if not packages:
            raise TopologyError(f"{self.file}: has no package (processor); was it filtered out, or is it a container?")
        sets = [self.cpuset(package) for package in packages]
        drives = self.drives(sets)
        found = [
            self.package(index, element, cpus, len(packages), drives[index])
            for index, (element, cpus) in enumerate(zip(packages, sets, strict=True))
        ]
        return Topology(tuple(found), tuple(self.notes))

    def package(self, index: int, element: Element, cpus: int, packages: int, drives: list[Drive]) -> Package:
        inside = list(element.iter("object"))
        cores = sum(other.get("type") == "Core" for other in inside)
        if cores == 0:
            raise TopologyError(f"{self.file}: package {index} has no cores; were they filtered out?")
        infos = {info.get("name"): info.get("value") or "" for info in element.findall("info")}
        family = f"{infos.get('CPUFamilyNumber', '')}/{infos.get('CPUModelNumber', '')}"
        memory, nodes = self.memory(cpus, packages)
        caches = {level: [self.number(cache, "cache_size") for cache in self.caches(inside, level)] for level in (2, 3)}
        return Package(
            index,
            printable(infos.get("CPUModel", "")),
            "" if family == "/" else printable(family),
            cores,
            memory,
            nodes,
            max(caches[2], default=0),
            sum(caches[3]),
            tuple(drives),
        )

    def caches(self, inside: list[Element], level: int) -> Iterator[Element]:
        """The data caches of a level."""
        for element in inside:
            kind = element.get("type") or ""
            match = CACHE.fullmatch(kind)
            found = match[1] if match else element.get("depth") if kind == "Cache" else None
            if found == str(level) and element.get("cache_type") != INSTRUCTIONS:
                yield element

    def memory(self, cpus: int, packages: int) -> tuple[int, int]:
        """Bytes and nodes of the NUMA nodes beside some cores; a node of several packages is shared out evenly."""
        total, nodes = 0, 0
        numa = [element for element in self.objects if element.get("type") == "NUMANode"]
        for element in numa:
            near = self.cpuset(element)
            if near & cpus:
                nodes += 1
                share = 1 if not near & ~cpus else packages
                total += self.number(element, "local_memory") // share
            elif not near:
                self.note(f"NUMA node {element.get('os_index', '?')} has no cores beside it and is left out")
        if not numa:
            machine = next((element for element in self.objects if element.get("type") == "Machine"), None)
            total = 0 if machine is None else self.number(machine, "local_memory") // packages
        return total, nodes

    def drives(self, sets: list[int]) -> list[list[Drive]]:
        """The NVMe drives at each package. Where hwloc does not say, a drive counts for every package."""
        found: list[list[Drive]] = [[] for _ in sets]
        for element in self.objects:
            if element.get("type") != "PCIDev" or not (element.get("pci_type") or "").startswith(NVME):
                continue
            drive = self.drive(element)
            near = self.cpuset_above(element)
            places = [index for index, cpus in enumerate(sets) if near & cpus] or list(range(len(sets)))
            if len(places) > 1:
                self.note(f"drive {drive.address}: hwloc does not say at which package it is; counted for all of them")
            for index in places:
                found[index].append(drive)
        return found

    def drive(self, element: Element) -> Drive:
        text = element.get("pci_link_speed") or "0"
        try:
            speed = float(text)
        except ValueError:
            speed = float("nan")
        if not 0 <= speed < 1e4:
            raise TopologyError(
                f'{self.file}: PCIDev {element.get("pci_busid")}: pci_link_speed "{text[:40]}" is no speed'
            )
        names = [info.get("value") or "" for info in element.iter("info") if info.get("name") == "Model"]
        names += [info.get("value") or "" for info in element.iter("info") if info.get("name") == "PCIDevice"]
        return Drive(printable(element.get("pci_busid") or "?"), speed, printable(names[0] if names else ""))

    def cpuset_above(self, element: Element) -> int:
        """The cores of the nearest object above that has any: of I/O, those beside it."""
        above: Element | None = element
        while above is not None:
            if above.get("cpuset"):
                return self.cpuset(above)
            above = self.parents.get(above)
        return 0

    def cpuset(self, element: Element) -> int:
        """A set of processing units as bits. hwloc writes words of 32 bits, the highest first."""
        text = element.get("cpuset") or ""
        bits = 0
        for word in text.split(",") if text else []:
            if not re.fullmatch(r"(0x[0-9a-f]{1,8})?", word):
                raise TopologyError(f'{self.file}: {element.get("type")}: cpuset "{text[:40]}" is no set of cores')
            bits = bits << 32 | int(word or "0", 16)
        return bits

    def number(self, element: Element, name: str) -> int:
        """A whole number that is not negative; 0 where there is none."""
        text = element.get(name) or "0"
        if not re.fullmatch(r"\d{1,18}", text):
            place = f"{element.get('type')} {element.get('os_index', '')}".strip()
            raise TopologyError(f'{self.file}: {place}: {name} "{text[:40]}" is not a number of bytes')
        return int(text)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def printable(text: str) -> str:
    """Text for one line of a comment."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:100]

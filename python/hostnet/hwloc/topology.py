"""What hwloc knows of a machine, read from its XML, versions 1 and 2."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from hostnet._core import ConfigError
from hostnet.files import read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from xml.etree.ElementTree import Element

Device = TypeVar("Device")

BYTES_MAX = 128 << 20
"""The largest file."""

PACKAGES = ("Package", "Socket")
"""What the versions of hwloc call a processor."""

NVME = "0108"
"""PCI class of NVMe controllers (PCI Code and ID Assignment Specification)."""

NICS = ("0200", "0207")
"""PCI classes of Ethernet and InfiniBand controllers."""

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
class Nic:
    """A port of a network card."""

    address: str
    """PCI address."""
    name: str
    """What hwloc calls it; "" for nothing."""


@dataclass(frozen=True)
class BareNode:
    """A NUMA node without cores."""

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
    memory: int
    """Bytes of its NUMA nodes; 0 if hwloc does not know."""
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
        drives, loose = self.placed(sets, (NVME,), self.drive)
        nics, loose_nics = self.placed(sets, NICS, self.nic)
        found = [
            self.package(index, element, cpus, len(packages), drives[index], nics[index])
            for index, (element, cpus) in enumerate(zip(packages, sets, strict=True))
        ]
        return Topology(tuple(found), self.bare_nodes(), tuple(loose), tuple(loose_nics), tuple(self.notes))

    def package(
        self, index: int, element: Element, cpus: int, packages: int, drives: list[Drive], nics: list[Nic]
    ) -> Package:
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
            tuple(nics),
        )

    def caches(self, inside: list[Element], level: int) -> Iterator[Element]:
        """The data caches of a level."""
        for element in inside:
            kind = element.get("type") or ""
            match = CACHE.fullmatch(kind)
            found = match[1] if match else element.get("depth") if kind == "Cache" else None
            if found == str(level) and element.get("cache_type") != INSTRUCTIONS:
                yield element

    def memory(self, cpus: int, packages: int) -> tuple[int, tuple[str, ...]]:
        """Bytes and numbers of the NUMA nodes beside some cores; a node of several packages is shared out evenly."""
        total, nodes = 0, []
        numa = self.nodes()
        for element in numa:
            near = self.cpuset(element)
            if near & cpus:
                nodes.append(self.node_number(element))
                if near & ~cpus:
                    self.note(f"NUMA node {nodes[-1]} is beside several packages; its memory is shared out evenly")
                total += self.number(element, "local_memory") // (packages if near & ~cpus else 1)
        if not numa:
            machine = next((element for element in self.objects if element.get("type") == "Machine"), None)
            total = 0 if machine is None else self.number(machine, "local_memory") // packages
        return total, tuple(nodes)

    def nodes(self) -> list[Element]:
        """The NUMA nodes."""
        return [element for element in self.objects if element.get("type") == "NUMANode"]

    def node_number(self, element: Element) -> str:
        """The number of a NUMA node, as the operating system has it."""
        return printable(element.get("os_index") or "?")

    def bare_nodes(self) -> tuple[BareNode, ...]:
        """The NUMA nodes with memory and without cores."""
        found = []
        for element in self.nodes():
            if self.cpuset(element):
                continue
            node = BareNode(self.node_number(element), self.number(element, "local_memory"))
            if node.memory:
                found.append(node)
            else:
                self.note(f"NUMA node {node.number} has neither cores nor memory and is left out")
        return tuple(found)

    def placed(
        self, sets: list[int], classes: tuple[str, ...], read: Callable[[Element], Device]
    ) -> tuple[list[list[Device]], list[Device]]:
        """The devices of some PCI classes at each package, and those of which hwloc does not say at which."""
        found: list[list[Device]] = [[] for _ in sets]
        loose: list[Device] = []
        for element in self.objects:
            if element.get("type") != "PCIDev" or not (element.get("pci_type") or "").startswith(classes):
                continue
            near = self.cpuset_above(element)
            places = [index for index, cpus in enumerate(sets) if near & cpus] if near else list(range(len(sets)))
            (found[places[0]] if len(places) == 1 else loose).append(read(element))
        return found, loose

    def nic(self, element: Element) -> Nic:
        """A port of a network card, by the name that the operating system or the list of PCI devices has for it."""
        names = [other.get("name") or "" for other in element.iter("object") if other.get("type") == "OSDev"]
        names += [info.get("value") or "" for info in element.iter("info") if info.get("name") == "PCIDevice"]
        return Nic(printable(element.get("pci_busid") or "?"), printable(names[0] if names else ""))

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

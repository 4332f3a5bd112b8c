"""Reads the XML of hwloc, versions 1 and 2."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from hostnet.files import read_bytes
from hostnet.hwloc.nodes import Node, assign_memory
from hostnet.hwloc.topology import Drive, Nic, Package, Topology, TopologyError, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from xml.etree.ElementTree import Element

Device = TypeVar("Device")

BYTES_MAX = 128 << 20
"""Largest file, in bytes."""

PACKAGES = ("Package", "Socket")
"""Names of a processor package in the versions of hwloc."""

NVME = "0108"
"""PCI class of NVMe controllers (PCI Code and ID Assignment Specification)."""

NICS = ("0200", "0207")
"""PCI classes of Ethernet and InfiniBand controllers."""

CACHE = re.compile(r"L(\d)Cache")
"""Data or unified cache of hwloc 2; hwloc 1 stores the level in an attribute."""

INSTRUCTIONS = "2"
"""Cache type of an instruction cache."""

BESIDE_MEMORY = "MemorySideCache"
"""Subtype of a memory-side cache, in versions of hwloc without a type for it (MemCache)."""

KINDS = {"CXLDevice": "CXL-DRAM", "DAXType": ""}
"""Attributes that name the kind of a NUMA node without a subtype, and that kind; "" for the value of the attribute."""


def read_topology(file: Path) -> Topology:
    """Reads output of `lstopo --of xml`.

    Raises:
        ConfigError: The file is too long, not such output, damaged, or has no processor.
        OSError: The file cannot be read.
    """
    return Reader(str(file), _parse(str(file), read_bytes(file, BYTES_MAX))).topology()


def _parse(file: str, content: bytes) -> Element:
    """Returns the root of the XML. Entities are refused because lstopo writes none."""
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    if not content.strip():
        raise TopologyError("malformed-file", f"{file}: is empty")
    try:
        root: Element = fromstring(content, forbid_dtd=False, forbid_entities=True, forbid_external=True)
    except DefusedXmlException:
        raise TopologyError("malformed-file", f"{file}: defines XML entities, which lstopo never does") from None
    except ParseError as error:
        line, column = error.position
        reason = str(error).partition(":")[0]
        raise TopologyError(
            "malformed-file", f"{file}:{line}: column {column + 1}: invalid XML: {reason}; is it truncated?"
        ) from None
    except (ValueError, LookupError) as error:
        raise TopologyError("malformed-file", f"{file}: not readable as XML: {error}") from None
    if root.tag != "topology":
        tag = re.sub(r"\{.*\}", "", root.tag)[:40]
        raise TopologyError(
            "malformed-file", f"{file}: not an hwloc topology: it starts with <{tag}>; write one with lstopo --of xml"
        )
    return root


@dataclass(frozen=True)
class PackageObjects:
    """A package, or all objects outside any package."""

    element: Element | None
    """The package; None for objects outside any package."""
    objects: list[Element]
    """Objects in the package."""
    units: int
    """Processing units as a bit set, including those hidden by a cgroup."""

    @property
    def cores(self) -> int:
        """Number of cores that the topology shows."""
        return sum(element.get("type") == "Core" for element in self.objects)


def cores_in(element: Element) -> int:
    """Returns the number of cores that an object contains."""
    return sum(one.get("type") == "Core" for one in element.iter("object"))


class Reader:
    """Reads the objects of a topology."""

    def __init__(self, file: str, root: Element) -> None:
        """Creates a reader; messages call the file `file`."""
        self.file = file
        self.parents = {child: parent for parent in root.iter() for child in parent}
        self.objects = list(root.iter("object"))
        infos = (info for kind in root.iter("cpukind") for info in kind.iter("info"))
        self.kinds = sorted({printable(one.get("value") or "") for one in infos if one.get("name") == "CoreType"})
        self.notes: list[str] = []

    def topology(self) -> Topology:
        """Returns the machine."""
        parts = self.parts()
        if len(self.kinds) > 1:
            self.notes.append(f"cores are of {len(self.kinds)} kinds ({', '.join(self.kinds)}), but modelled as alike")
        self.check_memory_caches()
        drives, loose = self.placed([part.units for part in parts], (NVME,), self.drive)
        nics, loose_nics = self.placed([part.units for part in parts], NICS, self.nic)
        nodes = [self.node(element) for element in self.objects if element.get("type") == "NUMANode"]
        memory = assign_memory(nodes, [part.units for part in parts])
        if not nodes:
            machine = next((element for element in self.objects if element.get("type") == "Machine"), None)
            whole = 0 if machine is None else self.number(machine, "local_memory")
            memory.sizes = [whole // len(parts)] * len(parts)
        found = [
            self.package(index, part, (memory.sizes[index], tuple(memory.numbers[index])), drives[index], nics[index])
            for index, part in enumerate(parts)
        ]
        notes = tuple(dict.fromkeys((*self.notes, *memory.notes)))
        return Topology(tuple(found), tuple(memory.bare), tuple(loose), tuple(loose_nics), notes)

    def parts(self) -> list[PackageObjects]:
        """Returns the packages; cores outside any package form one more."""
        packages = [element for element in self.objects if element.get("type") in PACKAGES]
        if not packages:
            raise TopologyError(
                "malformed-file", f"{self.file}: has no package (processor); was it filtered out, or is it a container?"
            )
        parts = [PackageObjects(element, list(element.iter("object")), self.units(element)) for element in packages]
        any_cores = any(part.cores for part in parts)
        for index, part in enumerate(parts):
            self.check_cores(index, part, any_cores)
        parts += self.missing(parts)
        self.check_hidden(parts)
        return parts

    def check_cores(self, index: int, part: PackageObjects, any_cores: bool) -> None:
        """Notes units of a package that a cgroup hides, and refuses a package whose cores were filtered out."""
        shown = 0 if part.element is None else self.set_of(part.element, "cpuset")
        if not part.cores and (shown or not any_cores):
            raise TopologyError("malformed-file", f"{self.file}: package {index} has no cores; were they filtered out?")
        if part.units != shown:
            self.notes.append(
                f"package {index} shows {shown.bit_count()} of {part.units.bit_count()} processing units: the others "
                "are offline, or outside the cgroup or job of lstopo; run it outside to see the whole machine"
            )
        elif not part.cores:
            self.notes.append(
                f"package {index} has no processing unit: was lstopo run in a cgroup or job? Run it outside to see the "
                "whole machine"
            )

    def check_memory_caches(self) -> None:
        """Notes memory-side caches, such as HBM in cache mode."""
        caches = [one for one in self.objects if one.get("subtype") == BESIDE_MEMORY or one.get("type") == "MemCache"]
        if caches:
            size = sum(self.number(one, "cache_size") for one in caches) / (1 << 30)
            self.notes.append(f"a memory-side cache of {size:.4g} GiB (HBM or DRAM) is left out: it is not modelled")

    def check_hidden(self, parts: list[PackageObjects]) -> None:
        """Notes processing units outside any package: they belong to packages that a cgroup hides entirely."""
        hidden = 0
        for element in self.objects:
            if element.get("type") == "Machine":
                hidden |= self.set_of(element, "complete_cpuset")
        for part in parts:
            hidden &= ~part.units
        if hidden:
            self.notes.append(
                f"{hidden.bit_count()} processing units of the machine are in packages that hwloc does not show"
            )

    def missing(self, parts: list[PackageObjects]) -> Iterator[PackageObjects]:
        """Yields the cores outside any package as one more package, if another package has at least as many."""
        known = 0
        for part in parts:
            known |= part.units
        outside = [element for element in self.objects if self.package_above(element) is None]
        cores = [one for one in outside if one.get("type") == "Core" and not self.units(one) & known]
        if not cores:
            return
        units = 0
        for core in cores:
            units |= self.units(core)
        words = f"{len(cores)} core{'' if len(cores) == 1 else 's'} outside any package"
        if len(cores) > max(part.cores for part in parts) or not units:
            self.notes.append(f"{words} {'is' if len(cores) == 1 else 'are'} left out: was a package filtered out?")
            return
        self.notes.append(f"{words}: treated as one more package, {len(parts)}, whose processor hwloc does not name")
        inside = [one for one in outside if self.units(one) and not self.units(one) & ~units]
        yield PackageObjects(None, inside, units)

    def package(
        self,
        index: int,
        part: PackageObjects,
        memory: tuple[int, tuple[str, ...]],
        drives: list[Drive],
        nics: list[Nic],
    ) -> Package:
        """Reads a package and the devices attached to it."""
        info_elements = [] if part.element is None else part.element.findall("info")
        infos = {info.get("name"): info.get("value") or "" for info in info_elements}
        pairs = (("CPUFamilyNumber", "CPUModelNumber"), ("CPUImplementer", "CPUPart"))
        families = ["/".join(infos.get(name, "") for name in pair) for pair in pairs]
        caches = {
            level: [self.number(cache, "cache_size") for cache in self.caches(part.objects, level)] for level in (2, 3)
        }
        return Package(
            index,
            printable(infos.get("CPUModel", "")),
            printable(next((family for family in families if family != "/"), "")),
            part.cores,
            *memory,
            max(caches[2], default=0),
            sum(caches[3]),
            tuple(filter(None, map(cores_in, self.caches(part.objects, 3)))),
            tuple(drives),
            tuple(nics),
        )

    def caches(self, inside: list[Element], level: int) -> Iterator[Element]:
        """Yields the data caches of a level."""
        for element in inside:
            kind = element.get("type") or ""
            match = CACHE.fullmatch(kind)
            found = match[1] if match else element.get("depth") if kind == "Cache" else None
            is_of_cores = element.get("cache_type") != INSTRUCTIONS and element.get("subtype") != BESIDE_MEMORY
            if found == str(level) and is_of_cores:
                yield element

    def node(self, element: Element) -> Node:
        """Reads a NUMA node. If a cgroup hides its cores, the node is local to those of its package."""
        near = self.units(element)
        above = self.package_above(element)
        if not near and above is not None:
            near = self.units(above)
        number = printable(element.get("os_index") or "?")
        return Node(number, self.kind(element), self.number(element, "local_memory"), near)

    def kind(self, element: Element) -> str:
        """Returns hwloc's name for the memory of a NUMA node; "" if it has none."""
        if element.get("subtype"):
            return printable(element.get("subtype") or "")
        infos = {info.get("name"): info.get("value") or "" for info in element.findall("info")}
        return next((kind or printable(infos[name]) for name, kind in KINDS.items() if name in infos), "")

    def package_above(self, element: Element) -> Element | None:
        """Returns the package that an object belongs to, or the object if it is a package."""
        above: Element | None = element
        while above is not None and above.get("type") not in PACKAGES:
            above = self.parents.get(above)
        return above

    def placed(
        self, sets: list[int], classes: tuple[str, ...], read: Callable[[Element], Device]
    ) -> tuple[list[list[Device]], list[Device]]:
        """Returns the devices of some PCI classes per package, and those whose package is unknown."""
        found: list[list[Device]] = [[] for _ in sets]
        loose: list[Device] = []
        for element in self.objects:
            if element.get("type") != "PCIDev" or not (element.get("pci_type") or "").startswith(classes):
                continue
            near = self.units_above(element)
            places = [index for index, cpus in enumerate(sets) if near & cpus] if near else list(range(len(sets)))
            (found[places[0]] if len(places) == 1 else loose).append(read(element))
        return found, loose

    def nic(self, element: Element) -> Nic:
        """Reads a port of a network card, with its name in the operating system or in the list of PCI devices."""
        names = [other.get("name") or "" for other in element.iter("object") if other.get("type") == "OSDev"]
        names += [info.get("value") or "" for info in element.iter("info") if info.get("name") == "PCIDevice"]
        return Nic(printable(element.get("pci_busid") or "?"), printable(names[0] if names else ""))

    def drive(self, element: Element) -> Drive:
        """Reads an NVMe drive with the speed of its link."""
        text = element.get("pci_link_speed") or "0"
        try:
            speed = float(text)
        except ValueError:
            speed = float("nan")
        if not 0 <= speed < 1e4:
            raise TopologyError(
                "malformed-file",
                f'{self.file}: PCIDev {element.get("pci_busid")}: pci_link_speed "{text[:40]}" is not a speed',
            )
        names = [info.get("value") or "" for info in element.iter("info") if info.get("name") == "Model"]
        names += [info.get("value") or "" for info in element.iter("info") if info.get("name") == "PCIDevice"]
        return Drive(printable(element.get("pci_busid") or "?"), speed, printable(names[0] if names else ""))

    def units_above(self, element: Element) -> int:
        """Returns the processing units of the nearest ancestor that has any; for I/O, those local to it."""
        above: Element | None = element
        while above is not None:
            if units := self.units(above):
                return units
            above = self.parents.get(above)
        return 0

    def units(self, element: Element) -> int:
        """Returns the processing units of an object as a bit set, including those hidden by a cgroup."""
        return self.set_of(element, "cpuset") | self.set_of(element, "complete_cpuset")

    def set_of(self, element: Element, name: str) -> int:
        """Reads a set of processing units as a bit set. hwloc writes words of 32 bits, the highest first."""
        text = element.get(name) or ""
        bits = 0
        for word in text.split(",") if text else []:
            if not re.fullmatch(r"(0x[0-9a-f]{1,8})?", word):
                raise TopologyError(
                    "malformed-file", f'{self.file}: {element.get("type")}: {name} "{text[:40]}" is not a set of cores'
                )
            bits = bits << 32 | int(word or "0", 16)
        return bits

    def number(self, element: Element, name: str) -> int:
        """Reads a non-negative whole number; 0 if it is missing."""
        text = element.get(name) or "0"
        if not re.fullmatch(r"\d{1,18}", text):
            place = f"{element.get('type')} {element.get('os_index', '')}".strip()
            raise TopologyError(
                "malformed-file", f'{self.file}: {place}: {name} "{text[:40]}" is not a number of bytes'
            )
        return int(text)

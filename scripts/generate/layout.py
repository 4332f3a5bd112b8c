"""Names and modules of the Python classes that do not follow from the keys."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from scripts.generate.schema import Schema, keys, tables

FOLDER = Path("python/hostnet/system")


@dataclass(frozen=True)
class Place:
    """Table of a class in a configuration, and the properties of the class that do not come from the schema."""

    path: str
    """Path of the table, as in `schema.tables`."""
    root: str = "server"
    """Kind of configuration, if the path is that of the whole."""
    bases: tuple[str, ...] = ("Description",)
    """Base classes; the last one may define some of the keys already."""
    without: tuple[str, ...] = ()
    """Keys that another class defines."""
    is_public: bool = True
    """True if the packages export the class."""
    base_dir: str = ""
    """Files that are found relative to the field `base_dir`, which is in no file; empty if there is no such field."""


@dataclass(frozen=True)
class Module:
    """A file of classes."""

    doc: str
    """Docstring of the file."""
    classes: dict[str, str | Place] = field(default_factory=dict)
    """Classes in order, each with its table."""
    unions: dict[str, str] = field(default_factory=dict)
    """Names of unions of classes, with the path of their tables."""


LISTED = {
    "cache": Module(
        "The caches, the prefetchers and DDIO.",
        {
            "L2": "cache.l2",
            "Llc": "cache.llc",
            "SnoopFilter": "cache.filter",
            "Cache": "cache",
            "Prefetch": "prefetch",
            "Ddio": "ddio",
        },
    ),
    "cluster": Module(
        "A whole cluster.",
        {
            "Host": Place("host.*", bases=("Parts",)),
            "Cluster": Place("", "cluster", ("Whole", "Description"), base_dir="captures and job files"),
        },
    ),
    "config": Module(
        "A whole configuration of a server.",
        {"Config": Place("", bases=("WholeServer", "Parts"), base_dir="fio job files")},
    ),
    "chiplets": Module("The chiplets of a socket.", {"Chiplets": "chiplets"}),
    "die": Module("The die of a socket.", {"Die": "noc"}),
    "dimm": Module(
        "A NIC in the buffer device of a DIMM.",
        {
            "NCache": "nic.dimm.ncache",
            "RowClone": "nic.dimm.clone",
            "DimmAsync": "nic.dimm.async",
            "DimmDriver": "nic.dimm.driver",
            "NicDimm": "nic.dimm",
        },
    ),
    "energy": Module("Energy that the parts of a server consume.", {"Energy": "energy"}),
    "expander": Module("Memory behind a link.", {"Expander": "expander"}),
    "fabric": Module(
        "The network between the hosts of a cluster: switches, cables, and its short form.",
        {
            "Ramp": "switch.*.ecn",
            "SwitchEnergy": "switch.*.energy",
            "Switch": "switch.*",
            "Cable": "cable.*",
            "Bottleneck": "network.bottleneck",
            "Trunk": "network.core",
            "ScaleUp": "network.scale_up",
            "Network": "network",
        },
    ),
    "host": Module(
        "The server, its cores and its home agents.",
        {"Server": "server", "Lfb": "core.lfb", "Core": "core", "Tor": "cha.tor", "Cha": "cha", "Run": "run"},
    ),
    "io": Module(
        "The integrated IO controller, PCIe and the drives.",
        {
            "Iio": "iio",
            "Iotlb": "iommu.iotlb",
            "Iommu": "iommu",
            "Pcie": "pcie",
            "Ssd": "ssd",
            "DmaDevice": "dma",
            "FioCosts": "fio",
        },
    ),
    "jobs": Module(
        "Programs of ranks that run on the hosts of a cluster.",
        {
            "JobStep": "job.*.steps.*",
            "JobCompute": "job.*.compute",
            "Transformer": "job.*.model",
            "Job": "job.*",
        },
    ),
    "mcn": Module("DIMMs with processors in the memory slots of a host.", {"Mcn": "host.*.mcn"}),
    "memory": Module(
        "The memory controllers, their DRAM, and the address map.",
        {
            "Timing": "memory.dram.timing",
            "Dram": "memory.dram",
            "AddressMap": "memory.map",
            "ReadQueue": "memory.controller.rpq",
            "WriteQueue": "memory.controller.wpq",
            "Controller": "memory.controller",
            "Memory": "memory",
        },
    ),
    "network": Module(
        "The network of a server: kernel and applications, other sockets, host congestion control.",
        {"Stack": "stack", "Upi": "remote.upi", "Remote": "remote", "Sockets": "upi", "Control": "control"},
    ),
    "nic": Module(
        "The NIC of a server.",
        {
            "Pfc": "nic.pfc",
            "NicLink": "nic.pcie",
            "NicFunction": "nic.functions.*",
            "OnChip": "nic.onchip",
            "CxlLink": "nic.cxl",
            "Compress": "nic.compress",
            "Nic": "nic",
        },
    ),
    "parts": Module(
        "The parts of a server, alone or in a cluster.",
        {"Socket": "socket.*", "Parts": Place("", bases=("Socket",), without=("server", "run"), is_public=False)},
    ),
    "pool": Module("A pool of memory over the network.", {"PoolPrefetch": "pool.prefetch", "Pool": "pool"}),
    "power": Module(
        "Frequencies, voltages and sleep of the cores, and notifications of a NIC to the power management.",
        {
            "PStateRange": "power.pstates",
            "PState": "power.pstates.*",
            "StaticPower": "power.static",
            "DynamicPower": "power.dynamic",
            "CState": "power.cstate.*",
            "Governor": "power.governor",
            "Power": "power",
            "Ncap": "nic.ncap",
        },
    ),
    "traffic": Module(
        "Traffic of the hosts of a cluster, and its transports.",
        {
            "Move": "flow.*.move.*",
            "OtherRequests": "flow.*.other",
            "SizePoint": "flow.*.sizes.*",
            "ServiceIo": "flow.*.service.io",
            "Service": "flow.*.service",
            "Flow": "flow.*",
            "Transport": "transport.*",
        },
    ),
    "workload": Module(
        "Workloads of the server.",
        {
            "Stream": "workload.*:stream",
            "FioJob": "workload.*:fio.jobs.*",
            "Fio": "workload.*:fio",
            "AppLayout": "workload.*:app.layout",
            "AppInstructions": "workload.*:app.instructions",
            "App": "workload.*:app",
            "RemoteStream": "workload.*:remote",
            "Dma": "workload.*:dma",
            "Tiering": "workload.*:tiering",
        },
        {"Workload": "workload.*"},
    ),
}
"""The files of classes whose names or homes do not follow from their keys."""

WITHOUT = {
    "Compress",
    "Control",
    "CxlLink",
    "Die",
    "DimmAsync",
    "DimmDriver",
    "DynamicPower",
    "Energy",
    "Expander",
    "Mcn",
    "NCache",
    "Ncap",
    "Nic",
    "NicDimm",
    "OnChip",
    "OtherRequests",
    "Pfc",
    "Pool",
    "Power",
    "Remote",
    "RowClone",
    "Service",
    "ServiceIo",
    "Sockets",
    "Stack",
    "StaticPower",
    "SwitchEnergy",
    "Transformer",
}
"""Listed classes of parts that a server or a flow may lack: their default is None."""


def with_unlisted(listed: dict[str, Module], named: dict[str, Schema]) -> dict[str, Module]:
    """Returns the modules with a class added for each named table that no listed class has.

    The name of such a class is the key in CamelCase, `AccessQueue` for `access_queue`, after the name of the class of
    the enclosing table. It goes into the module of that class or of its union, or else into a module named after the
    key.
    """
    modules = dict(listed)
    places = {_path_of(place): kind for module in listed.values() for kind, place in module.classes.items()}
    homes = {kind: home for home, module in listed.items() for kind in module.classes}
    homes |= {path: home for home, module in listed.items() for path in module.unions.values()}
    covered = {frozenset(keys(named[path])) for path in places if path in named}
    for path, table in named.items():
        if path in places or frozenset(keys(table)) in covered:
            continue
        around, key = outer(path)
        within = places.get(around, "") if around else ""
        kind = within + "".join(part.capitalize() for part in key.replace("-", "_").split("_"))
        home = homes.get(within or around, key)
        module = modules.get(home, Module(f"The table `{key}` of a configuration."))
        # A class can use only those above it, so the inner one goes first.
        modules[home] = replace(module, classes={kind: path, **module.classes})
        places[path], homes[kind] = kind, home
        covered.add(frozenset(keys(table)))
    return modules


def _path_of(place: str | Place) -> str:
    return place.path if isinstance(place, Place) else place


def outer(path: str) -> tuple[str, str]:
    """Returns the path of the enclosing table or union, and the name of the table in it."""
    around, sign, kind = path.rpartition(":")
    if sign and "." not in kind:
        return around, kind
    around, _, key = path.removesuffix(".*").rpartition(".")
    return around, key


# Tables of a server come first: those of a host are the same and get the same names.
MODULES = with_unlisted(LISTED, {**tables("server"), **tables("cluster")})

OPTIONAL = WITHOUT | {kind for module in MODULES.values() for kind in module.classes} - {
    kind for module in LISTED.values() for kind in module.classes
}
"""Classes of parts that may be absent: those above, and all that are not listed."""

UNIONS = {path: name for module in MODULES.values() for name, path in module.unions.items()}
"""Name of the union at a path where several classes are allowed."""

HOMES = {kind: name for name, module in MODULES.items() for kind in module.classes}
"""File of each class."""

EXPORTED = HOMES | {name: home for home, module in MODULES.items() for name in module.unions}
"""File of each exported name."""


def place_of(kind: str) -> Place:
    """Returns the place of the table of a class."""
    found = MODULES[HOMES[kind]].classes[kind]
    return found if isinstance(found, Place) else Place(found)


def table_of(kind: str) -> Schema:
    """Returns the table of a class."""
    place = place_of(kind)
    return tables(place.root).get(place.path) or tables("cluster")[place.path]


@cache
def _by_path() -> dict[str, str]:
    return {place_of(kind).path: kind for kind in HOMES}


@cache
def _by_keys() -> dict[frozenset[str], str]:
    return {frozenset(keys(table_of(kind))): kind for kind in HOMES}


def class_at(path: str, table: Schema) -> str:
    """Returns the class of a table at a path: that of its place, or that of a table with the same keys.

    Raises:
        KeyError: No class has such a table.
    """
    found = _by_path().get(path) or _by_keys().get(frozenset(keys(table)))
    if found is None:
        raise KeyError(f"no class in {__name__} is of the table {path}")
    return found


def inherited(base: str) -> set[str]:
    """Returns the keys that a class inherits from its bases and passes on."""
    if base not in HOMES:
        return set()
    place = place_of(base)
    return set(keys(table_of(base))) - set(place.without) | inherited(place.bases[-1])


def inherited_at(path: str) -> set[str]:
    """Returns the keys that the class of a table inherits; none if no class belongs to exactly that table."""
    kind = _by_path().get(path) if path else None
    return inherited(place_of(kind).bases[-1]) if kind else set()

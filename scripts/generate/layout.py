"""The names and the homes of the classes in Python, which the schema does not know."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from scripts.generate.schema import Schema, keys, tables

FOLDER = Path("python/hostnet/system")


@dataclass(frozen=True)
class Place:
    """Where the table of a class stands in a configuration, and what of the class does not come from there."""

    path: str
    """The path of the table, as `schema.tables` has it."""
    root: str = "server"
    """The kind of configuration, if the path is that of the whole."""
    bases: tuple[str, ...] = ("Description",)
    """The classes that it is made from; the last one may have some of the keys already."""
    without: tuple[str, ...] = ()
    """Keys that another class has."""
    is_public: bool = True
    """Whether the packages offer the class."""
    base_dir: str = ""
    """What files are found from the field `base_dir`, which is in no file; nothing if the class has no such field."""


@dataclass(frozen=True)
class Module:
    """A file of classes."""

    doc: str
    """The file's docstring."""
    classes: dict[str, str | Place]
    """The classes in their order, each with its table."""
    unions: dict[str, str] = field(default_factory=dict)
    """Names for what may be one of several classes, with the path of their tables."""


MODULES = {
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
    "die": Module("The die of a socket, as a description.", {"Die": "noc"}),
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
    "energy": Module("What the parts of a server consume, as a description.", {"Energy": "energy"}),
    "expander": Module("Memory behind a link, as a description.", {"Expander": "expander"}),
    "fabric": Module(
        "What joins the hosts of a cluster: switches, cables, and the short form of a network.",
        {
            "Ramp": "switch.*.ecn",
            "SwitchEnergy": "switch.*.energy",
            "Switch": "switch.*",
            "Cable": "cable.*",
            "Bottleneck": "network.bottleneck",
            "Trunk": "network.core",
            "Network": "network",
        },
    ),
    "host": Module(
        "The server, its cores and its home agents.",
        {"Server": "server", "Lfb": "core.lfb", "Core": "core", "Tor": "cha.tor", "Cha": "cha", "Run": "run"},
    ),
    "io": Module(
        "The integrated IO controller, PCIe and the drives.",
        {"Iio": "iio", "Pcie": "pcie", "Ssd": "ssd", "FioCosts": "fio"},
    ),
    "jobs": Module(
        "Programs of ranks that run at the hosts of a cluster.",
        {"JobStep": "job.*.steps.*", "JobCompute": "job.*.compute", "Job": "job.*"},
    ),
    "mcn": Module(
        "DIMMs with processors of their own in the memory slots of a host, as a description.", {"Mcn": "host.*.mcn"}
    ),
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
        "The network of a server: kernel and applications, other sockets, control.",
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
        "The parts of a server, wherever it stands: on its own or in a cluster.",
        {"Socket": "socket.*", "Parts": Place("", bases=("Socket",), without=("server", "run"), is_public=False)},
    ),
    "pool": Module(
        "A pool of memory over the network, as a description.", {"PoolPrefetch": "pool.prefetch", "Pool": "pool"}
    ),
    "power": Module(
        "Frequencies, voltages and sleep of the cores, and what a NIC tells the power management, as a description.",
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
        "What the hosts of a cluster send, and how it is carried.",
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
        "What runs on the server.",
        {
            "Stream": "workload.*:stream",
            "FioJob": "workload.*:fio.jobs.*",
            "Fio": "workload.*:fio",
            "AppLayout": "workload.*:app.layout",
            "AppInstructions": "workload.*:app.instructions",
            "App": "workload.*:app",
            "RemoteStream": "workload.*:remote",
        },
        {"Workload": "workload.*"},
    ),
}

OPTIONAL = {
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
}
"""Classes of what a server or a flow may be without: what they describe is None when nothing is said."""

UNIONS = {path: name for module in MODULES.values() for name, path in module.unions.items()}
"""The name of what stands at a path, where it may be of several classes."""

HOMES = {kind: name for name, module in MODULES.items() for kind in module.classes}
"""The file of each class."""

EXPORTED = HOMES | {name: home for home, module in MODULES.items() for name in module.unions}
"""The file of each name that others may use."""


def place_of(kind: str) -> Place:
    """Where the table of a class stands."""
    found = MODULES[HOMES[kind]].classes[kind]
    return found if isinstance(found, Place) else Place(found)


def table_of(kind: str) -> Schema:
    """The table of a class."""
    place = place_of(kind)
    return tables(place.root).get(place.path) or tables("cluster")[place.path]


@cache
def _by_path() -> dict[str, str]:
    return {place_of(kind).path: kind for kind in HOMES}


@cache
def _by_keys() -> dict[frozenset[str], str]:
    return {frozenset(keys(table_of(kind))): kind for kind in HOMES}


def class_at(path: str, table: Schema) -> str:
    """The class of a table at a path: that of its place, or that of a table with the same keys.

    Raises:
        KeyError: No class has such a table.
    """
    found = _by_path().get(path) or _by_keys().get(frozenset(keys(table)))
    if found is None:
        raise KeyError(f"no class in {__name__} is of the table {path}")
    return found


def inherited(base: str) -> set[str]:
    """The keys that a class brings to those that are made from it."""
    if base not in HOMES:
        return set()
    place = place_of(base)
    return set(keys(table_of(base))) - set(place.without) | inherited(place.bases[-1])


def inherited_at(path: str) -> set[str]:
    """The keys that the class of a table has from others; none where no class is of that very table."""
    kind = _by_path().get(path) if path else None
    return inherited(place_of(kind).bases[-1]) if kind else set()

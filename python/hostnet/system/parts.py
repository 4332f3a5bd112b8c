# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""The parts of a server, alone or in a cluster."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hostnet.system.cache import Cache, Ddio, Prefetch
from hostnet.system.description import Description
from hostnet.system.die import Die
from hostnet.system.energy import Energy
from hostnet.system.expander import Expander
from hostnet.system.host import Cha, Core
from hostnet.system.io import FioCosts, Iio, Pcie, Ssd
from hostnet.system.memory import Memory
from hostnet.system.network import Control, Remote, Sockets, Stack
from hostnet.system.nic import Nic
from hostnet.system.pool import Pool
from hostnet.system.power import Power
from hostnet.system.workload import Workload


@dataclass(frozen=True, kw_only=True, repr=False)
class Socket(Description):
    """What a socket has of its own; the tables of the server hold for what is not given."""

    core: Core = Core()
    """The cores and their line fill buffers."""
    cha: Cha = Cha()
    """The caching and home agents."""
    cache: Cache = Cache()
    """The caches."""
    prefetch: Prefetch = Prefetch()
    """The L2 prefetchers of every core."""
    ddio: Ddio = Ddio()
    """Direct cache access of the drives."""
    memory: Memory = Memory()
    """The memory controllers and their DRAM."""
    iio: Iio = Iio()
    """The integrated IO controller."""
    pcie: Pcie = Pcie()
    """The PCIe links between the drives and the IIO. The lanes are shared out evenly among the drives."""
    ssd: Ssd = Ssd()
    """The NVMe drives."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Parts(Socket):
    """A server, what runs on it, and for how long: the content of a configuration file.

    What is absent comes from the preset that `server` names. Values with units are strings such as "70 ns", "46.9 GB/s"
    or "8 MiB" (GB = 10^9 bytes, GiB = 2^30 bytes).
    """

    expander: Expander | None = None
    """Memory behind a CXL link: a node without cores, whose number follows those of the sockets."""
    pool: Pool | None = None
    """A place in a pool of memory over the network: a node without cores. It takes part when the server is a host of a
    cluster.
    """
    noc: Die | None = None
    """Where the parts of a socket lie, if they lie on a mesh."""
    fio: FioCosts = FioCosts()
    """What storage IO costs beyond its data."""
    nic: Nic | None = None
    """The NIC. It takes part when the server is a host of a cluster."""
    stack: Stack | None = None
    """What network traffic costs the cores: kernel, system calls and copies. It takes part when the server is a host of
    a cluster.
    """
    remote: Remote | None = None
    """Other sockets, whose cores reach the memory of this one over UPI. They take part when a workload of kind "remote"
    does.
    """
    upi: Sockets | None = None
    """The ways between the sockets of the server (UPI, before Skylake QPI), one between each two. They take part when
    there are several.
    """
    socket: Mapping[str, Socket] = field(default_factory=dict)
    """What a socket has of its own, by its number."""
    control: Control | None = None
    """What watches the host and throttles. It takes part when the server is a host of a cluster."""
    energy: Energy | None = None
    """What the parts of the server consume; without it there is no energy meter. What is absent comes from the profile.
    """
    power: Power | None = None
    """Frequencies, voltages and sleep of the cores; without it they have one frequency and do not sleep. What is absent
    comes from the profile.
    """
    workload: Mapping[str, Workload] = field(default_factory=dict)
    """What runs on the server, by name."""

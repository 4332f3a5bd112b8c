# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""The parts of a server, alone or in a cluster."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hostnet.system.cache import Cache, Ddio, Prefetch
from hostnet.system.chiplets import Chiplets
from hostnet.system.description import Description
from hostnet.system.die import Die
from hostnet.system.energy import Energy
from hostnet.system.expander import Expander
from hostnet.system.host import Cha, Core
from hostnet.system.io import DmaDevice, FioCosts, Iio, Iommu, Pcie, Ssd
from hostnet.system.memory import Memory
from hostnet.system.network import Control, Remote, Sockets, Stack
from hostnet.system.nic import Nic
from hostnet.system.pool import Pool
from hostnet.system.power import Power
from hostnet.system.workload import Workload


@dataclass(frozen=True, kw_only=True, repr=False)
class Socket(Description):
    """Tables of one socket; absent values come from the tables of the server."""

    core: Core = Core()
    """Cores and their line fill buffers."""
    cha: Cha = Cha()
    """Caching and home agents."""
    cache: Cache = Cache()
    """Caches of the socket."""
    prefetch: Prefetch = Prefetch()
    """L2 prefetchers of every core."""
    ddio: Ddio = Ddio()
    """Direct cache access of the drives."""
    memory: Memory = Memory()
    """Memory controllers and their DRAM."""
    iio: Iio = Iio()
    """Integrated IO controller."""
    pcie: Pcie = Pcie()
    """PCIe links between the drives and the IIO. The lanes are divided evenly among the drives."""
    ssd: Ssd = Ssd()
    """NVMe drives."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Parts(Socket):
    """Server, its workloads and the length of its run: the content of a configuration file.

    Absent values come from the preset that `server` names. Values with units are strings such as "70 ns", "46.9 GB/s"
    or "8 MiB" (GB = 10^9 bytes, GiB = 2^30 bytes).
    """

    expander: Expander | None = None
    """Memory behind a CXL link: a node without cores, numbered after the sockets."""
    pool: Pool | None = None
    """Memory borrowed from and lent to a pool over the network: a node without cores. It is simulated only if the
    server is a host of a cluster.
    """
    noc: Die | None = None
    """Positions of the parts of a socket on a mesh, if there is one."""
    fio: FioCosts = FioCosts()
    """Costs of storage IO beyond its data."""
    nic: Nic | None = None
    """NIC of the server. It is simulated only if the server is a host of a cluster."""
    stack: Stack | None = None
    """Costs of network traffic on the cores: kernel, system calls and copies. They are simulated only if the server is
    a host of a cluster.
    """
    remote: Remote | None = None
    """Other sockets, whose cores access the memory of this one over UPI. They are simulated only with a workload of
    kind "remote".
    """
    upi: Sockets | None = None
    """Links between the sockets of the server (UPI, before Skylake QPI), one between each two. They are simulated only
    with several sockets.
    """
    socket: Mapping[str, Socket] = field(default_factory=dict)
    """Tables of single sockets, by number."""
    control: Control | None = None
    """Controller that watches the host and throttles. It is simulated only if the server is a host of a cluster, or
    with `control.side = "expander"`.
    """
    energy: Energy | None = None
    """Energy consumption of the parts of the server; without it there is no energy meter. Absent values come from the
    profile.
    """
    power: Power | None = None
    """Frequencies, voltages and sleep states of the cores; without it they have one frequency and do not sleep. Absent
    values come from the profile.
    """
    workload: Mapping[str, Workload] = field(default_factory=dict)
    """Workloads of the server, by name."""
    chiplets: Chiplets = Chiplets()
    """Chiplets of a socket, if its cores are on dies of their own."""
    dma: DmaDevice = DmaDevice()
    """Device that generates DMA. It is simulated only with a workload of kind "dma"."""
    iommu: Iommu = Iommu()
    """IOMMU, which translates the addresses of devices; none when absent."""

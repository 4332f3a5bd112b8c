# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""A whole cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hostnet.system.description import Description
from hostnet.system.fabric import Cable, Network, Switch
from hostnet.system.host import Run
from hostnet.system.jobs import Job
from hostnet.system.mcn import Mcn
from hostnet.system.nic import Compress
from hostnet.system.parts import Parts
from hostnet.system.traffic import Flow, Transport
from hostnet.system.whole import Whole


@dataclass(frozen=True, kw_only=True, repr=False)
class Host(Parts):
    """A host: a server with every key that a server has, or an endpoint without a host network."""

    kind: str | None = None
    """What it is made of: "server" (a server with its host network), "endpoint" (transports at the end of a cable: no
    NIC, no cores, no memory) or "dimm" (a server on a DIMM in a memory slot of another one: no NIC, but rings that the
    other can reach).

    Default: "server".
    """
    preset: str | None = None
    """The server that its values start from; it needs a NIC, as "cascade-lake-hostcc" has one."""
    sockets: int | None = None
    """Of a server: its sockets; those of its preset when absent, 1 without one. Range: 1 to 8."""
    count: int | None = None
    """How many hosts there are like this one. Above 1 they are named NAME-0, NAME-1 ..., and NAME means all of them.

    Range: 1 to 16384. Default: 1.
    """
    at: str | Sequence[str] | None = None
    """In a topology of many switches: the switch that it is cabled to, or one for each of its hosts; the first with a
    free port when absent.
    """
    fidelity: str | None = None
    """How finely a server is simulated: "line" (line by line), "burst" (several lines at a time, as many as a TLP has)
    or "fluid" (packet by packet over a memory system that has rates); "line" when absent.
    """
    on: str | None = None
    """Of a DIMM: the host in whose memory slots it is."""
    channels: str | Sequence[int] | None = None
    """Of a DIMM: the memory channel of that host, or several, which those like it are in in turn, such as "0-1"; all
    when absent.

    Range: 0 to 255.
    """
    mcn: Mcn | None = None
    """The memory channel network, over which DIMMs with processors in the slots of a server talk."""
    latency: str | None = None
    """Of an endpoint: from the last bit of a packet to its transport, and from the transport to the port, each (time);
    "1 us" when absent.

    Range: "1 ps" to "1 s".
    """
    queue: int | None = None
    """Of an endpoint: packets queued at its port at most, while its transports wait for room; 64 when absent.

    Range: 1 to 1000000.
    """
    compress: Compress | None = None
    """Engines of an endpoint that compress the data of packets. A server has them as `nic.compress`."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Cluster(Whole, Description):
    """Hosts, what joins them, what they send, and for how long: the content of a configuration file.

    Values with units are strings such as "100 Gbps", "5 us" or "4000 B". What is absent comes from the preset of a
    host, from the network, or from the base of a transport.
    """

    host: Mapping[str, Host]
    """The hosts, by name."""
    network: Network = Network()
    """What cables and switches are like, and, when there are no cables, how hosts are joined."""
    switch: Mapping[str, Switch] = field(default_factory=dict)
    """Switches, by name."""
    cable: Mapping[str, Cable] = field(default_factory=dict)
    """Cables, by name."""
    transport: Mapping[str, Transport] = field(default_factory=dict)
    """Transports, by name. "dctcp", "cubic", "reno", "roce" and "dcqcn" are there; a table of that name changes one."""
    flow: Mapping[str, Flow] = field(default_factory=dict)
    """What is sent, by name."""
    job: Mapping[str, Job] = field(default_factory=dict)
    """Programs of ranks, by name."""
    run: Run = Run()
    """How long to simulate."""
    base_dir: str = "."
    """The folder that relative paths of captures and job files start from. It is not part of the file."""

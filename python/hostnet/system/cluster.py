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
    """Host: a server with all keys of a server, or an endpoint without a host network."""

    kind: str | None = None
    """Kind of the host: "server" (a server with its host network), "endpoint" (transports attached to a cable: no NIC,
    no cores, no memory) or "dimm" (a server on a DIMM in a memory slot of another server: no NIC, but rings that the
    other server can access).

    Default: "server".
    """
    preset: str | None = None
    """Server that the values start from; it needs a NIC, as "cascade-lake-hostcc" has one."""
    sockets: int | None = None
    """For a server: number of sockets; those of its preset when absent, 1 without one. Range: 1 to 8."""
    count: int | None = None
    """Number of hosts like this one. If it is above 1, they are named NAME-0, NAME-1 ..., and NAME refers to all of
    them.

    Range: 1 to 16384. Default: 1.
    """
    at: str | Sequence[str] | None = None
    """In a topology of many switches: switch that the host is cabled to, or one for each of the hosts; the first with a
    free port when absent.
    """
    fidelity: str | None = None
    """Level of detail at which a server is simulated: "line" (every line), "burst" (several lines at a time, as many as
    a TLP carries) or "fluid" (packets, over a memory system of rates); "line" when absent.
    """
    on: str | None = None
    """For a DIMM: host that has the DIMM in its memory slots."""
    channels: str | Sequence[int] | None = None
    """For a DIMM: memory channel of that host, or several, such as "0-1", to which the DIMMs of this table are assigned
    round robin; all when absent.

    Range: 0 to 255.
    """
    mcn: Mcn | None = None
    """Memory channel network, which connects DIMMs with processors in the slots of a server."""
    latency: str | None = None
    """For an endpoint: time from the last bit of a packet to its transport, and from the transport to the port, each
    (time); "1 us" when absent.

    Range: "1 ps" to "1 s".
    """
    queue: int | None = None
    """For an endpoint: maximum number of packets queued at each of its ports, while its transports wait for room; 64
    when absent.

    Range: 1 to 1000000.
    """
    compress: Compress | None = None
    """Engines of an endpoint that compress the data of packets; a server has them as `nic.compress`."""
    ports: int | None = None
    """For an endpoint: parallel cables to its switch, or in "direct" to the other host, each at a port of its own; 1
    when absent. Each flow keeps one of them, round robin.

    Range: 1 to 64.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Cluster(Whole, Description):
    """Configuration of a cluster: its hosts, their network, their traffic, and the length of the run.

    Values with units are strings such as "100 Gbps", "5 us" or "4000 B". Keys that are absent come from the preset of a
    host, from the network, or from the base of a transport.
    """

    host: Mapping[str, Host]
    """Hosts, by name."""
    network: Network = Network()
    """Defaults of cables and switches, and, if there are no cables, the topology of the network."""
    switch: Mapping[str, Switch] = field(default_factory=dict)
    """Switches, by name."""
    cable: Mapping[str, Cable] = field(default_factory=dict)
    """Cables, by name."""
    transport: Mapping[str, Transport] = field(default_factory=dict)
    """Transports, by name. "dctcp", "cubic", "reno", "roce" and "dcqcn" are built in; a table of that name changes one.
    """
    flow: Mapping[str, Flow] = field(default_factory=dict)
    """Flows, by name."""
    job: Mapping[str, Job] = field(default_factory=dict)
    """Programs of ranks, by name."""
    run: Run = Run()
    """Length of the run."""
    base_dir: str = "."
    """The folder that relative paths of captures and job files start from. It is not part of the file."""

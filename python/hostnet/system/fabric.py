# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""The network between the hosts of a cluster: switches, cables, and its short form."""

from collections.abc import Sequence
from dataclasses import dataclass

from hostnet.system.description import Description
from hostnet.system.nic import Pfc


@dataclass(frozen=True, kw_only=True, repr=False)
class Ramp(Description):
    """Marking with a probability that rises from 0 to `most` between two lengths of the queue, and is 1 above."""

    min: str
    """Queue below which nothing is marked (size). Range: at most "1 TB"."""
    max: str
    """Queue above which all is marked (size). Range: at most "1 TB"."""
    most: float
    """Share that is marked just below `max` (0 to 1)."""


@dataclass(frozen=True, kw_only=True, repr=False)
class SwitchEnergy(Description):
    """What it consumes; it has no energy meter when absent everywhere.

    There is no profile of switches: what is absent is not counted.
    """

    on: str | None = None
    """All of it but its ports, as long as it is on (power); not counted when absent. Range: "0 uW" to "10 kW"."""
    port: str | None = None
    """Each port with a cable, as long as it is on (power); not counted when absent. Range: "0 uW" to "1 kW"."""
    byte: str | None = None
    """A byte on the wire that a port sends (energy); not counted when absent. Range: "0 fJ" to "1 mJ"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Switch(Description):
    """A switch with output queues. What is absent is that of `network.switch`."""

    kind: str | None = None
    """How it comes to know where hosts are: "routed" (it knows the shortest ways) or "learning" (from the packets that
    come from them, IEEE 802.1D); "routed" when absent everywhere.
    """
    buffer: str | None = None
    """Packet memory that all ports share (size); "16 MB" when absent everywhere. Range: "2 KiB" to "1 TB"."""
    alpha: float | None = None
    """A queue may hold this times what is free (dynamic threshold); all that is free when absent everywhere.

    Range: 0.001 to 1024.
    """
    latency: str | None = None
    """From the last bit of a packet to the first bit at the head of its queue (time); "500 ns" when absent everywhere.
    Not of the kind "learning".

    Range: "1 ps" to "10 ms".
    """
    ecn: str | Ramp | None = None
    """When packets are marked: a queue of "65 packets" or "100 kB", or a table with a probability that rises from 0 at
    `min` to `most` at `max`, and is 1 above; never when absent everywhere or "off".
    """
    pfc: Pfc | None = None
    """When senders are paused; never when absent everywhere. Not of the kind "learning"."""
    table: int | None = None
    """Of the kind "learning": addresses that it knows at most; 4096 when absent everywhere. Where there is no room, the
    address goes from which nothing has come for longest.

    Range: 1 to 65536.
    """
    ttl: str | None = None
    """Of the kind "learning": when an address is forgotten from which nothing comes (time); "10 ms" when absent
    everywhere.

    Range: "1 ns" to "1000 s".
    """
    fabric: str | None = None
    """Of the kind "learning": what its fabric carries to each port, in bytes of IP packets (bandwidth); "10 Gbps" when
    absent everywhere.

    Range: "1 Mbps" to "10 TB/s".
    """
    delay: str | None = None
    """Of the kind "learning": what the fabric takes beyond that, from the last bit of a packet to its queue (time);
    none when absent everywhere.

    Range: at most "10 ms".
    """
    jitter: str | None = None
    """Of the kind "learning": up to so much more, at random (time); none when absent everywhere.

    Range: at most "10 ms".
    """
    sum: str | None = None
    """Rate at which its engine sums up vectors of jobs, in bytes of the sum, of however many ports (bandwidth); it does
    not sum up when absent everywhere. Not of the kind "learning".

    Range: "1 Mbps" to "10 TB/s".
    """
    sharers: int | None = None
    """Pages that servers of a pool share and that it decides about in the place of the controller, the first ones; 4096
    when absent everywhere. Of the only switch.

    Range: 0 to 16777216.
    """
    energy: SwitchEnergy | None = None
    """What it consumes; it has no energy meter when absent everywhere. There is no profile of switches: what is absent
    is not counted.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Cable(Description):
    """A full-duplex cable.

    What is absent is that of the network. Without ends it is a cable of a topology: that of a host has the name of the
    host, that between two switches both names, such as "leaf-0_spine-1".
    """

    ends: tuple[str, str] | None = None
    """What it joins: two names of hosts or switches. All cables have this, or none."""
    rate: str | None = None
    """Rate in either direction (bandwidth); that of the network when absent. Range: "1 Mbps" to "10 TB/s"."""
    latency: str | None = None
    """Propagation delay (time); that of the network when absent. Range: "1 ps" to "10 s"."""
    down: Sequence[tuple[str, str]] | None = None
    """When it is down (time): pairs of times from the start of the run, at most 1024, such as `[["1 ms", "2 ms"]]`.
    What is on it then is lost.

    Range: at most "1000 s".
    """
    corrupt: float | None = None
    """Share of packets that it damages (0 to 1)."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Bottleneck(Description):
    """The cable between the switches of a dumbbell."""

    rate: str | None = None
    """Rate in either direction (bandwidth); that of the network when absent. Range: "1 Mbps" to "10 TB/s"."""
    latency: str | None = None
    """Propagation delay (time); that of the network when absent. Range: "1 ps" to "10 s"."""
    down: Sequence[tuple[str, str]] | None = None
    """When it is down, as of any cable (time): pairs of times, at most 1024. Range: at most "1000 s"."""
    corrupt: float | None = None
    """Share of packets that it damages (0 to 1)."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Trunk(Description):
    """Cables between switches, in topologies of many; those of the network when absent."""

    rate: str | None = None
    """Rate of each in either direction (bandwidth); that of other cables when absent. Range: "1 Mbps" to "10 TB/s"."""
    latency: str | None = None
    """Propagation delay of each (time); that of other cables when absent. Range: "1 ps" to "10 s"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Network(Description):
    """What cables and switches are like, and, when there are no cables, how hosts are joined."""

    topology: str | None = None
    """How hosts are joined: "star" (every host is cabled to one switch, named "tor"), "dumbbell" (two switches, "left"
    and "right", with one cable between them), "direct" (two hosts and one cable), "two-tier" (leaf switches with hosts,
    each with one cable to the switch "root"), "leaf-spine" (leaf switches with hosts, each with a cable to every spine
    switch), "fat-tree" (three levels of switches of k ports each, Al-Fares et al., SIGCOMM 2008), "ring" (switches with
    hosts, in a circle), "mesh" (switches with hosts, in rows and columns), "torus" (a mesh of two or three dimensions
    whose ends are joined) or "dragonfly" (groups of switches, all of a group and all groups joined with each other, Kim
    et al., ISCA 2008); "star" when this and all cables with ends are absent. Not together with those.
    """
    rate: str | None = None
    """Rate of a cable in either direction (bandwidth); "100 Gbps" when absent. Range: "1 Mbps" to "10 TB/s"."""
    latency: str | None = None
    """Propagation delay of a cable (time). Range: "1 ps" to "10 s". Default: "1 us"."""
    mtu: str | None = None
    """Largest IP packet (size): the MTU of every flow that gives none.

    Range: "128 B" to "65535 B". Default: "1500 B".
    """
    framing: str | None = None
    """Bytes on the wire beyond the IP packet (size): header, frame check sequence, preamble and gap.

    Range: at most "1 KiB". Default: "38 B".
    """
    frame_min: str | None = None
    """Least bytes of a frame on the wire, framing included (size). Range: at most "1 KiB". Default: "84 B"."""
    left: str | Sequence[str] | None = None
    """Hosts at the left switch of a dumbbell: a name or a list."""
    right: str | Sequence[str] | None = None
    """Hosts at the right switch of a dumbbell."""
    bottleneck: Bottleneck = Bottleneck()
    """The cable between the switches of a dumbbell."""
    leaves: int | None = None
    """Leaf switches of "two-tier" and "leaf-spine"; as many as the hosts need when absent. Range: 1 to 16384."""
    spines: int | None = None
    """Spine switches of "leaf-spine"; as many as the oversubscription asks for when absent. Range: 1 to 1024."""
    hosts_per_switch: int | None = None
    """Hosts at each switch that has some at most; when absent, the hosts shared out among the switches. Not of
    "fat-tree" and "dragonfly".

    Range: 1 to 16384.
    """
    oversubscription: float | None = None
    """Of "two-tier" and "leaf-spine": rates of the hosts at a full leaf switch divided by those of its cables upward.
    It sets the rate of those, or, without `spines`, how many there are; when absent, it follows from `spines` and
    `core.rate`.

    Range: 0.01 to 1000.
    """
    k: int | None = None
    """Of "fat-tree": ports of each switch, an even number: there is room for k^3/4 hosts; the least that has room when
    absent.

    Range: 2 to 42.
    """
    size: int | Sequence[int] | None = None
    """Of "ring", "mesh" and "torus": switches along each dimension: 8 of a ring, [8, 4] of a mesh or torus, [4, 4, 4]
    of a torus.

    Range: 1 to 4096.
    """
    a: int | None = None
    """Of "dragonfly": switches of a group; 2h when absent. Range: 1 to 256."""
    p: int | None = None
    """Of "dragonfly": hosts at each switch at most; h when absent. Range: 1 to 256."""
    h: int | None = None
    """Of "dragonfly": cables of each switch to other groups; the least that has room for the hosts when absent.

    Range: 1 to 256.
    """
    groups: int | None = None
    """Of "dragonfly": groups; a h + 1 when absent, which is the most. Range: 2 to 4096."""
    core: Trunk = Trunk()
    """Cables between switches, in topologies of many; those of the network when absent."""
    global_: Trunk = Trunk()
    """Of "dragonfly": cables between groups; those between switches when absent. Its key in files is `global`."""
    switch: Switch = Switch()
    """What every switch is like that does not say otherwise."""

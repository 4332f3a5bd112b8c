# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""The network between the hosts of a cluster: switches, cables, and its short form."""

from collections.abc import Sequence
from dataclasses import dataclass

from hostnet.system.description import Description
from hostnet.system.nic import Pfc


@dataclass(frozen=True, kw_only=True, repr=False)
class Ramp(Description):
    """ECN marking with a probability that rises from 0 to `most` between two queue lengths, and is 1 above."""

    min: str
    """Queue length below which no packet is marked (size). Range: at most "1 TB"."""
    max: str
    """Queue length above which every packet is marked (size). Range: at most "1 TB"."""
    most: float
    """Share of packets that is marked just below `max` (0 to 1)."""


@dataclass(frozen=True, kw_only=True, repr=False)
class SwitchEnergy(Description):
    """Energy consumption of the switch; no energy meter when absent everywhere.

    Switches have no profile: absent values are not counted.
    """

    on: str | None = None
    """Power of a switch that is on, without its ports (power); not counted when absent. Range: "0 uW" to "10 kW"."""
    port: str | None = None
    """Power of each port with a cable, while the switch is on (power); not counted when absent.

    Range: "0 uW" to "1 kW".
    """
    byte: str | None = None
    """Energy per byte on the wire that a port sends (energy); not counted when absent. Range: "0 fJ" to "1 mJ"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Switch(Description):
    """Switch with output queues. Absent values are those of `network.switch`."""

    kind: str | None = None
    """Source of the paths to hosts: "routed" (shortest paths, known in advance) or "learning" (source addresses of
    packets, IEEE 802.1D); "routed" when absent everywhere.
    """
    buffer: str | None = None
    """Packet memory that all ports share (size); "16 MB" when absent everywhere. Range: "2 KiB" to "1 TB"."""
    alpha: float | None = None
    """Multiple of the free memory that a queue may hold (dynamic threshold); all free memory when absent everywhere.

    Range: 0.001 to 1024.
    """
    latency: str | None = None
    """Time from the last bit of a packet to its first bit at the head of its queue (time); "500 ns" when absent
    everywhere. Not with the kind "learning".

    Range: "1 ps" to "10 ms".
    """
    ecn: str | Ramp | None = None
    """Threshold for marking packets: a queue of "65 packets" or "100 kB", or a table with a probability that rises from
    0 at `min` to `most` at `max`, and is 1 above; never when absent everywhere or "off".
    """
    pfc: Pfc | None = None
    """Thresholds for pausing senders; no pauses when absent everywhere. Not with the kind "learning"."""
    table: int | None = None
    """With the kind "learning": maximum number of addresses in the table; 4096 when absent everywhere. If the table is
    full, a new address replaces the one that has been silent for longest.

    Range: 1 to 65536.
    """
    ttl: str | None = None
    """With the kind "learning": time without packets after which an address is forgotten (time); "10 ms" when absent
    everywhere.

    Range: "1 ns" to "1000 s".
    """
    fabric: str | None = None
    """With the kind "learning": bandwidth of the fabric to each port, in bytes of IP packets (bandwidth); "10 Gbps"
    when absent everywhere.

    Range: "1 Mbps" to "10 TB/s".
    """
    delay: str | None = None
    """With the kind "learning": latency of the fabric beyond that, from the last bit of a packet to its queue (time);
    none when absent everywhere.

    Range: at most "10 ms".
    """
    jitter: str | None = None
    """With the kind "learning": largest random addition to `delay` (time); none when absent everywhere.

    Range: at most "10 ms".
    """
    sum: str | None = None
    """Rate of the engine that reduces vectors of jobs, in bytes of the sum, for any number of ports (bandwidth); no
    reduction when absent everywhere. Not with the kind "learning".

    Range: "1 Mbps" to "10 TB/s".
    """
    sharers: int | None = None
    """Number of shared pages of a pool, from the first on, that the switch manages in place of the controller; 4096
    when absent everywhere. Only if the network has one switch.

    Range: 0 to 16777216.
    """
    energy: SwitchEnergy | None = None
    """Energy consumption of the switch; no energy meter when absent everywhere. Switches have no profile: absent values
    are not counted.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Cable(Description):
    """Full-duplex cable; keys that are absent come from the network.

    Without ends it is a cable of the topology: the cable of a host has the name of the host, one between two switches
    both names, such as "leaf-0_spine-1".
    """

    ends: tuple[str, str] | None = None
    """Both ends: names of hosts or switches. Either all cables have this key, or none."""
    rate: str | None = None
    """Bandwidth in each direction (bandwidth); that of the network when absent. Range: "1 Mbps" to "10 TB/s"."""
    latency: str | None = None
    """Propagation delay (time); that of the network when absent. Range: "1 ps" to "10 s"."""
    down: Sequence[tuple[str, str]] | None = None
    """Outages (time): pairs of times from the start of the run, at most 1024, such as `[["1 ms", "2 ms"]]`. Packets in
    flight on the cable, or sent onto it, are lost.

    Range: at most "1000 s".
    """
    corrupt: float | None = None
    """Share of packets that the cable corrupts (0 to 1)."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Bottleneck(Description):
    """Cable between the switches of a dumbbell."""

    rate: str | None = None
    """Rate in each direction (bandwidth); that of the network when absent. Range: "1 Mbps" to "10 TB/s"."""
    latency: str | None = None
    """Propagation delay (time); that of the network when absent. Range: "1 ps" to "10 s"."""
    down: Sequence[tuple[str, str]] | None = None
    """Outages of the cable (time): pairs of times from the start of the run, at most 1024. Range: at most "1000 s"."""
    corrupt: float | None = None
    """Share of packets that the cable corrupts (0 to 1)."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Trunk(Description):
    """Cables between switches, in topologies with several switches; those of the network when absent."""

    rate: str | None = None
    """Rate of each cable in each direction (bandwidth); that of other cables when absent.

    Range: "1 Mbps" to "10 TB/s".
    """
    latency: str | None = None
    """Propagation delay of each cable (time); that of other cables when absent. Range: "1 ps" to "10 s"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class ScaleUp(Description):
    """With "rail-optimised" and "rail-only": scale-up fabric inside each server."""

    fabric: str | None = None
    """Shape of the fabric: "switch" (one switch per server, with a cable to each accelerator) or "mesh" (a cable
    between every two accelerators of a server).

    Default: "switch".
    """
    latency: str | None = None
    """Propagation delay of each cable of the fabric (time); that of the network when absent.

    Range: "1 ps" to "10 s".
    """
    rate: str | None = None
    """Rate of each cable of the fabric in each direction (bandwidth); that of the network when absent.

    Range: "1 Mbps" to "10 TB/s".
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Network(Description):
    """Defaults of cables and switches, and, if there are no cables, the topology of the network."""

    topology: str | None = None
    """Topology of the network: "star" (every host is cabled to one switch, named "tor"), "dumbbell" (two switches,
    "left" and "right", with one cable between them), "direct" (two hosts and one cable), "two-tier" (leaf switches with
    hosts, each with one cable to the switch "root"), "leaf-spine" (leaf switches with hosts, each with a cable to every
    spine switch), "fat-tree" (three levels of switches of k ports each, Al-Fares et al., SIGCOMM 2008), "ring"
    (switches with hosts, in a ring), "mesh" (switches with hosts, in rows and columns), "torus" (a mesh of two or three
    dimensions with wraparound cables), "dragonfly" (groups of switches, with cables between all switches of a group and
    between all groups, Kim et al., ISCA 2008), "rail-optimised" (servers of several accelerators with a scale-up fabric
    in each; switches join those with the same number in all servers, a rail, and spine switches join the rails) or
    "rail-only" (the same without spine switches: accelerators forward packets from the scale-up fabric to their rail,
    Wang et al., Hot Interconnects 2024); "star" when this key and all cables with ends are absent. Not together with
    cables with ends.
    """
    rate: str | None = None
    """Rate of a cable in each direction (bandwidth); "100 Gbps" when absent. Range: "1 Mbps" to "10 TB/s"."""
    latency: str | None = None
    """Propagation delay of a cable (time). Range: "1 ps" to "10 s". Default: "1 us"."""
    mtu: str | None = None
    """Largest IP packet (size): the MTU of every flow that sets none.

    Range: "128 B" to "65535 B". Default: "1500 B".
    """
    framing: str | None = None
    """Bytes on the wire beyond the IP packet (size): header, frame check sequence, preamble and interpacket gap.

    Range: at most "1 KiB". Default: "38 B".
    """
    frame_min: str | None = None
    """Minimum size of a frame on the wire, framing included (size). Range: at most "1 KiB". Default: "84 B"."""
    left: str | Sequence[str] | None = None
    """Hosts at the left switch of a dumbbell: a name or a list."""
    right: str | Sequence[str] | None = None
    """Hosts at the right switch of a dumbbell."""
    bottleneck: Bottleneck = Bottleneck()
    """Cable between the switches of a dumbbell."""
    leaves: int | None = None
    """Leaf switches of "two-tier" and "leaf-spine"; as many as `hosts_per_switch` requires when absent.

    Range: 1 to 16384.
    """
    spines: int | None = None
    """Spine switches of "leaf-spine" and "rail-optimised"; as many as the oversubscription requires when absent.

    Range: 1 to 1024.
    """
    hosts_per_switch: int | None = None
    """Maximum number of hosts at each switch that has hosts; when absent, the hosts are divided among the switches. Not
    with "fat-tree" and "dragonfly".

    Range: 1 to 16384.
    """
    oversubscription: float | None = None
    """With "two-tier", "leaf-spine" and "rail-optimised": total rate of the hosts at a full leaf switch divided by the
    total rate of its uplinks. It sets the rate of the uplinks or, without `spines`, their number; when absent, it
    follows from `spines` and `core.rate`.

    Range: 0.01 to 1000.
    """
    k: int | None = None
    """With "fat-tree": ports of each switch, an even number, for up to k^3/4 hosts; the smallest with room for the
    hosts when absent.

    Range: 2 to 42.
    """
    size: int | Sequence[int] | None = None
    """With "ring", "mesh" and "torus": switches along each dimension, such as 8 for a ring, [8, 4] for a mesh or torus,
    and [4, 4, 4] for a torus.

    Range: 1 to 4096.
    """
    a: int | None = None
    """With "dragonfly": switches per group; 2h when absent. Range: 1 to 256."""
    p: int | None = None
    """With "dragonfly": maximum number of hosts at each switch; h when absent. Range: 1 to 256."""
    h: int | None = None
    """With "dragonfly": cables of each switch to other groups; the smallest number with room for the hosts when absent.

    Range: 1 to 256.
    """
    groups: int | None = None
    """With "dragonfly": groups, at most a h + 1; a h + 1 when absent. Range: 2 to 4096."""
    core: Trunk = Trunk()
    """Cables between switches, in topologies with several switches; those of the network when absent."""
    global_: Trunk = Trunk()
    """With "dragonfly": cables between groups; those between switches when absent. Its key in files is `global`."""
    switch: Switch = Switch()
    """Defaults of all switches."""
    accelerators: int | None = None
    """With "rail-optimised" and "rail-only": accelerators of each server. Each is a host; the first ones are the first
    server.

    Range: 2 to 1024.
    """
    rails: int | None = None
    """With "rail-optimised" and "rail-only": rails, a multiple of the accelerators of a server; one for each of them
    when absent.

    Range: 1 to 4096.
    """
    scale_up: ScaleUp = ScaleUp()
    """With "rail-optimised" and "rail-only": scale-up fabric inside each server."""
    fidelity: str | None = None
    """Level of detail of the network: "packet" (every packet is simulated) or "flow" (every message of a job is a flow
    of bytes that shares cables with others); "packet" when absent.
    """

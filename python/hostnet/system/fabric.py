"""What joins the hosts of a cluster: switches, cables, and the short form of a network."""

from collections.abc import Sequence
from dataclasses import dataclass

from hostnet.system.description import Description
from hostnet.system.network import Pfc


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
class Switch(Description):
    """A switch with output queues. What is None is that of `network.switch`."""

    buffer: str | None = None
    """Packet memory that all ports share (size); "16 MB" when absent everywhere. Range: "2 KiB" to "1 TB"."""
    alpha: float | None = None
    """A queue may hold this times what is free (dynamic threshold); all that is free when absent everywhere.

    Range: 0.001 to 1024.
    """
    latency: str | None = None
    """From the last bit of a packet to the first bit at the head of its queue (time); "500 ns" when absent everywhere.

    Range: "1 ps" to "10 ms".
    """
    ecn: str | Ramp | None = None
    """When packets are marked: a queue of "65 packets" or "100 kB", or a `Ramp`; never when absent everywhere or "off".
    """
    pfc: Pfc | None = None
    """When senders are paused, with `xoff` and `xon`; never when absent everywhere."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Cable(Description):
    """A full-duplex cable. What is None is that of the network.

    Without ends it is the cable of a host in a topology, and has the name of the host.
    """

    ends: tuple[str, str] | None = None
    """What it joins: two names of hosts or switches. All cables have this, or none."""
    rate: str | None = None
    """Rate in either direction (bandwidth). Range: "1 Mbps" to "10 TB/s"."""
    latency: str | None = None
    """Propagation delay (time). Range: "1 ps" to "10 s"."""
    down: Sequence[tuple[str, str]] | None = None
    """When it is down: pairs of times from the start of the run (time), at most 1024. What is on it then is lost.

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
    """When it is down, as of any cable: pairs of times (time), at most 1024. Range: at most "1000 s"."""
    corrupt: float | None = None
    """Share of packets that it damages (0 to 1)."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Network(Description):
    """What every cable and switch is like that does not say otherwise, and how hosts are joined without cables."""

    topology: str | None = None
    """How hosts are joined: "star" (all at one switch, named "tor"), "dumbbell" (two switches, "left" and "right", with
    one cable between them) or "direct" (two hosts and one cable); "star" when this and all cables with ends are absent.
    Not together with those.
    """
    rate: str | None = None
    """Rate of a cable in either direction (bandwidth); "100 Gbps" when absent. Range: "1 Mbps" to "10 TB/s"."""
    latency: str | None = None
    """Propagation delay of a cable (time); "1 us" when absent. Range: "1 ps" to "10 s"."""
    mtu: str | None = None
    """Largest IP packet (size), of every flow that gives none; "1500 B" when absent. Range: "128 B" to "65535 B"."""
    framing: str | None = None
    """Bytes on the wire beyond the IP packet (size): header, frame check sequence, preamble and gap; "38 B" when
    absent. Range: at most "1 KiB".
    """
    frame_min: str | None = None
    """Least bytes of a frame on the wire, framing included (size); "84 B" when absent. Range: at most "1 KiB"."""
    left: str | Sequence[str] | None = None
    """Hosts at the left switch of a dumbbell: a name or a list."""
    right: str | Sequence[str] | None = None
    """Hosts at the right switch of a dumbbell."""
    bottleneck: Bottleneck = Bottleneck()
    """The cable between the switches of a dumbbell."""
    switch: Switch = Switch()
    """What every switch is like that does not say otherwise."""

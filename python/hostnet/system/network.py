# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""The network of a server: kernel and applications, other sockets, host congestion control."""

from collections.abc import Sequence
from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class Stack(Description):
    """What network traffic costs the cores: kernel, system calls and copies.

    It takes part when the server is a host of a cluster.
    """

    cores: str | Sequence[int] | None = None
    """The cores that have a receive queue of the NIC; those of the applications of the flows when absent (aRFS).

    Range: 0 to 1023.
    """
    packet: str | None = None
    """Work of the driver and IP per received packet (time). Range: at most "1 ms"."""
    segment: str | None = None
    """Work of TCP and the socket per received segment, after packets were joined (time). Range: at most "1 ms"."""
    ack: str | None = None
    """Work per acknowledgement sent (time). Range: at most "1 ms"."""
    send: str | None = None
    """Work per segment sent, before the NIC cuts it (time). Range: at most "1 ms"."""
    allocate: str | None = None
    """Work of allocating and releasing a socket buffer, per received packet and per segment sent whose data is copied
    (time); "0 ns" when absent: part of the work on packets and segments.

    Range: at most "1 ms".
    """
    generate: str | None = None
    """Work of the kernel's generator of packets per packet, beyond what the lines of rings take to come (time).

    Range: at most "1 ms". Default: "219 ns".
    """
    copy_line: str | None = None
    """Work of the copy to or from the application per line, beyond what the line's data takes to come (time).

    Range: at most "1 us".
    """
    wake: str | None = None
    """System call and wake-up of an application that waits (time). Range: at most "10 ms"."""
    call: str | None = None
    """System call of an application that goes on (time). Range: at most "10 ms"."""
    call_size: str | None = None
    """What an application reads or writes per system call (size). Range: "64 B" to "64 MiB"."""
    budget: int | None = None
    """Packets that are taken from a queue before others have their turn (NAPI budget). Range: 1 to 65536."""
    gro: str | None = None
    """Data up to which packets of a flow are joined (GRO) (size); "0 B" = not at all. Range: at most "1 MiB"."""
    poll: bool | None = None
    """Whether the cores poll instead of waiting for interrupts."""
    zero_copy: bool | None = None
    """Whether applications write and read where the NIC does, so that nothing is copied; false when absent."""
    extra_lines: float | None = None
    """Lines per received packet that the kernel reads from memory beside the payload: headers and completions. With
    `nic.ddio` the LLC has them (0 to 256).
    """
    page_lines: float | None = None
    """Lines per 4096 B of received packets that the kernel stores to: what it keeps of the pages that they lie in. With
    `nic.ddio` the caches have them (0 to 256).

    Default: 0.
    """
    copy_ahead: int | None = None
    """Lines that a copy asks for ahead of the one it needs, at most the LFB entries. Range: 0 to 1024."""
    prefetch_ahead: int | None = None
    """Lines that a copy has on their way at most where the streamer of the L2 helps it, those of the LFB among them: it
    takes part when the caches do, and so does the adjacent-line prefetcher, which brings completions in pairs. When
    absent they do not help.

    Range: 0 to 1024.
    """
    cached_user: bool | None = None
    """Whether the application's buffer lies in the caches, so that only the kernel's side of a copy is memory traffic.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Upi(Description):
    """The way between two sockets: one pair of UPI directions."""

    bandwidth: str | None = None
    """Bandwidth of one direction (bandwidth). Range: "100 MB/s" to "10 TB/s"."""
    latency: str | None = None
    """Latency of one direction, from CHA to CHA (time). Range: "1 ps" to "100 us"."""
    data_credits: int | None = None
    """Lines with data on their way in one direction. Range: 1 to 65536."""
    request_credits: int | None = None
    """Requests without data on their way in one direction. Range: 1 to 65536."""
    data: str | None = None
    """A line of data with all that goes with it (size). Range: "64 B" to "1 KiB"."""
    request: str | None = None
    """A request or an answer without data (size). Range: "1 B" to "1 KiB"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Remote(Description):
    """Other sockets, whose cores reach the memory of this one over UPI.

    They take part when a workload of kind "remote" does.
    """

    sockets: int | None = None
    """Other sockets. Range: 1 to 63."""
    lines_in_flight: int | None = None
    """Lines that a core there keeps in flight, line fill buffer and prefetches together. Range: 1 to 1024."""
    directory: bool | None = None
    """Whether a line that becomes dirty at another socket is noted in memory by a write of its own (directory)."""
    upi: Upi = Upi()
    """The way between two sockets: one pair of UPI directions."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Sockets(Description):
    """The ways between the sockets of the server (UPI, before Skylake QPI), one between each two.

    They take part when there are several.
    """

    links: int | None = None
    """Links between each two sockets, whose bandwidths and credits add up. Range: 1 to 16."""
    link: Upi = Upi()
    """What one link is like."""
    speculative: bool | None = None
    """Whether memory reads a line as soon as another socket asks for it, while the caches there are looked up."""
    snoop: str | None = None
    """How the home of a line learns what the caches of other sockets have of it: "directory" (it knows, and asks those
    that have something) or "home" (it asks all others about every read that its memory answers, while memory reads, and
    waits for their answers); "directory" when absent.
    """
    directory: bool | None = None
    """Whether a line that becomes dirty at another socket is noted in memory by a write of its own (directory)."""
    ddio: str | None = None
    """What a device's write to the LLC (DDIO) does with a line of another socket: "memory" writes it there, as
    processors do; "device" keeps it in the LLC of the device's socket, "home" in that of the line's.

    Default: "memory".
    """
    tor_entries: int | None = None
    """Request buffer entries of a CHA slice that lines of other sockets may hold at most; half of `cha.tor.entries`
    when absent.

    Range: 1 to 1023.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Control(Description):
    """What watches the host and throttles. It takes part when the server is a host of a cluster."""

    rule: str | None = None
    """The rule: "none" (no signal is read), "watch" (signals are read, nothing is done), "hostcc" (cores are throttled
    and packets marked, hostCC), "echo-only" (packets are marked), "local-only" (cores are throttled), "fixed" (one
    level for ever) or "user" (a rule of the user's, see `name`).

    Default: "none".
    """
    level: int | None = None
    """The level of the rule "fixed", 0 to 4: how many sockets are throttled; 4 = their processes are stopped; none when
    absent.
    """
    name: str | None = None
    """What messages call the controller of the rule "user"; "user" when absent."""
    target: str | None = None
    """Bandwidth that network traffic shall have (bandwidth). Range: "1 Mbps" to "10 TB/s"."""
    pcie_overhead: float | None = None
    """What PCIe carries beyond the target, as a share of it: the rule compares target x (1 + this) (0 to 1)."""
    occupancy: float | None = None
    """Occupancy of the IIO above which the host is congested (lines). Range: 0 to 65536."""
    occupancy_shift: int | None = None
    """The weight of a new sample of occupancy is 2 to the minus this. Range: 0 to 20."""
    bandwidth_shift: int | None = None
    """The weight of a new sample of bandwidth is 2 to the minus this. Range: 0 to 20."""
    occupancy_floor: int | None = None
    """Samples of occupancy up to this are discarded (lines). Range: 0 to 65536."""
    bandwidth_ceiling: str | None = None
    """Samples of bandwidth from this on are discarded (bandwidth). Range: "1 Mbps" to "100 TB/s"."""
    hold: str | None = None
    """Least time between two steps down of the level (time). Range: at most "1 s"."""
    read: str | None = None
    """Mean time of one MSR read (time). Range: "1 ps" to "1 ms"."""
    read_jitter: float | None = None
    """Half the range of that time as a share of it (0 to 1)."""
    write: str | None = None
    """Time of one MBA write (time). Range: "1 ps" to "10 ms"."""
    signal: str | None = None
    """Time of a signal that stops or continues a process (time). Range: "1 ps" to "10 ms"."""
    iio_clock: str | None = None
    """Clock by which the IIO accumulates its occupancy (frequency). Range: "1 MHz" to "10 GHz"."""
    mba: str | None = None
    """What MBA at its highest value adds to every request of a core (time). Range: at most "1 ms"."""
    side: str | None = None
    """Which traffic is looked at: "receiver" (writes of the IIO and incoming packets) or "sender" (reads of the IIO and
    outgoing packets).

    Default: "receiver".
    """

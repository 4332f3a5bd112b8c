# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""The network of a server: kernel and applications, other sockets, host congestion control."""

from collections.abc import Sequence
from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class Stack(Description):
    """Costs of network traffic on the cores: kernel, system calls and copies.

    They are simulated only if the server is a host of a cluster.
    """

    cores: str | Sequence[int] | None = None
    """Cores that have a receive queue of the NIC; those of the applications of the flows when absent (aRFS).

    Range: 0 to 1023.
    """
    packet: str | None = None
    """Work of the driver and IP per received packet (time). Range: at most "1 ms"."""
    segment: str | None = None
    """Work of TCP and the socket per received segment, after packets were coalesced (time). Range: at most "1 ms"."""
    ack: str | None = None
    """Work per acknowledgement sent (time). Range: at most "1 ms"."""
    send: str | None = None
    """Work per segment sent, before the NIC splits it into packets (time). Range: at most "1 ms"."""
    allocate: str | None = None
    """Work of allocating and releasing a socket buffer, per received packet and per segment sent whose data is copied
    (time); "0 ns" when absent: included in the work on packets and segments.

    Range: at most "1 ms".
    """
    generate: str | None = None
    """Work of the kernel's packet generator per packet, beyond the wait for lines of the rings (time).

    Range: at most "1 ms". Default: "219 ns".
    """
    copy_line: str | None = None
    """Work of the copy to or from the application per line, beyond the wait for the line (time).

    Range: at most "1 us".
    """
    wake: str | None = None
    """System call and wake-up of a blocked application (time). Range: at most "10 ms"."""
    call: str | None = None
    """System call of a running application (time). Range: at most "10 ms"."""
    call_size: str | None = None
    """Data that an application reads or writes per system call (size). Range: "64 B" to "64 MiB"."""
    budget: int | None = None
    """Packets taken from a queue before the other queues have their turn (NAPI budget). Range: 1 to 65536."""
    gro: str | None = None
    """Largest amount of data into which packets of a flow are coalesced (GRO) (size); "0 B" = no coalescing.

    Range: at most "1 MiB".
    """
    poll: bool | None = None
    """True if the cores poll instead of waiting for interrupts."""
    zero_copy: bool | None = None
    """True if applications read and write the buffers of the NIC, so that nothing is copied; false when absent."""
    extra_lines: float | None = None
    """Lines per received packet that the kernel reads from memory beside the payload: headers and completions. With
    `nic.ddio` they are in the LLC (0 to 256).
    """
    page_lines: float | None = None
    """Lines per 4096 B of received packets that the kernel stores to: metadata of the pages that hold the packets. With
    `nic.ddio` they are in the caches (0 to 256).

    Default: 0.
    """
    copy_ahead: int | None = None
    """Lines that a copy requests ahead of the one in use, at most the LFB entries. Range: 0 to 1024."""
    prefetch_ahead: int | None = None
    """Maximum number of lines of a copy in flight with the help of the L2 streamer, those in the LFB included; no help
    when absent. The streamer is simulated only with caches, and so is the adjacent-line prefetcher, which fetches
    completions in pairs.

    Range: 0 to 1024.
    """
    cached_user: bool | None = None
    """True if the application's buffer lies in the caches, so that only the kernel's side of a copy causes memory
    traffic.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Upi(Description):
    """UPI link between two sockets: one pair of directions."""

    bandwidth: str | None = None
    """Bandwidth of one direction (bandwidth). Range: "100 MB/s" to "10 TB/s"."""
    latency: str | None = None
    """Latency of one direction, from CHA to CHA (time). Range: "1 ps" to "100 us"."""
    data_credits: int | None = None
    """Credits for messages with data in one direction: lines in flight. Range: 1 to 65536."""
    request_credits: int | None = None
    """Credits for messages without data in one direction. Range: 1 to 65536."""
    data: str | None = None
    """Message with a line of data, overheads included (size). Range: "64 B" to "1 KiB"."""
    request: str | None = None
    """Request or response without data (size). Range: "1 B" to "1 KiB"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Remote(Description):
    """Other sockets, whose cores access the memory of this one over UPI.

    They are simulated only with a workload of kind "remote".
    """

    sockets: int | None = None
    """Number of other sockets. Range: 1 to 63."""
    lines_in_flight: int | None = None
    """Lines that a core of another socket keeps in flight, in its line fill buffer and by its prefetchers together.

    Range: 1 to 1024.
    """
    directory: bool | None = None
    """True if a line that becomes dirty at another socket causes a directory write to memory."""
    upi: Upi = Upi()
    """UPI link between two sockets: one pair of directions."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Sockets(Description):
    """Links between the sockets of the server (UPI, before Skylake QPI), one between each two.

    They are simulated only with several sockets.
    """

    links: int | None = None
    """Number of links between each two sockets, whose bandwidths and credits add up. Range: 1 to 16."""
    link: Upi = Upi()
    """Bandwidth, latency and credits of one link."""
    speculative: bool | None = None
    """True if memory reads a line speculatively as soon as another socket requests it, while the caches of the home
    socket are looked up.
    """
    snoop: str | None = None
    """Snooping of the caches of other sockets by the home of a line: "directory" (the home knows the sockets that have
    the line, and snoops only those) or "home" (the home snoops all other sockets on every read that its memory answers,
    while memory reads, and waits for their answers); "directory" when absent.
    """
    directory: bool | None = None
    """True if a line that becomes dirty at another socket causes a directory write to memory."""
    ddio: str | None = None
    """Destination of a device's write to the LLC (DDIO) if the line belongs to another socket: "memory", the memory of
    that socket, as on real processors; "device", the LLC of the device's socket; "home", the LLC of the line's socket.

    Default: "memory".
    """
    tor_entries: int | None = None
    """Maximum number of request buffer entries (TOR) of a CHA slice that lines of other sockets hold; half of
    `cha.tor.entries` when absent.

    Range: 1 to 1023.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Control(Description):
    """Controller that watches the host and throttles.

    It is simulated only if the server is a host of a cluster, or with `control.side = "expander"`.
    """

    rule: str | None = None
    """Control rule: "none" (reads no signals), "watch" (reads signals and does not react), "hostcc" (throttles cores
    and marks packets, hostCC), "echo-only" (marks packets), "local-only" (throttles cores), "fixed" (keeps a constant
    level) or "user" (a rule that the user supplies, see `name`).

    Default: "none".
    """
    level: int | None = None
    """Level of the rule "fixed", 0 to 4: number of throttled sockets; 4 stops their processes; none when absent."""
    name: str | None = None
    """Name of the controller of the rule "user" in messages; "user" when absent."""
    target: str | None = None
    """Target bandwidth of network traffic (bandwidth). Range: "1 Mbps" to "10 TB/s"."""
    pcie_overhead: float | None = None
    """PCIe overhead as a share of the target: the rule compares with target x (1 + this) (0 to 1)."""
    occupancy: float | None = None
    """IIO occupancy above which the host is congested (lines). Range: 0 to 65536."""
    occupancy_shift: int | None = None
    """Weight of a new occupancy sample in the moving average, as the exponent n of 2^-n. Range: 0 to 20."""
    bandwidth_shift: int | None = None
    """Weight of a new bandwidth sample in the moving average, as the exponent n of 2^-n. Range: 0 to 20."""
    occupancy_floor: int | None = None
    """Occupancy at or below which a sample is discarded (lines). Range: 0 to 65536."""
    bandwidth_ceiling: str | None = None
    """Bandwidth at or above which a sample is discarded (bandwidth). Range: "1 Mbps" to "100 TB/s"."""
    hold: str | None = None
    """Least time between two steps down of the level (time). Range: at most "1 s"."""
    read: str | None = None
    """Mean time of an MSR read (time). Range: "1 ps" to "1 ms"."""
    read_jitter: float | None = None
    """Half the range of the time of an MSR read, as a share of its mean (0 to 1)."""
    write: str | None = None
    """Time of an MBA write (time). Range: "1 ps" to "10 ms"."""
    signal: str | None = None
    """Time of a signal that stops or continues a process (time). Range: "1 ps" to "10 ms"."""
    iio_clock: str | None = None
    """IIO clock that occupancy is accumulated with (frequency). Range: "1 MHz" to "10 GHz"."""
    mba: str | None = None
    """Delay that MBA adds to every request of a core at its highest level (time). Range: at most "1 ms"."""
    side: str | None = None
    """Traffic that the controller monitors: "receiver" (writes of the IIO and incoming packets), "sender" (reads of the
    IIO and outgoing packets) or "expander" (lines behind a CXL link in the request buffers of the CHA, on a server
    alone).

    Default: "receiver".
    """
    workloads: Sequence[str] | None = None
    """Workloads whose cores are throttled, by name. Required with `side = "expander"`, not allowed otherwise."""

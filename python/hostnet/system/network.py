"""The network of a server: NIC, kernel and applications, other sockets, control."""

from collections.abc import Sequence
from dataclasses import dataclass

from hostnet.system.description import Description
from hostnet.system.dimm import NicDimm
from hostnet.system.power import Ncap


@dataclass(frozen=True, kw_only=True, repr=False)
class Pfc(Description):
    """Priority flow control (IEEE 802.1Qbb)."""

    priorities: Sequence[int] | None = None
    """Priorities that are lossless, as a list of numbers; 3 alone when absent. Range: 0 to 7."""
    xoff: str | None = None
    """Data of one priority that came in by one port, from which the port's peer is paused (size). Range: "1 B" to "1
    TB"."""
    xon: str | None = None
    """Data down to which the peer is let go on (size). Range: at most "1 TB"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class NicLink(Description):
    """The PCIe link of a NIC."""

    lanes: int | None = None
    """Lanes: 1, 2, 4, 8 or 16. Range: 1 to 16."""
    generation: int | None = None
    """Generation (1 to 6)."""
    mps: str | None = None
    """Maximum payload size (size): 128 B to 4 KiB, a power of two. Range: "128 B" to "4 KiB"."""
    mrrs: str | None = None
    """Maximum read request size (size): 128 B to 4 KiB, a power of two. Range: "128 B" to "4 KiB"."""
    latency: str | None = None
    """Latency of the link and its two ends in one direction (time). Range: "1 ns" to "1 ms"."""
    posted_lines: int | None = None
    """Lines that the NIC may have on the link or waiting at the IIO for writing to memory: posted-data credits. Range:
    2 to 65536."""
    nonposted_lines: int | None = None
    """Lines that the NIC may have requested from memory: tags times MRRS. Range: 2 to 65536."""


@dataclass(frozen=True, kw_only=True, repr=False)
class NicFunction(Description):
    """A function of a NIC: a link to a socket."""

    socket: int
    """The socket that it hangs off. Range: 0 to 7."""
    lanes: int | None = None
    """Its lanes: 1, 2, 4, 8 or 16; an equal share of those of the card when absent. Range: 1 to 16."""
    serves: int | None = None
    """The socket whose cores' flows go by it, as when they use an address that is not that of their own function; its
    own socket when absent. Range: 0 to 7.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class OnChip(Description):
    """The way between a NIC on the die and the rest of it."""

    latency: str | None = None
    """Latency in one direction (time); "5 ns" when absent. Range: "1 ps" to "10 us"."""
    bandwidth: str | None = None
    """Bandwidth in each direction (bandwidth); "64 GB/s" when absent. Range: "100 MB/s" to "10 TB/s"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class CxlLink(Description):
    """The CXL link of a NIC."""

    latency: str | None = None
    """Latency of the link and its two ends in one direction (time); "50 ns" when absent. Range: "1 ps" to "10 us"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Compress(Description):
    """Two engines between the card's DMA engine and its port, one on the way out and one on the way in.

    They know packets of jobs that are marked for them.
    """

    width: str | None = None
    """Data that goes through an engine in a cycle, before it is made smaller (size), such as "256 bit"; "32 B" when
    absent. Range: "4 B" to "4 KiB"."""
    clock: str | None = None
    """Cycles of an engine (frequency); "100 MHz" when absent. Range: "1 MHz" to "10 GHz"."""
    latency: str | None = None
    """What a packet takes in an engine on top of its cycles (time); none when absent. Range: at most "1 ms"."""
    ratio: float | None = None
    """Data by what is left of it on the wire. This, `shares` or `gradients`. Range: 0.942 to 16."""
    shares: Sequence[float] | None = None
    """Shares of the floats that 0, 8, 16 and 32 bits are left of. This, `ratio` or `gradients`."""
    gradients: str | None = None
    """File of gradients that numpy.save has written, float32: vectors have them over and over, and packets
    get as small as `hostnet.codec` makes what they have of them. This, `ratio` or `shares`."""
    bound: int | None = None
    """With `gradients`: the bound on the error of a float, k of 2^-k. Range: 1 to 15."""
    mode: str | None = None
    """With `gradients`: how they are rounded, "thesis", "bounded" or "nearest"; "thesis" when absent."""
    buffer: str | None = None
    """Packets that wait to be restored (size): what comes when there are more is lost; "4 MiB" when absent.

    Range: "64 KiB" to "16 GiB".
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Nic(Description):
    """The NIC. It takes part when the server is a host of a cluster."""

    pcie: NicLink = NicLink()
    """Its PCIe link; what is absent but the lanes is that of `pcie`."""
    functions: Sequence[NicFunction] | None = None
    """Of a server of several sockets: the functions of the card, which share its lanes; one on socket 0 when absent."""
    mode: str | None = None
    """What leads flows to functions: "octo", by the function of the socket of their core, if there is one; "standard",
    by the first. "octo" when absent.
    """
    attach: str | None = None
    """Where the card sits, if its registers and descriptors are to have a cost of their own: "pcie", at its PCIe link;
    "onchip", on the die, without PCIe; "cxl", at a CXL link with the lanes of its PCIe link; "dimm", in the buffer
    device of a DIMM. When absent at its PCIe link, and `nic.transmit` has the doorbell in it.
    """
    register: str | None = None
    """With `nic.attach`: from a core to the agent on the die that the card's link hangs off, and as long back (time);
    "20 ns" when absent. Range: "1 ps" to "10 us".
    """
    status: bool | None = None
    """With `nic.attach`: whether the driver reads the card's status before it rings the doorbell; false when absent."""
    fetch: int | None = None
    """With `nic.attach`: receive descriptors that the card reads at a time, ahead of packets; 32 when absent. Range: 1
    to 32.
    """
    compress: Compress | None = None
    """On a network: engines that make the data of packets smaller; none when absent."""
    onchip: OnChip | None = None
    """With `nic.attach = "onchip"`: the way between the card and the die."""
    cxl: CxlLink | None = None
    """With `nic.attach = "cxl"`: the CXL link."""
    dimm: NicDimm | None = None
    """With `nic.attach = "dimm"`: the DIMM."""
    buffer: str | None = None
    """Receive buffer (size): a packet is dropped unless the largest one would fit. Range: "2 KiB" to "1 GiB"."""
    ring: int | None = None
    """Descriptors per receive queue. Range: 1 to 65536."""
    descriptor: str | None = None
    """Memory per descriptor (size), a multiple of 2 KiB; when absent, what the largest packet of the host's flows
    needs: the next multiple of 2 KiB, or power of two with `nic.stride`. Range: "2 KiB" to "64 KiB"."""
    stride: str | None = None
    """With a striding receive queue, packets lie one after the other at multiples of this (size), a multiple of 64 B;
    when absent, each in the memory of its own descriptor. Range: "64 B" to "4 KiB"."""
    pool: str | None = None
    """Memory that the buffers of one queue go through before the first is used again (size); that of all descriptors
    of the ring when absent. Range: "2 KiB" to "16 GiB"."""
    completion: str | None = None
    """A completion, written to memory after the data of a packet (size). Range: "1 B" to "64 B"."""
    event: str | None = None
    """An event queue entry, written to memory before an interrupt, and read by the core before it looks for packets
    (size); none when absent. Range: "1 B" to "64 B"."""
    receive: str | None = None
    """From the last bit of a packet to its first TLP at an idle NIC (time). Range: "1 ps" to "100 us"."""
    transmit: str | None = None
    """From a doorbell to the first read of memory, and from the data to the port (time). Range: "1 ps" to "100 us"."""
    interrupt: str | None = None
    """From a completion to the core that is interrupted (time). Range: "1 ps" to "1 ms"."""
    coalesce: str | None = None
    """Interrupt moderation: longest wait after a first completion (time); "0 us" = none. Not with `mitt`, else it is
    wanted. Range: at most "10 ms"."""
    coalesce_packets: int | None = None
    """Interrupt moderation: completions that end the wait. Not with `mitt`, else it is wanted. Range: 1 to 65536."""
    mitt: str | None = None
    """Interrupt moderation by a timer that runs free: interrupts go out when it expires, of all queues (time). "50 us"
    when absent with `ncap` in hardware, else none. Range: "1 us" to "10 ms"."""
    icr: str | None = None
    """With `mitt`: how long the handler of an interrupt waits for the register that says its cause (time); "0 us" when
    absent. Range: at most "1 ms"."""
    queues: int | None = None
    """Receive queues: packets for cores beyond them come by one of them, by its number modulo; one of each core that
    `Stack.cores` or the flows name when absent. Range: 1 to 64."""
    ncap: Ncap | None = None
    """What it tells the power management of the packets that it sees (NCAP); nothing when absent. It needs `power`."""
    send_window: str | None = None
    """Data that may be asked of memory for sending and not yet be sent (size). Range: "4 KiB" to "16 MiB"."""
    ddio: bool | None = None
    """Whether its writes go to the LLC (DDIO); needs caches."""
    relaxed_ordering: bool | None = None
    """Whether its writes may pass each other on their way to memory (PCIe relaxed ordering)."""
    lro: bool | None = None
    """Whether the NIC joins packets of a flow (LRO)."""
    rings: str | None = None
    """Of a server of several sockets, in whose memory its rings and receive buffers lie: "core" (that of the core that
    serves them, as drivers allocate them) or "device" (that of the NIC's socket); "core" when absent.
    """
    scatter: bool | None = None
    """Of an octopus: whether descriptors say for each fragment of a packet by which function it is read, that of the
    node where it lies (IOctoSG); else all go by that of their queue. False when absent.
    """
    steer_delay: str | None = None
    """From a core that asks for packets of a flow to come in by its queue until they do (time): the table of the NIC is
    written later, by a kernel thread; "20 us" when absent. Range: at most "1 s".
    """
    steer_expiry: str | None = None
    """After so long without a packet the queue of a flow is forgotten, and a hash chooses one (time); never when
    absent. Range: "1 us" to "1000 s".
    """
    pfc: Pfc | None = None
    """When it pauses its peer; never when absent."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Stack(Description):
    """What network traffic costs the cores: kernel, system calls and copies, at a host of a cluster."""

    cores: str | Sequence[int] | None = None
    """The cores that have a receive queue of the NIC; those of the applications of the flows when absent (aRFS)."""
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
    (time); "0 ns" when absent: part of the work on packets and segments. Range: at most "1 ms"."""
    generate: str | None = None
    """Work of the kernel's generator of packets per packet, beyond what the lines of rings take to come (time).

    Range: at most "1 ms".
    """
    copy_line: str | None = None
    """Work of the copy to or from the application per line, beyond what the line's data takes to come (time). Range:
    at most "1 us"."""
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
    `nic.ddio` the LLC has them (0 to 256)."""
    page_lines: float | None = None
    """Lines per 4096 B of received packets that the kernel stores to: what it keeps of the pages that they lie in. With
    `nic.ddio` the caches have them (0 to 256)."""
    copy_ahead: int | None = None
    """Lines that a copy asks for ahead of the one it needs, at most the LFB entries. Range: 0 to 1024."""
    prefetch_ahead: int | None = None
    """Lines that a copy has on their way at most where the streamer of the L2 helps it, those of the LFB among them: it
    takes part when the caches do, and so does the adjacent-line prefetcher, which brings completions in pairs. When
    absent they do not help. Range: 0 to 1024."""
    cached_user: bool | None = None
    """Whether the application's buffer lies in the caches: only the kernel's side of a copy is memory traffic."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Upi(Description):
    """One pair of UPI directions."""

    bandwidth: str | None = None
    """Bandwidth of one direction (bandwidth). Range: "100 MB/s" to "10 TB/s"."""
    latency: str | None = None
    """Latency of one direction (time). Range: "1 ps" to "100 us"."""
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
    """Other sockets, whose cores reach the memory of this one over UPI, for workloads of kind "remote"."""

    sockets: int | None = None
    """Other sockets. Range: 1 to 63."""
    lines_in_flight: int | None = None
    """Lines that a core there keeps in flight, line fill buffer and prefetches together. Range: 1 to 1024."""
    directory: bool | None = None
    """Whether a line that becomes dirty at another socket is noted in memory by a write of its own (directory)."""
    upi: Upi = Upi()
    """The way between two sockets."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Sockets(Description):
    """The ways between the sockets of a server (UPI, before Skylake QPI): one between each two."""

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
    processors do; "device" keeps it in the LLC of the device's socket, "home" in that of the line's; "memory" when
    absent.
    """
    tor_entries: int | None = None
    """Request buffer entries of a CHA slice that lines of other sockets may hold at most; half of them when absent.
    Range: 1 to 1023.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Control(Description):
    """What watches the host and throttles. It takes part when the server is a host of a cluster."""

    rule: str | None = None
    """What is done: "none" (no signal is read), "watch" (signals are read, nothing is done), "hostcc" (cores are
    throttled and packets marked), "echo-only" (packets are marked), "local-only" (cores are throttled), "fixed" (one
    level for ever) or "user" (a controller of one's own); "none" when absent.
    """
    level: int | None = None
    """The level of the rule "fixed", 0 to 4: how many sockets are throttled; 4 = their processes are stopped."""
    name: str | None = None
    """What messages call the controller of the rule "user"."""
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
    outgoing packets); "receiver" when absent.
    """

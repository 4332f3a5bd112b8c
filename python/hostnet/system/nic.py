# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""The NIC of a server."""

from collections.abc import Sequence
from dataclasses import dataclass

from hostnet.system.description import Description
from hostnet.system.dimm import NicDimm
from hostnet.system.power import Ncap


@dataclass(frozen=True, kw_only=True, repr=False)
class Pfc(Description):
    """Thresholds for pausing the peer (priority flow control, IEEE 802.1Qbb); no pauses when absent."""

    priorities: Sequence[int] | None = None
    """Lossless priorities, as a list of numbers. Range: 0 to 7. Default: [3]."""
    xoff: str | None = None
    """Data of one priority received by one port at which the port's peer is paused (size). Range: "1 B" to "1 TB"."""
    xon: str | None = None
    """Data at or below which the peer is resumed (size). Range: at most "1 TB"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class NicLink(Description):
    """PCIe link of the NIC; keys other than `lanes` default to those of `pcie`."""

    lanes: int | None = None
    """Lanes: 1, 2, 4, 8 or 16. Range: 1 to 16."""
    generation: int | None = None
    """Generation (1 to 6); that of `pcie` when absent."""
    mps: str | None = None
    """Maximum payload size (size): 128 B to 4 KiB, a power of two; that of `pcie` when absent."""
    mrrs: str | None = None
    """Maximum read request size (size): 128 B to 4 KiB, a power of two; that of `pcie` when absent."""
    latency: str | None = None
    """Latency of the link and its two ends in one direction (time); that of `pcie` when absent.

    Range: "1 ns" to "1 ms".
    """
    posted_lines: int | None = None
    """Lines that the NIC may have on the link or waiting at the IIO for writing to memory: posted-data credits; those
    of `pcie` when absent.

    Range: 2 to 65536.
    """
    nonposted_lines: int | None = None
    """Lines that the NIC may have requested from memory: tags times MRRS; those of `pcie` when absent.

    Range: 2 to 65536.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class NicFunction(Description):
    """A function of a NIC: a link to a socket."""

    socket: int
    """Socket that the function is attached to. Range: 0 to 7."""
    lanes: int | None = None
    """Lanes of the function: 1, 2, 4, 8 or 16; an equal share of those of the NIC when absent. Range: 1 to 16."""
    serves: int | None = None
    """Socket whose cores use the function, as flows do that have the address of another socket's function; the socket
    of the function when absent.

    Range: 0 to 7.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class OnChip(Description):
    """With `nic.attach = "onchip"`: link between the NIC and the rest of the die."""

    latency: str | None = None
    """Latency between the NIC and the die in one direction (time); "5 ns" when absent. Range: "1 ps" to "10 us"."""
    bandwidth: str | None = None
    """Bandwidth between the NIC and the die in each direction (bandwidth); "64 GB/s" when absent.

    Range: "100 MB/s" to "10 TB/s".
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class CxlLink(Description):
    """With `nic.attach = "cxl"`: CXL link of the NIC."""

    latency: str | None = None
    """Latency of the link and its two ends in one direction (time); "50 ns" when absent. Range: "1 ps" to "10 us"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Compress(Description):
    """On a network.

    Engines that compress the data of packets, one for transmission and one for reception; none when absent. They
    process only packets of jobs that are marked for compression.
    """

    width: str | None = None
    """Uncompressed data that an engine processes per cycle (size), such as "256 bit"; "32 B" when absent.

    Range: "4 B" to "4 KiB".
    """
    clock: str | None = None
    """Clock of an engine (frequency); "100 MHz" when absent. Range: "1 MHz" to "10 GHz"."""
    latency: str | None = None
    """Latency of a packet in an engine beyond its cycles (time); none when absent. Range: at most "1 ms"."""
    ratio: float | None = None
    """Compression ratio: data divided by its size on the wire. Give either this, `shares` or `gradients`.

    Range: 0.942 to 16.
    """
    shares: Sequence[float] | None = None
    """Shares of the floats that are compressed to 0, 8, 16 and 32 bits. Give either this, `ratio` or `gradients`.

    Range: 0 to 1.
    """
    gradients: str | None = None
    """File of float32 gradients, as numpy.save writes it: vectors repeat them, and packets have the sizes to which
    `hostnet.codec` compresses them. Give either this, `ratio` or `shares`.
    """
    bound: int | None = None
    """With `gradients`: bound on the error of a float, as the exponent k of 2^-k. Range: 1 to 15."""
    mode: str | None = None
    """With `gradients`: rounding mode, "thesis", "bounded" or "nearest"; "thesis" when absent."""
    buffer: str | None = None
    """Buffer of packets waiting for decompression (size); packets beyond it are dropped; "4 MiB" when absent.

    Range: "64 KiB" to "16 GiB".
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Nic(Description):
    """NIC of the server. It is simulated only if the server is a host of a cluster."""

    pcie: NicLink = NicLink()
    """PCIe link of the NIC; keys other than `lanes` default to those of `pcie`."""
    functions: Sequence[NicFunction] | None = None
    """On a server with several sockets: functions of the NIC, which share its lanes; one on socket 0 when absent."""
    mode: str | None = None
    """Function that a flow uses: "octo", that on the socket of the flow's core, if there is one; "standard", the first;
    "octo" when absent.
    """
    attach: str | None = None
    """Attachment of the NIC, with separate costs of its registers and descriptors: "pcie", over its PCIe link;
    "onchip", on the die, without PCIe; "cxl", over a CXL link with the lanes of its PCIe link; "dimm", in the buffer
    device of a DIMM. When absent, over its PCIe link, and `nic.transmit` includes the doorbell.
    """
    register: str | None = None
    """With `nic.attach`: latency between a core and the on-die agent at the NIC's link in one direction (time); "20 ns"
    when absent.

    Range: "1 ps" to "10 us".
    """
    status: bool | None = None
    """With `nic.attach`: true if the driver reads the NIC's status before it rings the doorbell; false when absent."""
    fetch: int | None = None
    """With `nic.attach`: receive descriptors that the NIC prefetches at a time; 32 when absent. Range: 1 to 32."""
    compress: Compress | None = None
    """On a network: engines that compress the data of packets, one for transmission and one for reception; none when
    absent. They process only packets of jobs that are marked for compression.
    """
    onchip: OnChip | None = None
    """With `nic.attach = "onchip"`: link between the NIC and the rest of the die."""
    cxl: CxlLink | None = None
    """With `nic.attach = "cxl"`: CXL link of the NIC."""
    dimm: NicDimm | None = None
    """With `nic.attach = "dimm"`: DIMM of the NIC, whose memory is a node without cores, numbered after the socket."""
    buffer: str | None = None
    """Size of the receive buffer (size). A packet is dropped unless the largest packet would fit.

    Range: "2 KiB" to "1 GiB".
    """
    ring: int | None = None
    """Descriptors per receive queue. Range: 1 to 65536."""
    descriptor: str | None = None
    """Memory per descriptor (size), a multiple of 2 KiB; when absent, enough for the largest packet of the host's
    flows: the next multiple of 2 KiB, or the next power of two with `nic.stride`.

    Range: "2 KiB" to "64 KiB".
    """
    stride: str | None = None
    """Stride of a striding receive queue (size), a multiple of 64 B: packets are placed one after the other at
    multiples of it; when absent, each packet is placed in the memory of its descriptor.

    Range: "64 B" to "4 KiB".
    """
    pool: str | None = None
    """Memory that the buffers of one queue cycle through (size); that of all descriptors of the ring when absent.

    Range: "2 KiB" to "16 GiB".
    """
    completion: str | None = None
    """Size of a completion, written to memory after the data of a packet (size). Range: "1 B" to "64 B"."""
    event: str | None = None
    """Size of an event queue entry, written to memory before an interrupt and read by the core before it looks for
    packets (size); none when absent.

    Range: "1 B" to "64 B".
    """
    receive: str | None = None
    """Time from the last bit of a packet to its first TLP at an idle NIC (time). Range: "1 ps" to "100 us"."""
    transmit: str | None = None
    """Time from a doorbell to the first read of memory, and from the arrival of the data to the port (time).

    Range: "1 ps" to "100 us".
    """
    interrupt: str | None = None
    """Time from a completion to the interrupt at the core (time). Range: "1 ps" to "1 ms"."""
    coalesce: str | None = None
    """Interrupt moderation: longest wait of the first completion (time); "0 us" = none. Required without `nic.mitt`,
    not allowed with it.

    Range: at most "10 ms".
    """
    coalesce_packets: int | None = None
    """Interrupt moderation: number of completions that ends the wait. Required without `nic.mitt`, not allowed with it.

    Range: 1 to 65536.
    """
    mitt: str | None = None
    """Interrupt moderation by a free-running timer: period at which interrupts of all queues are sent (time). "50 us"
    when absent with `nic.ncap` in hardware, else none.

    Range: "1 us" to "10 ms".
    """
    icr: str | None = None
    """With `nic.mitt`: time that the interrupt handler waits for the cause register (time); "0 us" when absent.

    Range: at most "1 ms".
    """
    queues: int | None = None
    """Number of receive queues; one for each core that `stack.cores` or the flows name when absent. Further cores share
    the queues round robin.

    Range: 1 to 64.
    """
    ncap: Ncap | None = None
    """Notifications of the power management about packets (NCAP); none when absent. Needs `power`."""
    send_window: str | None = None
    """Data that may be requested from memory for sending and not be sent yet (size). Range: "4 KiB" to "16 MiB"."""
    ddio: bool | None = None
    """True if writes of the NIC go to the LLC (DDIO); needs caches."""
    relaxed_ordering: bool | None = None
    """True if writes of the NIC may pass each other on the path to memory (PCIe relaxed ordering)."""
    lro: bool | None = None
    """True if the NIC coalesces packets of a flow (LRO)."""
    rings: str | None = None
    """Memory with the rings and receive buffers on a server with several sockets: "core" (that of the socket of the
    core that serves them, as drivers allocate them) or "device" (that of the NIC's socket); "core" when absent.
    """
    scatter: bool | None = None
    """With `nic.mode = "octo"`: true if the descriptors name, for each fragment of a packet, the function of the node
    that holds the fragment (IOctoSG); false when absent. Otherwise the function of the queue reads all fragments.
    """
    steer_delay: str | None = None
    """Time from a core's request to steer a flow to its queue until the packets arrive there (time), because a kernel
    thread updates the table of the NIC later; "20 us" when absent.

    Range: at most "1 s".
    """
    steer_expiry: str | None = None
    """Time without packets after which the NIC forgets the queue of a flow and a hash selects one (time); never when
    absent.

    Range: "1 us" to "1000 s".
    """
    pfc: Pfc | None = None
    """Thresholds for pausing the peer (priority flow control, IEEE 802.1Qbb); no pauses when absent."""

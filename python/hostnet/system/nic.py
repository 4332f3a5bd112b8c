# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""The NIC of a server."""

from collections.abc import Sequence
from dataclasses import dataclass

from hostnet.system.description import Description
from hostnet.system.dimm import NicDimm
from hostnet.system.power import Ncap


@dataclass(frozen=True, kw_only=True, repr=False)
class Pfc(Description):
    """When it pauses its peer (priority flow control, IEEE 802.1Qbb); never when absent."""

    priorities: Sequence[int] | None = None
    """Priorities that are lossless, as a list of numbers. Range: 0 to 7. Default: [3]."""
    xoff: str | None = None
    """Data of one priority that came in by one port, from which the port's peer is paused (size).

    Range: "1 B" to "1 TB".
    """
    xon: str | None = None
    """Data down to which the peer is let go on (size). Range: at most "1 TB"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class NicLink(Description):
    """Its PCIe link; what is absent but the lanes is that of `pcie`."""

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
    """Lines that the NIC may have on the link or waiting at the IIO for writing to memory: posted-data credits; as of
    `pcie` when absent.

    Range: 2 to 65536.
    """
    nonposted_lines: int | None = None
    """Lines that the NIC may have requested from memory: tags times MRRS; as of `pcie` when absent.

    Range: 2 to 65536.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class NicFunction(Description):
    """A function of a NIC: a link to a socket."""

    socket: int
    """The socket that it hangs off. Range: 0 to 7."""
    lanes: int | None = None
    """Its lanes: 1, 2, 4, 8 or 16; an equal share of those of the card when absent. Range: 1 to 16."""
    serves: int | None = None
    """The socket whose cores' flows go by it, as when they use an address that is not that of their own function; its
    own socket when absent.

    Range: 0 to 7.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class OnChip(Description):
    """With `nic.attach = "onchip"`: the way between the card and the die."""

    latency: str | None = None
    """Latency between the card and the die in one direction (time); "5 ns" when absent. Range: "1 ps" to "10 us"."""
    bandwidth: str | None = None
    """Bandwidth between the card and the die in each direction (bandwidth); "64 GB/s" when absent.

    Range: "100 MB/s" to "10 TB/s".
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class CxlLink(Description):
    """With `nic.attach = "cxl"`: the CXL link."""

    latency: str | None = None
    """Latency of the link and its two ends in one direction (time); "50 ns" when absent. Range: "1 ps" to "10 us"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Compress(Description):
    """On a network.

    Engines that make the data of packets smaller, one on the way out and one on the way in; none when absent. They know
    packets of jobs that are marked for them.
    """

    width: str | None = None
    """Data that goes through an engine in a cycle, before it is made smaller (size), such as "256 bit"; "32 B" when
    absent.

    Range: "4 B" to "4 KiB".
    """
    clock: str | None = None
    """Cycles of an engine (frequency); "100 MHz" when absent. Range: "1 MHz" to "10 GHz"."""
    latency: str | None = None
    """What a packet takes in an engine on top of its cycles (time); none when absent. Range: at most "1 ms"."""
    ratio: float | None = None
    """Data by what is left of it on the wire. This, `shares` or `gradients`. Range: 0.942 to 16."""
    shares: Sequence[float] | None = None
    """Shares of the floats that 0, 8, 16 and 32 bits are left of. This, `ratio` or `gradients`. Range: 0 to 1."""
    gradients: str | None = None
    """File of gradients that numpy.save has written, float32: vectors have them over and over, and packets get as small
    as `hostnet.codec` makes what they have of them. This, `ratio` or `shares`.
    """
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
    by the first; "octo" when absent.
    """
    attach: str | None = None
    """Where the card sits, if its registers and descriptors are to have a cost of their own: "pcie", at its PCIe link;
    "onchip", on the die, without PCIe; "cxl", at a CXL link with the lanes of its PCIe link; "dimm", in the buffer
    device of a DIMM. When absent at its PCIe link, and `nic.transmit` has the doorbell in it.
    """
    register: str | None = None
    """With `nic.attach`: from a core to the agent on the die that the card's link hangs off, and as long back (time);
    "20 ns" when absent.

    Range: "1 ps" to "10 us".
    """
    status: bool | None = None
    """With `nic.attach`: whether the driver reads the card's status before it rings the doorbell; false when absent."""
    fetch: int | None = None
    """With `nic.attach`: receive descriptors that the card reads at a time, ahead of packets; 32 when absent.

    Range: 1 to 32.
    """
    compress: Compress | None = None
    """On a network: engines that make the data of packets smaller, one on the way out and one on the way in; none when
    absent. They know packets of jobs that are marked for them.
    """
    onchip: OnChip | None = None
    """With `nic.attach = "onchip"`: the way between the card and the die."""
    cxl: CxlLink | None = None
    """With `nic.attach = "cxl"`: the CXL link."""
    dimm: NicDimm | None = None
    """With `nic.attach = "dimm"`: the DIMM, whose memory is a node without cores; its number follows that of the
    socket.
    """
    buffer: str | None = None
    """Receive buffer (size): a packet is dropped unless the largest one would fit. Range: "2 KiB" to "1 GiB"."""
    ring: int | None = None
    """Descriptors per receive queue. Range: 1 to 65536."""
    descriptor: str | None = None
    """Memory per descriptor (size), a multiple of 2 KiB; when absent, what the largest packet of the host's flows
    needs: the next multiple of 2 KiB, or power of two with `nic.stride`.

    Range: "2 KiB" to "64 KiB".
    """
    stride: str | None = None
    """With a striding receive queue, packets lie one after the other at multiples of this (size), a multiple of 64 B;
    when absent, each in the memory of its own descriptor.

    Range: "64 B" to "4 KiB".
    """
    pool: str | None = None
    """Memory that the buffers of one queue go through before the first is used again (size); that of all descriptors of
    the ring when absent.

    Range: "2 KiB" to "16 GiB".
    """
    completion: str | None = None
    """A completion, written to memory after the data of a packet (size). Range: "1 B" to "64 B"."""
    event: str | None = None
    """An event queue entry, written to memory before an interrupt, and read by the core before it looks for packets
    (size); none when absent.

    Range: "1 B" to "64 B".
    """
    receive: str | None = None
    """From the last bit of a packet to its first TLP at an idle NIC (time). Range: "1 ps" to "100 us"."""
    transmit: str | None = None
    """From a doorbell to the first read of memory, and from the data to the port (time). Range: "1 ps" to "100 us"."""
    interrupt: str | None = None
    """From a completion to the core that is interrupted (time). Range: "1 ps" to "1 ms"."""
    coalesce: str | None = None
    """Interrupt moderation: longest wait after a first completion (time); "0 us" = none. Not with `nic.mitt`, else it
    is wanted.

    Range: at most "10 ms".
    """
    coalesce_packets: int | None = None
    """Interrupt moderation: completions that end the wait. Not with `nic.mitt`, else it is wanted.

    Range: 1 to 65536.
    """
    mitt: str | None = None
    """Interrupt moderation by a timer that runs free: interrupts go out when it expires, of all queues (time). "50 us"
    when absent with `nic.ncap` in hardware, else none.

    Range: "1 us" to "10 ms".
    """
    icr: str | None = None
    """With `nic.mitt`: how long the handler of an interrupt waits for the register that says its cause (time); "0 us"
    when absent.

    Range: at most "1 ms".
    """
    queues: int | None = None
    """Receive queues: packets for cores beyond them come by one of them, by its number modulo; one of each core that
    `stack.cores` or the flows name when absent.

    Range: 1 to 64.
    """
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
    """Of a server of several sockets, in whose memory its rings and receive buffers lie: "core" (in that of the socket
    of the core that serves them, as drivers allocate them) or "device" (in that of the NIC's socket); "core" when
    absent.
    """
    scatter: bool | None = None
    """Of a card with `nic.mode = "octo"`: whether descriptors say for each fragment of a packet by which function it is
    read, that of the node where it lies (IOctoSG); else all go by that of their queue; false when absent.
    """
    steer_delay: str | None = None
    """From a core that asks for packets of a flow to come in by its queue until they do (time): the table of the NIC is
    written later, by a kernel thread; "20 us" when absent.

    Range: at most "1 s".
    """
    steer_expiry: str | None = None
    """After so long without a packet the queue of a flow is forgotten, and a hash chooses one (time); never when
    absent.

    Range: "1 us" to "1000 s".
    """
    pfc: Pfc | None = None
    """When it pauses its peer (priority flow control, IEEE 802.1Qbb); never when absent."""

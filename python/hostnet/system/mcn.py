# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""DIMMs with processors in the memory slots of a host."""

from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class Mcn(Description):
    """Memory channel network, which connects DIMMs with processors in the slots of a server."""

    level: str | None = None
    """Optimisation level: "mcn0" (the host polls the DIMMs periodically), "mcn1" (DIMMs interrupt the host), "mcn2" (no
    checksums are computed), "mcn3" (MTU of 9000 B), "mcn4" (TCP segments are not split into packets) or "mcn5" (DMA
    engines move the lines); "mcn0" when absent. Each level includes those before it and sets the defaults of single
    keys, each of which may also be given.
    """
    poll: str | None = None
    """Period at which the driver of the host reads the poll words of its DIMMs (time); "5 us" when absent. Without
    `alert`.

    Range: "10 ns" to "10 ms".
    """
    alert: bool | None = None
    """True if DIMMs interrupt the host (ALERT_N); true from level "mcn1" on. The DIMMs of a channel share the signal,
    so the driver polls all of them.
    """
    checksum: bool | None = None
    """True if checksums are computed; false from level "mcn2" on."""
    mtu: str | None = None
    """Largest packet on a ring, and MTU of flows that set none and cross rings only (size); "1500 B" when absent, "9000
    B" from level "mcn3" on.

    Range: "576 B" to "65535 B".
    """
    tso: bool | None = None
    """True if a TCP segment of any length crosses a ring as one packet, provided that the ring can hold it; true from
    level "mcn4" on.
    """
    gso: str | None = None
    """Largest packet with `tso` (size); half a ring when absent, so that one packet is written while another is read.

    Range: "576 B" to "1 MiB".
    """
    dma: bool | None = None
    """True if DMA engines move the lines instead of cores, one engine on each DIMM and one per channel of the host;
    true from level "mcn5" on. With `alert` and without `checksum`.
    """
    dma_lines: int | None = None
    """Lines that a DMA engine has in flight; 16 when absent. Range: 1 to 1024."""
    rings: str | None = None
    """Size of each of the two rings in the SRAM of a DIMM (size), a multiple of 64 B; "47 KiB" when absent.

    Range: "128 B" to "1 MiB".
    """
    fence: bool | None = None
    """True if the pointer of a message is written only after the DIMM has the whole message; true when absent.
    Otherwise the channel may deliver the pointer first.
    """
    copy_clocks: int | None = None
    """Clocks of a core per line of 64 B that it moves from or to a ring, beyond the wait for the line; 8 when absent.

    Range: 0 to 10000.
    """
    checksum_clocks: int | None = None
    """Clocks of a core per line for the checksum, at either end; 8 when absent. Range: 0 to 10000."""
    drop_clocks: int | None = None
    """Clocks of a core to invalidate a line of a ring in the caches after it was read; 4 when absent.

    Range: 0 to 10000.
    """
    interrupt: str | None = None
    """Latency from ALERT_N, or from the interrupt line of the processor of a DIMM, to the driver (time); "1 us" when
    absent.

    Range: "1 ps" to "1 ms".
    """
    poll_work: str | None = None
    """Work of an interrupt or timer and its tasklet, before the driver reads the poll words (time); "0.5 us" when
    absent.

    Range: at most "1 ms".
    """
    cross: str | None = None
    """Latency between the SRAM and the memory controller of the DIMM's processor in one direction (time); "10 ns" when
    absent.

    Range: "1 ns" to "10 us".
    """
    bandwidth: str | None = None
    """Bandwidth between the SRAM and that memory controller in each direction (bandwidth); "25.6 GB/s" when absent.

    Range: "100 MB/s" to "10 TB/s".
    """
    queue: int | None = None
    """Maximum number of packets of the host that wait for a ring; further packets are dropped. As many packets from
    other DIMMs may wait; further ones stay in their rings. 1000 when absent.

    Range: 1 to 1000000.
    """
    slots: int | None = None
    """Maximum number of DIMMs in a channel; 4 when absent. Range: 1 to 64."""
    core: int | None = None
    """Core of the host on which the driver reads the rings; the last one when absent. On a DIMM it is the last one.

    Range: 0 to 1023.
    """
    steer: bool | None = None
    """True if the driver steers packets unprocessed to the cores of their applications (receive packet steering); false
    when absent. Otherwise the kernel processes them on the core that reads the rings.
    """

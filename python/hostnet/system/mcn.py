# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""DIMMs with processors in the memory slots of a host."""

from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class Mcn(Description):
    """The memory channel network, over which DIMMs with processors in the slots of a server talk."""

    level: str | None = None
    """What is done to be quick: "mcn0" (the host looks at the poll words from time to time), "mcn1" (DIMMs interrupt
    the host), "mcn2" (nobody computes checksums), "mcn3" (packets of 9000 B), "mcn4" (segments are not cut) or "mcn5"
    (engines move the lines); "mcn0" when absent. Each level has what those before have, and stands for single keys,
    each of which may be given as well.
    """
    poll: str | None = None
    """Period in which the host's driver looks at the poll words of its DIMMs (time); "5 us" when absent. Without
    `alert`.

    Range: "10 ns" to "10 ms".
    """
    alert: bool | None = None
    """Whether DIMMs interrupt the host (ALERT_N); true from level "mcn1" on. Those of a channel share the signal, so
    that the driver looks at all of them.
    """
    checksum: bool | None = None
    """Whether checksums are computed; false from level "mcn2" on."""
    mtu: str | None = None
    """The largest packet on a ring, and the MTU of flows that have none and go over rings alone (size); "1500 B" when
    absent, "9000 B" from level "mcn3" on.

    Range: "576 B" to "65535 B".
    """
    tso: bool | None = None
    """Whether a segment of TCP goes as one packet, however long, if a ring holds it; true from level "mcn4" on."""
    gso: str | None = None
    """The largest packet with `tso` (size); half a ring when absent, so that one is written while another is read.

    Range: "576 B" to "1 MiB".
    """
    dma: bool | None = None
    """Whether engines move the lines, one on each DIMM and one per channel of the host, and not cores; true from level
    "mcn5" on. With `alert` and without `checksum`.
    """
    dma_lines: int | None = None
    """Lines that an engine has on their way at a time; 16 when absent. Range: 1 to 1024."""
    rings: str | None = None
    """Each of the two rings in the SRAM of a DIMM (size), whole lines of 64 B; "47 KiB" when absent.

    Range: "128 B" to "1 MiB".
    """
    fence: bool | None = None
    """Whether the pointer of a message waits until the DIMM has all of the message; true when absent. Without that the
    channel may send the pointer first.
    """
    copy_clocks: int | None = None
    """Clocks of a core per line of 64 B that it moves from or to a ring, beyond what the line takes to come; 8 when
    absent.

    Range: 0 to 10000.
    """
    checksum_clocks: int | None = None
    """Clocks of the checksum per line, at either side; 8 when absent. Range: 0 to 10000."""
    drop_clocks: int | None = None
    """Clocks that it takes to drop a line of a ring from the caches after it was read; 4 when absent.

    Range: 0 to 10000.
    """
    interrupt: str | None = None
    """From ALERT_N, or the interrupt line to the processor of a DIMM, to the driver (time); "1 us" when absent.

    Range: "1 ps" to "1 ms".
    """
    poll_work: str | None = None
    """Work of an interrupt or timer and its tasklet, before the driver reads the poll words (time); "0.5 us" when
    absent.

    Range: at most "1 ms".
    """
    cross: str | None = None
    """Between the SRAM and the memory controller of the DIMM's processor, in one direction (time); "10 ns" when absent.

    Range: "1 ns" to "10 us".
    """
    bandwidth: str | None = None
    """What that way carries in either direction (bandwidth); "25.6 GB/s" when absent.

    Range: "100 MB/s" to "10 TB/s".
    """
    queue: int | None = None
    """Packets of the host itself that wait for a ring at most, others are dropped; as many from other DIMMs, others
    stay in their rings. 1000 when absent.

    Range: 1 to 1000000.
    """
    slots: int | None = None
    """DIMMs in a channel at most; 4 when absent. Range: 1 to 64."""
    core: int | None = None
    """The core of the host that the driver reads rings on; the last one when absent. On a DIMM it is the last one.

    Range: 0 to 1023.
    """
    steer: bool | None = None
    """Whether the driver hands packets to the cores of their applications as they are (receive packet steering); false
    when absent: the kernel works on them on the core that reads rings.
    """

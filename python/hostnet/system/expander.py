"""Memory behind a link, as a description."""

from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class Expander(Description):
    """Memory behind a CXL link: a node without cores, whose number follows those of the sockets."""

    generation: int | None = None
    """Generation of PCIe whose wires the link has; 5 when absent. Range: 1 to 6."""
    lanes: int | None = None
    """Lanes: 1, 2, 4, 8 or 16; 8 when absent. Range: 1 to 16."""
    latency: str | None = None
    """Latency of the link and its two ends in one direction (time); "40 ns" when absent. Range: "1 ps" to "10 us"."""
    controller: str | None = None
    """From the end of the link to the memory controllers of the device, and as long back (time); "20 ns" when absent.
    Range: "2 ps" to "10 us".
    """
    read_credits: int | None = None
    """Reads that the host may have at the device or on their way; 256 when absent. Range: 1 to 65536."""
    write_credits: int | None = None
    """Writes that the host may have at the device or on their way; 256 when absent. Range: 1 to 65536."""
    device: str | None = None
    """The DRAM device on every channel, by its name; "DDR5_4800" when absent."""
    channels: int | None = None
    """Channels of the device; 1 when absent. Range: 1 to 64."""
    size: str | None = None
    """Memory in use (size), or "all" that the channels hold; "all" when absent. Range: "64 KiB" to "64 TiB"."""

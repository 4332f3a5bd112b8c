# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""Memory behind a link."""

from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class Expander(Description):
    """Memory behind a CXL link: a node without cores, numbered after the sockets."""

    generation: int | None = None
    """PCIe generation of the link's physical layer (1 to 6). Default: 5."""
    lanes: int | None = None
    """Lanes: 1, 2, 4, 8 or 16. Range: 1 to 16. Default: 8."""
    latency: str | None = None
    """Latency of the link and its two ends in one direction (time). Range: "1 ps" to "10 us". Default: "40 ns"."""
    controller: str | None = None
    """Latency between the end of the link and the memory controllers of the device in each direction (time).

    Range: "2 ps" to "10 us". Default: "20 ns".
    """
    read_credits: int | None = None
    """Reads that the host may have outstanding at the device. Range: 1 to 65536. Default: 256."""
    write_credits: int | None = None
    """Writes that the host may have outstanding at the device. Range: 1 to 65536. Default: 256."""
    device: str | None = None
    """DRAM device on every channel, by its name. Default: "DDR5_4800"."""
    channels: int | None = None
    """Channels of the device. Range: 1 to 64. Default: 1."""
    size: str | None = None
    """Memory in use (size), or "all" for the capacity of the channels. Range: "64 KiB" to "64 TiB". Default: "all"."""

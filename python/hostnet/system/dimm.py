# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""A NIC in the buffer device of a DIMM."""

from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class NCache(Description):
    """The cache of the buffer device of the DIMM."""

    size: str | None = None
    """Its size (size), a power of two, "0 B" for none; "64 KiB" when absent. Range: at most "64 MiB"."""
    ways: int | None = None
    """Its ways, a power of two; 8 when absent. Range: 1 to 64."""
    hit: str | None = None
    """A look into it, with its data (time); "2 ns" when absent. Range: "1 ps" to "1 us"."""
    prefetch: int | None = None
    """Lines that are read after one that the host has read; 4 when absent. Range: 0 to 63."""
    header: bool | None = None
    """Whether the first line of each packet is written to it; true when absent."""


@dataclass(frozen=True, kw_only=True, repr=False)
class RowClone(Description):
    """What clones of memory take (RowClone)."""

    fpm: str | None = None
    """Clone of a row to another of its sub-array (time); "90 ns" when absent. Range: "1 ps" to "1 ms"."""
    psm: str | None = None
    """Clone of 4 KiB to another bank of the rank (time); "540 ns" when absent. Range: "1 ps" to "1 ms"."""
    gcm: str | None = None
    """Clone of 4 KiB anywhere else, through the buffer device (time); "1.05 us" when absent.

    Range: "1 ps" to "1 ms".
    """
    subarrays: int | None = None
    """Sub-arrays of a bank; 512 when absent, or fewer where the device has not the rows for them. Range: 1 to 65536."""


@dataclass(frozen=True, kw_only=True, repr=False)
class DimmAsync(Description):
    """Reads and writes of the host at a DIMM that answers for itself."""

    cmd: str | None = None
    """From a command on the channel until it is in the buffer device (time); "5 ns" when absent.

    Range: "1 ps" to "10 us".
    """
    ids: int | None = None
    """Request ids: reads of the host that it may work on; 64 when absent. Range: 1 to 65536."""
    writes: int | None = None
    """Writes of the host that may be on their way to its memory controllers; 64 when absent. Range: 1 to 65536."""


@dataclass(frozen=True, kw_only=True, repr=False)
class DimmDriver(Description):
    """What the driver does."""

    flush: str | None = None
    """The instruction that flushes or invalidates a line (time); "4 ns" when absent. Range: at most "1 us"."""
    clone: bool | None = None
    """Whether data is cloned before it is sent, or the NIC reads it where it was written; true when absent."""
    copy: bool | None = None
    """Whether cores copy datagrams between applications and the buffers of the network, or applications have them
    there; false when absent.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class NicDimm(Description):
    """With `nic.attach = "dimm"`.

    The DIMM, whose memory is a node without cores; its number follows that of the socket.
    """

    channel: int | None = None
    """The channel of the socket that it is plugged into, counted with its subchannels; 0 when absent.

    Range: 0 to 255.
    """
    device: str | None = None
    """Its DRAM, by the name of a device; "DDR4_2400" when absent."""
    controller: str | None = None
    """From the buffer device to its memory controllers, and as long back (time); "5 ns" when absent.

    Range: "2 ps" to "10 us".
    """
    bandwidth: str | None = None
    """Bandwidth between the NIC and the memory controllers in each direction (bandwidth); "10.74 GB/s" when absent.

    Range: "100 MB/s" to "10 TB/s".
    """
    dma_lines: int | None = None
    """Lines that its DMA engine may have on their way to memory, and as many from there; 64 when absent.

    Range: 1 to 65536.
    """
    nic_turns: int | None = None
    """Requests of the NIC that go before a request of the host that waits; 8 when absent. Range: 1 to 65536."""
    ncache: NCache | None = None
    """The cache of the buffer device of the DIMM."""
    clone: RowClone | None = None
    """What clones of memory take (RowClone)."""
    async_: DimmAsync | None = None
    """Reads and writes of the host at a DIMM that answers for itself. Its key in files is `async`."""
    driver: DimmDriver | None = None
    """What the driver does."""

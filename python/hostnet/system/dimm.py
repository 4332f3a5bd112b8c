# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""A NIC in the buffer device of a DIMM."""

from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class NCache(Description):
    """Cache of the buffer device (nCache)."""

    size: str | None = None
    """Size of the cache (size), a power of two, "0 B" for none; "64 KiB" when absent. Range: at most "64 MiB"."""
    ways: int | None = None
    """Ways of the cache, a power of two; 8 when absent. Range: 1 to 64."""
    hit: str | None = None
    """Latency of a lookup with its data (time); "2 ns" when absent. Range: "1 ps" to "1 us"."""
    prefetch: int | None = None
    """Lines that the prefetcher reads after a line that the host has read; 4 when absent. Range: 0 to 63."""
    header: bool | None = None
    """True if the first line of each packet is written to the cache; true when absent."""


@dataclass(frozen=True, kw_only=True, repr=False)
class RowClone(Description):
    """Times of cloning memory (RowClone)."""

    fpm: str | None = None
    """Time to clone a row to another row of its sub-array (time); "90 ns" when absent. Range: "1 ps" to "1 ms"."""
    psm: str | None = None
    """Time to clone 4 KiB to another bank of the rank (time); "540 ns" when absent. Range: "1 ps" to "1 ms"."""
    gcm: str | None = None
    """Time to clone 4 KiB to any other place, through the buffer device (time); "1.05 us" when absent.

    Range: "1 ps" to "1 ms".
    """
    subarrays: int | None = None
    """Sub-arrays of a bank; 512 when absent, or fewer if the device has too few rows. Range: 1 to 65536."""


@dataclass(frozen=True, kw_only=True, repr=False)
class DimmAsync(Description):
    """Asynchronous reads and writes of the host at the DIMM."""

    cmd: str | None = None
    """Time from a command on the channel to the buffer device (time); "5 ns" when absent. Range: "1 ps" to "10 us"."""
    ids: int | None = None
    """Request ids: reads of the host that may be in progress; 64 when absent. Range: 1 to 65536."""
    writes: int | None = None
    """Writes of the host that may be in flight to the DIMM's memory controllers; 64 when absent. Range: 1 to 65536."""


@dataclass(frozen=True, kw_only=True, repr=False)
class DimmDriver(Description):
    """Behaviour of the driver."""

    flush: str | None = None
    """Time of the instruction that flushes or invalidates a line (time); "4 ns" when absent. Range: at most "1 us"."""
    clone: bool | None = None
    """True if data is cloned into a DMA buffer before it is sent, false if the NIC reads the original; true when
    absent.
    """
    copy: bool | None = None
    """True if cores copy datagrams between applications and the network buffers, false if applications use these
    buffers; false when absent.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class NicDimm(Description):
    """With `nic.attach = "dimm"`: DIMM of the NIC, whose memory is a node without cores, numbered after the socket."""

    channel: int | None = None
    """Channel of the socket that the DIMM is plugged into, with subchannels counted; 0 when absent. Range: 0 to 255."""
    device: str | None = None
    """DRAM of the DIMM, by the name of a device; "DDR4_2400" when absent."""
    controller: str | None = None
    """Latency between the buffer device and its memory controllers in each direction (time); "5 ns" when absent.

    Range: "2 ps" to "10 us".
    """
    bandwidth: str | None = None
    """Bandwidth between the NIC and the memory controllers in each direction (bandwidth); "10.74 GB/s" when absent.

    Range: "100 MB/s" to "10 TB/s".
    """
    dma_lines: int | None = None
    """Lines that the DMA engine may have in flight to memory, and as many from memory; 64 when absent.

    Range: 1 to 65536.
    """
    nic_turns: int | None = None
    """Requests of the NIC that may go ahead of a waiting request of the host; 8 when absent. Range: 1 to 65536."""
    ncache: NCache | None = None
    """Cache of the buffer device (nCache)."""
    clone: RowClone | None = None
    """Times of cloning memory (RowClone)."""
    async_: DimmAsync | None = None
    """Asynchronous reads and writes of the host at the DIMM. Its key in files is `async`."""
    driver: DimmDriver | None = None
    """Behaviour of the driver."""

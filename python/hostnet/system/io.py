# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""The integrated IO controller, PCIe and the drives."""

from collections.abc import Sequence
from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class Iio(Description):
    """Integrated IO controller."""

    write_credits: int | None = None
    """Write buffer entries: the credits of P2M-Write (lines). Range: 1 to 65536."""
    read_credits: int | None = None
    """Read buffer entries: the credits of P2M-Read (lines). Range: 1 to 65536."""
    write_to_cha: str | None = None
    """Time from allocation of a write entry to the CHA (time). Range: "1 ps" to "100 us"."""
    write_ack: str | None = None
    """Time from the CHA's acknowledgement to the release of a write entry (time). Range: "1 ps" to "100 us"."""
    read_to_cha: str | None = None
    """Time from allocation of a read entry to the CHA (time). Range: "1 ps" to "100 us"."""
    read_return: str | None = None
    """Time from data at the CHA to the release of a read entry (time). Range: "1 ps" to "100 us"."""
    line: str | None = None
    """Mean service time per line that enters the processor interconnect, one line after the other (time).

    Range: at most "1 us".
    """
    line_jitter: float | None = None
    """Half the range of that service time, as a share of its mean (0 to 1)."""
    relaxed_ordering: bool | None = None
    """True if writes of a link may pass each other, if their device requests it (PCIe relaxed ordering).

    Default: True.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Iotlb(Description):
    """Cache of translations."""

    entries: int | None = None
    """Entries, each of which translates a page. Range: 1 to 4096. Default: 64."""
    ways: int | None = None
    """Ways, a divisor of the entries; all entries (fully associative) when absent. Range: 1 to 4096."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Iommu(Description):
    """IOMMU, which translates the addresses of devices; none when absent."""

    iotlb: Iotlb = Iotlb()
    """Cache of translations."""
    mode: str | None = None
    """Translation of the addresses of devices: "off", also for passthrough; "lazy", flushed all at once after many
    buffers have been unmapped; "strict", invalidated one by one.

    Default: "off".
    """
    page: str | None = None
    """Size of the pages that buffers of devices are mapped with (size): "4 KiB", "2 MiB" or "1 GiB"; at most a run of
    physical memory (`memory.run`).

    Range: "4 KiB" to "1 GiB". Default: "4 KiB".
    """
    walk_cache: int | None = None
    """Entries of the cache of upper levels of the page table, which shorten a walk; 0 = none.

    Range: 0 to 4096. Default: 64.
    """
    walks: int | None = None
    """Page walks in flight. Range: 1 to 1024. Default: 6."""
    ats: int | None = None
    """Entries of the translation cache of each device (ATS), which requests translations over its link; 0 = none.

    Range: 0 to 4096. Default: 0.
    """
    flush: int | None = None
    """With mode "lazy": buffers that are unmapped until all translations are flushed.

    Range: 1 to 65536. Default: 256.
    """
    invalidate: str | None = None
    """Time that a core waits for an invalidation (time). Range: at most "1 ms". Default: "700 ns"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Pcie(Description):
    """PCIe links between the drives and the IIO. The lanes are divided evenly among the drives."""

    generation: int | None = None
    """Generation (1 to 6)."""
    lanes: int | None = None
    """Total number of lanes of all drives. Each drive has the largest of 1, 2, 4, 8 or 16 lanes that its share allows.

    Range: 1 to 1024.
    """
    mps: str | None = None
    """Maximum payload size, MPS (size): 128 B to 4 KiB, a power of two."""
    mrrs: str | None = None
    """Maximum read request size, MRRS (size): 128 B to 4 KiB, a power of two."""
    write_overhead: str | None = None
    """Framing, sequence number, header and checksum of a memory write (size). Range: at most "256 B"."""
    read_overhead: str | None = None
    """Framing, sequence number, header and checksum of a memory read request (size). Range: "1 B" to "256 B"."""
    completion_overhead: str | None = None
    """Framing, sequence number, header and checksum of a completion with data (size). Range: at most "256 B"."""
    dllp_share: float | None = None
    """Share of the link spent on data-link packets and skip sequences (0 to 0.5)."""
    latency: str | None = None
    """Latency of the link and its two ends in one direction (time). Range: "1 ns" to "1 ms"."""
    posted_lines: int | None = None
    """Lines that one drive may have on the link or waiting at the IIO for writing to memory: posted-data credits. At
    least `mps`.

    Range: 2 to 65536.
    """
    nonposted_lines: int | None = None
    """Lines that one drive may have requested from memory: tags times `mrrs`. At least `mrrs`. Range: 2 to 65536."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Ssd(Description):
    """NVMe drives, all alike."""

    count: int | None = None
    """Number of drives: on each socket, or in total if `ssd.sockets` is given. Range: 1 to 64."""
    sockets: int | Sequence[int] | None = None
    """Socket that the drives are attached to: one number for all, or a list with the socket of each, ascending, such as
    [0, 0, 1, 1]; every socket has `count` drives when absent. Drives are numbered in this order; each has as many lanes
    as if all of them were on one socket.

    Range: 0 to 7.
    """
    mode: str | None = None
    """Paths of the drives to memory: "standard", through the socket that they are attached to; "octo", a path to every
    socket, each as wide as that of a standard drive, with data on the path to the memory that holds it; "standard" when
    absent.
    """
    bandwidth: str | None = None
    """Bandwidth of one drive in both directions (bandwidth): shorthand for `read_bandwidth` and `write_bandwidth`.

    Range: "1 MB/s" to "1 TB/s".
    """
    read_bandwidth: str | None = None
    """Bandwidth of one drive for reading from it: P2M-Write (bandwidth). Range: "1 MB/s" to "1 TB/s"."""
    write_bandwidth: str | None = None
    """Bandwidth of one drive for writing to it: P2M-Read (bandwidth). Range: "1 MB/s" to "1 TB/s"."""
    latency: str | None = None
    """Time from submission of a command to its first data (time). Range: at most "1 s"."""
    queue_depth: int | None = None
    """Maximum number of commands that a drive holds. Range: 1 to 65536."""
    max_transfer: str | None = None
    """Largest transfer of one NVMe request (size), a power of two; the kernel does its work per request.

    Range: "4 KiB" to "1 GiB".
    """
    streams: int | None = None
    """Commands that a drive serves at a time, TLP by TLP, round robin. Range: 1 to 1024."""


@dataclass(frozen=True, kw_only=True, repr=False)
class DmaDevice(Description):
    """Device that generates DMA. It is simulated only with a workload of kind "dma"."""

    bandwidth: str | None = None
    """Bandwidth at which the device moves the data of a command between its memory and the link, which adds to the
    latency of the command; it moves the data of reads one command after the other, that of writes side by side
    (bandwidth).

    Range: "1 MB/s" to "1 TB/s". Default: "10 GB/s".
    """
    latency: str | None = None
    """Time that a command spends in the device (time). Range: at most "1 ms". Default: "100 ns"."""
    read_issue: str | None = None
    """Least time between two commands that read memory (time). Range: at most "1 ms". Default: "1 ns"."""
    write_issue: str | None = None
    """Least time between two commands that write memory (time). Range: at most "1 ms". Default: "1 ns"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class FioCosts(Description):
    """Costs of storage IO beyond its data."""

    dma_lines_per_page: float | None = None
    """Lines that the drive moves by DMA beyond the data, per 4 KiB of data (0 to 64)."""
    kernel_lines_per_page: float | None = None
    """Lines of kernel data structures that the kernel accesses per 4 KiB of data (0 to 64)."""
    kernel_loads: float | None = None
    """Share of those lines that the kernel only reads (0 to 1); the others are read and written."""

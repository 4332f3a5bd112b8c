# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""A pool of memory over the network."""

from collections.abc import Sequence
from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class PoolPrefetch(Description):
    """Prefetcher of lines of the pool."""

    kind: str | None = None
    """Prefetched lines: "none"; "next-line", the following lines; "stride", lines at the distance of the last two
    reads.

    Default: "none".
    """
    depth: int | None = None
    """Lines, or strides, that the prefetcher runs ahead. Range: 1 to 64. Default: 16."""
    queue: int | None = None
    """Maximum number of lines that have been prefetched or are in flight. Range: 1 to 1024. Default: 64."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Pool(Description):
    """Memory borrowed from and lent to a pool over the network: a node without cores.

    It is simulated only if the server is a host of a cluster.
    """

    lent: str | None = None
    """Memory that the server lends (size). Range: at most "64 TiB". Default: "0 B"."""
    borrow: str | None = None
    """Memory of the pool that the server borrows (size), which holds buffers with `memory = "pool"`.

    Range: at most "64 TiB". Default: "0 B".
    """
    from_: Sequence[str] | None = None
    """Hosts that the server borrows from, page by page round robin; all other lenders when absent.

    Its key in files is `from`.
    """
    region: str | None = None
    """Name of a shared region: all servers with this name share the pages that they borrow. They borrow the same
    amount.
    """
    controller: bool | None = None
    """True if the server decides which servers may read and write shared pages. Default: False."""
    controller_time: str | None = None
    """Processing time of a message about a shared page at the controller (time).

    Range: "1 ns" to "10 ms". Default: "1 us".
    """
    page: str | None = None
    """Page (size), a power of two: the unit of allocation, and the range of a prefetcher.

    Range: "4 KiB" to "1 GiB". Default: "4 KiB".
    """
    read_credits: int | None = None
    """Reads that may be outstanding at other servers. Range: 1 to 65536. Default: 256."""
    write_credits: int | None = None
    """Writes that may be outstanding at other servers. Range: 1 to 65536. Default: 256."""
    latency: str | None = None
    """Latency between the CHA and the port in one direction (time). Range: "1 ps" to "10 us". Default: "40 ns"."""
    retry: str | None = None
    """Time from a NACK to the next attempt (time). Range: "1 ns" to "1 ms". Default: "1 us"."""
    timeout: str | None = None
    """Time from an attempt without an answer to the next attempt (time).

    Range: "1 us" to "100 us". Default: "20 us".
    """
    header: str | None = None
    """Header of a message, in place of the Ethernet header (size). Range: "1 B" to "64 B". Default: "16 B"."""
    frame_min: str | None = None
    """Minimum frame on the wire, with its preamble, checksum and gap (size).

    Range: "1 B" to "256 B". Default: "84 B".
    """
    demand_priority: int | None = None
    """Priority class of demand requests, above that of prefetches. Range: 1 to 7. Default: 6."""
    prefetch_priority: int | None = None
    """Priority class of prefetches. Range: 0 to 6. Default: 1."""
    port_queue: int | None = None
    """Number of packets waiting at the port at or above which the port drops prefetches.

    Range: 1 to 65536. Default: 16.
    """
    prefetch: PoolPrefetch = PoolPrefetch()
    """Prefetcher of lines of the pool."""
    cache: str | None = None
    """Local memory set aside as a cache of the borrowed pages (size): a multiple of `page`; none when absent.

    Range: "4 KiB" to "1 TiB".
    """
    fetch: str | None = None
    """Lines that a cache miss fetches: "line", the missing one; "page", the missing one and then the others of its
    page.

    Default: "line".
    """
    write_back: str | None = None
    """Write-back of dirty lines of the cache: "eviction", when their page is evicted; "early", when nothing else waits.

    Default: "eviction".
    """
    transfers: int | None = None
    """Maximum number of lines in flight to the cache beside demand, and of lines being written back.

    Range: 1 to 1024. Default: 64.
    """

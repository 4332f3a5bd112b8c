# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""A pool of memory over the network."""

from collections.abc import Sequence
from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class PoolPrefetch(Description):
    """What is read ahead."""

    kind: str | None = None
    """What is read ahead: "none"; "next-line", the lines that follow; "stride", lines at the distance of the last two.

    Default: "none".
    """
    depth: int | None = None
    """Lines, or strides, ahead. Range: 1 to 64. Default: 16."""
    queue: int | None = None
    """Lines that were read ahead, or are on their way. Range: 1 to 1024. Default: 64."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Pool(Description):
    """A place in a pool of memory over the network: a node without cores.

    It takes part when the server is a host of a cluster.
    """

    lent: str | None = None
    """Bytes of its memory that it lends (size). Range: at most "64 TiB". Default: "0 B"."""
    borrow: str | None = None
    """Bytes of the pool that it borrows (size): where buffers with `memory = "pool"` lie.

    Range: at most "64 TiB". Default: "0 B".
    """
    from_: Sequence[str] | None = None
    """The hosts that it borrows from, page by page in turn; all others that lend when absent.

    Its key in files is `from`.
    """
    region: str | None = None
    """What it borrows is memory that all servers with this name see: pages that they share. They borrow as much."""
    controller: bool | None = None
    """Whether it decides who may read and write the pages that others share. Default: False."""
    controller_time: str | None = None
    """What a message about such a page takes the controller (time). Range: "1 ns" to "10 ms". Default: "1 us"."""
    page: str | None = None
    """A page: what is handed out at a time, and within which lines are read ahead (size), a power of two.

    Range: "4 KiB" to "1 GiB". Default: "4 KiB".
    """
    read_credits: int | None = None
    """Reads that may wait for other servers. Range: 1 to 65536. Default: 256."""
    write_credits: int | None = None
    """Writes that may wait for other servers. Range: 1 to 65536. Default: 256."""
    latency: str | None = None
    """Between the CHA and the port in one direction (time). Range: "1 ps" to "10 us". Default: "40 ns"."""
    retry: str | None = None
    """From a NACK to the next attempt (time). Range: "1 ns" to "1 ms". Default: "1 us"."""
    timeout: str | None = None
    """From an attempt without any answer to the next (time). Range: "1 us" to "100 us". Default: "20 us"."""
    header: str | None = None
    """Header of a message, in the place of Ethernet's (size). Range: "1 B" to "64 B". Default: "16 B"."""
    frame_min: str | None = None
    """Least frame on the wire, with its preamble, checksum and gap (size). Range: "1 B" to "256 B". Default: "84 B"."""
    demand_priority: int | None = None
    """Priority class of what somebody waits for; above that of what is read ahead. Range: 1 to 7. Default: 6."""
    prefetch_priority: int | None = None
    """Priority class of what is read ahead. Range: 0 to 6. Default: 1."""
    port_queue: int | None = None
    """Packets that wait at the port from which on what is read ahead is dropped there.

    Range: 1 to 65536. Default: 16.
    """
    prefetch: PoolPrefetch = PoolPrefetch()
    """What is read ahead."""
    cache: str | None = None
    """Local memory set aside as a cache of the pages that it borrows (size): a multiple of `page`; none when absent.

    Range: "4 KiB" to "1 TiB".
    """
    fetch: str | None = None
    """What a miss of the cache brings: "line", its own; "page", its own and then the others of its page.

    Default: "line".
    """
    write_back: str | None = None
    """When dirty lines of the cache go back: "eviction", when their room is wanted; "early", when nothing else waits.

    Default: "eviction".
    """
    transfers: int | None = None
    """Lines that may be on their way to the cache beside demand, and as many that may be on their way back.

    Range: 1 to 1024. Default: 64.
    """

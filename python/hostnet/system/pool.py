"""A pool of memory over the network, as a description."""

from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class PoolPrefetch(Description):
    """What is read ahead of demand."""

    kind: str | None = None
    """"none"; "next-line", the lines that follow; "stride", at the distance of the last two; "none" when absent."""
    depth: int | None = None
    """Lines, or strides, ahead; 16 when absent. Range: 1 to 64."""
    queue: int | None = None
    """Lines that were read ahead, or are on their way; 64 when absent. Range: 1 to 1024."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Pool(Description):
    """What a server of a cluster lends to a pool of memory, and borrows from it: a node, memory = "pool"."""

    lent: str | None = None
    """Bytes of its memory that it lends (size); "0 B" when absent. Range: up to "64 TiB"."""
    borrow: str | None = None
    """Bytes of the pool that it borrows (size); "0 B" when absent. Range: up to "64 TiB"."""
    from_: tuple[str, ...] | None = None
    """The hosts that it borrows from, page by page in turn; all others that lend when absent."""
    region: str | None = None
    """What it borrows is memory that all servers with this name see: pages that they share. They borrow as much."""
    controller: bool | None = None
    """Whether it decides who may read and write the pages that others share; False when absent."""
    controller_time: str | None = None
    """What a message about such a page takes the controller (time); "1 us" when absent. Range: "1 ns" to "10 ms"."""
    page: str | None = None
    """A page: what is handed out at a time, and within which lines are read ahead (size), a power of two; "4 KiB" when
    absent. Range: "4 KiB" to "1 GiB".
    """
    read_credits: int | None = None
    """Reads that may wait for other servers; 256 when absent. Range: 1 to 65536."""
    write_credits: int | None = None
    """Writes that may wait for other servers; 256 when absent. Range: 1 to 65536."""
    latency: str | None = None
    """Between the CHA and the port in one direction (time); "40 ns" when absent. Range: "1 ps" to "10 us"."""
    retry: str | None = None
    """From a NACK to the next attempt (time); "1 us" when absent. Range: "1 ns" to "1 ms"."""
    timeout: str | None = None
    """From an attempt without any answer to the next (time); "20 us" when absent. Range: "1 us" to "100 us"."""
    header: str | None = None
    """Header of a message, in the place of Ethernet's (size); "16 B" when absent. Range: "1 B" to "64 B"."""
    frame_min: str | None = None
    """Least frame on the wire, with its preamble, checksum and gap (size); "84 B" when absent. Range: "1 B" to
    "256 B".
    """
    demand_priority: int | None = None
    """Priority class of what somebody waits for; above that of what is read ahead; 6 when absent. Range: 1 to 7."""
    prefetch_priority: int | None = None
    """Priority class of what is read ahead; 1 when absent. Range: 0 to 6."""
    port_queue: int | None = None
    """Packets that wait at the port from which on what is read ahead is dropped there; 16 when absent. Range: 1 to
    65536.
    """
    prefetch: PoolPrefetch = PoolPrefetch()
    """What is read ahead."""
    cache: str | None = None
    """Local memory set aside as a cache of the pages that it borrows (size): a multiple of them; none when absent.
    Range: "4 KiB" to "1 TiB".
    """
    fetch: str | None = None
    """What a miss of the cache brings: "line", its own; "page", its own and then the others of its page; "line" when
    absent.
    """
    write_back: str | None = None
    """When dirty lines of the cache go back: "eviction", when their room is wanted; "early", when nothing else waits;
    "eviction" when absent.
    """
    transfers: int | None = None
    """Lines that may be on their way to the cache beside demand, and as many that may be on their way back; 64 when
    absent. Range: 1 to 1024.
    """

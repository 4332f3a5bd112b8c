# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""The caches, the prefetchers and DDIO."""

from collections.abc import Sequence
from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class L2(Description):
    """Private L2 of each core."""

    sets: int | None = None
    """Sets of the L2; a power of two. Range: 1 to 65536."""
    ways: int | None = None
    """Ways of the L2. Range: 1 to 32."""
    replacement: str | None = None
    """Replacement policy: "lru" (the least recently used line), "random" (a line drawn at random) or "qlru" (the first
    line with the oldest two-bit age, quad-age LRU).
    """
    hit: str | None = None
    """Time from an access that hits to its data (time). Range: "1 ps" to "10 us"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Llc(Description):
    """Last-level cache, with one slice per CHA slice."""

    sets: int | None = None
    """Sets of each slice of the LLC; a power of two. Range: 1 to 65536."""
    ways: int | None = None
    """Ways of the LLC. Range: 1 to 32."""
    replacement: str | None = None
    """Replacement policy: "lru" (the least recently used line), "random" (a line drawn at random) or "qlru" (the first
    line with the oldest two-bit age, quad-age LRU).
    """
    inclusion: str | None = None
    """Inclusion policy of the LLC: "inclusive" (the LLC holds every line of the cores; a line evicted from the LLC is
    invalidated in the cores) or "victim" (a line enters the LLC when a core evicts it, and leaves the LLC when a core
    reads it).
    """
    clean_victims: str | None = None
    """Clean victims of the cores that a victim LLC takes in: "all" (all clean lines), "foreseen" (lines of cores whose
    reads the LLC mostly serves) or "none" (no clean line); the others are dropped. Ignored if the LLC is inclusive.
    """
    hit: str | None = None
    """Time from admission at the CHA until the data of a hit leaves the CHA (time). Range: "1 ps" to "10 us"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class SnoopFilter(Description):
    """Snoop filter, which tracks the lines in the caches of the cores; ignored if the LLC is inclusive."""

    sets: int | None = None
    """Sets of a slice of the snoop filter; a power of two. Ignored if the LLC is inclusive. Range: 1 to 65536."""
    ways: int | None = None
    """Ways of the snoop filter; a line evicted from the filter is invalidated in the cores. Range: 1 to 32."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Cache(Description):
    """Caches of the socket; a line has 64 B."""

    enabled: bool | None = None
    """True if L2, LLC, prefetchers and DDIO are modelled. Without them every access of a stream misses, as in a buffer
    much larger than the caches.
    """
    l2: L2 = L2()
    """Private L2 of each core."""
    llc: Llc = Llc()
    """Last-level cache, with one slice per CHA slice."""
    filter: SnoopFilter = SnoopFilter()
    """Snoop filter, which tracks the lines in the caches of the cores; ignored if the LLC is inclusive."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Prefetch(Description):
    """L2 prefetchers of every core."""

    stream: bool | None = None
    """True if the streamer is on: it runs ahead of ascending or descending accesses within a page. On network cores it
    prefetches lines of the kernel, with or without caches.
    """
    adjacent: bool | None = None
    """True if the adjacent-line prefetcher is on: it completes pairs of lines of 128 B."""
    credits: int | None = None
    """Lines that the prefetchers of a core may have in flight, beside its LFB. Ignored without caches.

    Range: 1 to 1024.
    """
    pages: int | None = None
    """Pages that the streamer of a core tracks. Range: 1 to 1024."""
    distance: int | None = None
    """Distance that the streamer runs ahead of the accesses (lines). Range: 1 to 64."""
    stream_credits: int | None = None
    """Lines that the prefetchers of a core keep in flight for its sequential streams, beside its LFB, if caches are not
    modelled; 0 if prefetching is off.

    Range: 0 to 1024.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Ddio(Description):
    """Direct cache access of the drives (DDIO); simulated only with caches."""

    enabled: bool | None = None
    """True if writes of drives go to the LLC."""
    off: str | Sequence[int] | None = None
    """Drives whose writes go to memory instead of the LLC: "0-3", "0,2" or a list of numbers; [] for none.

    Range: 0 to 63.
    """
    ways: str | Sequence[int] | None = None
    """Ways of the LLC that writes of drives may allocate in: "9-10", a list of numbers or a mask such as "0x600";
    contiguous.

    Range: 0 to 63.
    """
    write: str | None = None
    """Time from admission of a drive's write at the CHA to its acknowledgement, once the LLC has room (time).

    Range: "1 ps" to "100 us".
    """

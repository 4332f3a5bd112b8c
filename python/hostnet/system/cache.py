# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""The caches, the prefetchers and DDIO."""

from collections.abc import Sequence
from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class L2(Description):
    """The private L2 of every core."""

    sets: int | None = None
    """Sets of the private L2 of a core; a power of two. Range: 1 to 65536."""
    ways: int | None = None
    """Ways of the L2. Range: 1 to 32."""
    replacement: str | None = None
    """Which line of a set leaves: "lru" (the one used longest ago), "random" (a line drawn at random) or "qlru" (the
    first whose two-bit age is the oldest, quad-age LRU).
    """
    hit: str | None = None
    """From an access to its data when it hits (time). Range: "1 ps" to "10 us"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Llc(Description):
    """The last-level cache, a slice beside every slice of the CHA."""

    sets: int | None = None
    """Sets of the slice of the LLC beside each slice of the CHA; a power of two. Range: 1 to 65536."""
    ways: int | None = None
    """Ways of the LLC. Range: 1 to 32."""
    replacement: str | None = None
    """Which line of a set leaves: "lru" (the one used longest ago), "random" (a line drawn at random) or "qlru" (the
    first whose two-bit age is the oldest, quad-age LRU).
    """
    inclusion: str | None = None
    """Inclusion policy of the LLC: "inclusive" (the LLC holds every line that a core holds: a line that leaves the LLC
    leaves the cores) or "victim" (the LLC takes the lines that cores evict, and gives them up when a core reads them).
    """
    clean_victims: str | None = None
    """Which clean lines a victim LLC takes from the cores: "all" (all that leave an L2), "foreseen" (those of cores
    whose reads the LLC serves in most cases) or "none"; the others are dropped. Without meaning when it is inclusive.
    """
    hit: str | None = None
    """From admission at the CHA to the data of a line that the LLC holds leaving the CHA (time).

    Range: "1 ps" to "10 us".
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class SnoopFilter(Description):
    """The snoop filter: which lines the cores hold. Without meaning when the LLC is inclusive."""

    sets: int | None = None
    """Sets of a slice of the snoop filter, which knows the lines of the cores; a power of two. Without meaning when the
    LLC is inclusive.

    Range: 1 to 65536.
    """
    ways: int | None = None
    """Ways of the snoop filter; a line that leaves it leaves the cores. Range: 1 to 32."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Cache(Description):
    """The caches of the socket; a line has 64 B."""

    enabled: bool | None = None
    """Whether L2, LLC, prefetchers and DDIO take part. Without them every access of a stream misses, as in a buffer
    much larger than the caches.
    """
    l2: L2 = L2()
    """The private L2 of every core."""
    llc: Llc = Llc()
    """The last-level cache, a slice beside every slice of the CHA."""
    filter: SnoopFilter = SnoopFilter()
    """The snoop filter: which lines the cores hold. Without meaning when the LLC is inclusive."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Prefetch(Description):
    """The L2 prefetchers of every core; they take part when the caches do."""

    stream: bool | None = None
    """The streamer: runs ahead of ascending or descending accesses within a page. Network cores have lines of the
    kernel ahead by it, with caches and without.
    """
    adjacent: bool | None = None
    """The adjacent-line prefetcher: completes pairs of lines of 128 B."""
    credits: int | None = None
    """Lines that a core may have on their way for its prefetchers, beside its LFB. Range: 1 to 1024."""
    pages: int | None = None
    """Pages that the streamer of a core tracks. Range: 1 to 1024."""
    distance: int | None = None
    """How far the streamer runs ahead of the accesses (lines). Range: 1 to 64."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Ddio(Description):
    """Direct cache access of the drives (DDIO); it takes part when the caches do."""

    enabled: bool | None = None
    """Whether the writes of drives go to the LLC."""
    off: str | Sequence[int] | None = None
    """Drives whose writes go to memory all the same: "0-3", "0,2" or a list of numbers; [] for none. Range: 0 to 63."""
    ways: str | Sequence[int] | None = None
    """Ways of the LLC that writes of drives may allocate in: "9-10", a list of numbers or a mask such as "0x600";
    contiguous.

    Range: 0 to 63.
    """
    write: str | None = None
    """From admission of a drive's write at the CHA to its acknowledgement, once there is room in the LLC (time).

    Range: "1 ps" to "100 us".
    """

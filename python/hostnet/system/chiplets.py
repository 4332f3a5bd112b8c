# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""The chiplets of a socket."""

from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class Chiplets(Description):
    """Chiplets of a socket, if its cores are on dies of their own."""

    ccds: int | None = None
    """Core dies of the socket, each with an equal share of the cores. Range: 1 to 16."""
    entries: int | None = None
    """Lines that the cores of a CCD may have in flight beyond it, shared equally by its cores that have streams to run;
    no limit when absent.

    Range: 1 to 65536.
    """
    fclk: str | None = None
    """Clock of the data fabric (FCLK), of the IO die and of its links (frequency). Range: "100 MHz" to "10 GHz"."""
    hop: int | None = None
    """Cycles of a hop between adjacent quadrants of the IO die. Range: 0 to 64. Default: 7."""
    link: str | None = None
    """Width of the links between adjacent quadrants of the IO die: bytes per clock and direction (size). A line takes
    one clock more, for its header.

    Range: "1 B" to "64 B". Default: "32 B".
    """
    nps: int | None = None
    """NUMA nodes per socket (NPS): 1, 2 or 4 parts of the IO die, each with channels of its own for its memory.

    Range: 1 to 4. Default: 1.
    """
    read: str | None = None
    """Width of the link from the IO die to each CCD: bytes of lines that cores read per clock (size).

    Range: "1 B" to "64 B". Default: "32 B".
    """
    write: str | None = None
    """Width of the link from each CCD to the IO die: bytes of lines that cores write per clock (size).

    Range: "1 B" to "64 B". Default: "16 B".
    """

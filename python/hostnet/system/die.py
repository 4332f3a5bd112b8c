# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""The die of a socket."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class Die(Description):
    """Positions of the parts of a socket on a mesh, if there is one."""

    die: str | None = None
    """Map of the die: a built-in one, by its name, or a CSV file with the columns part, column and row."""
    map: Mapping[str, Sequence[int]] | None = None
    """Map of the die, in place of its name: column and row of every part, such as core0, cha0, imc0 and iio0."""
    clock: str | None = None
    """Clock of the mesh (frequency). Range: "100 MHz" to "10 GHz". Default: "2.4 GHz"."""
    vertical: int | None = None
    """Cycles per hop along a column. Range: 0 to 16. Default: 1."""
    horizontal: int | None = None
    """Cycles per hop along a row. Range: 0 to 16. Default: 2."""
    link: str | None = None
    """Width of a link: bytes of a line per cycle in each direction (size). Range: "1 B" to "64 B". Default: "32 B"."""
    clusters: int | None = None
    """Sub-NUMA clusters, each with private slices and channels for its memory: 1 (no clustering), 2 or 4.

    Range: 1 to 4. Default: 1.
    """
    nic: str | None = None
    """Mesh stop of the NIC, such as "iio1"; the first when absent."""
    drives: str | Sequence[str] | None = None
    """Mesh stop of the drives, or a list of stops used round robin; all stops round robin when absent."""

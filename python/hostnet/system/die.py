# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""The die of a socket."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class Die(Description):
    """Where the parts of a socket lie, if they lie on a mesh."""

    die: str | None = None
    """The map of the die: one that comes with the program, or a CSV file with the columns part, column and row."""
    map: Mapping[str, Sequence[int]] | None = None
    """The map in place of its name: the column and row of every part, such as core0, cha0, imc0 and iio0."""
    clock: str | None = None
    """Clock of the mesh (frequency). Range: "100 MHz" to "10 GHz". Default: "2.4 GHz"."""
    vertical: int | None = None
    """Cycles from a stop to the next of its column. Range: 0 to 16. Default: 1."""
    horizontal: int | None = None
    """Cycles from a stop to the next of its row. Range: 0 to 16. Default: 2."""
    link: str | None = None
    """Bytes of a line that a link carries in a cycle and direction (size). Range: "1 B" to "64 B". Default: "32 B"."""
    clusters: int | None = None
    """Parts of the die whose memory is at home there alone (sub-NUMA clustering): 1 = none, 2 or 4.

    Range: 1 to 4. Default: 1.
    """
    nic: str | None = None
    """The stop that the NIC hangs off, such as "iio1"; the first when absent."""
    drives: str | Sequence[str] | None = None
    """The stop that the drives hang off, or a list of stops that they take in turn; all stops in turn when absent."""

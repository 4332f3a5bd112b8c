"""Which of the swept parameters changed anything."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from hostnet._core import ConfigError
from hostnet.sweep.outcome import influence_of

if TYPE_CHECKING:
    from hostnet.sweep.grid import Grid
    from hostnet.sweep.journal import Journal


class NothingChangedError(ConfigError):
    """All results of a sweep are the same."""


def idle_axes(grid: Grid, journal: Journal) -> list[str]:
    """The swept parameters without influence on any result.

    Raises:
        NothingChangedError: All are without influence, so that all results are the same.
    """
    digests = [[hashlib.sha256() for _ in axis.values] for axis in grid.axes]
    idle = {axis.path for axis in grid.axes}
    for point in range(len(grid)):
        outcome = journal.outcome(point)
        idle &= set(outcome["no_effect"])
        influence = influence_of(outcome)
        for of_axis, index in zip(digests, grid.choice(point), strict=False):
            of_axis[index].update(influence)
    for axis, of_axis in zip(grid.axes, digests, strict=True):
        if len(of_axis) > 1 and len({digest.digest() for digest in of_axis}) == 1:
            idle.add(axis.path)
    swept = [axis.path for axis in grid.axes if len(axis.values) > 1]
    if swept and idle.issuperset(swept):
        what = "changes nothing: its values give" if len(swept) == 1 else "change nothing: all their values give"
        raise NothingChangedError(f"--over {', '.join(swept)}: {what} the same results, so there is no table to write")
    return [axis.path for axis in grid.axes if axis.path in idle]

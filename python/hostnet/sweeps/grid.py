"""Points of a sweep: every combination of the values, in a fixed order."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hostnet._core import ConfigError
from hostnet.running.ranges import SEED_MAX
from hostnet.sweeps.axis import POINTS_MAX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.running.results import Source
    from hostnet.sweeps.axis import Axis

SEED = "run.seed"
"""Parameter that several seeds set."""


@dataclass(frozen=True)
class Grid:
    """All combinations: the first axis varies slowest, the seeds fastest."""

    source: Source
    """Configuration with the assignments that apply to all points."""
    axes: tuple[Axis, ...]
    seeds: tuple[int, ...] = ()
    """Seeds of every combination; empty for the configuration's seed."""

    def __post_init__(self) -> None:
        """Checks the grid.

        Raises:
            ConfigError: There are too many points, or a parameter is both set and swept.
        """
        check_points(self.sizes)
        for axis in self.axes:
            for assignment in self.source.overrides:
                if key_of_assignment(assignment) == axis.path:
                    raise ConfigError(
                        "conflicting-keys",
                        f"--set {assignment}: is swept with --over {axis.path}; leave one of them out",
                    )

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of values of each axis, and of seeds if there are several."""
        seeds = (len(self.seeds),) if self.seeds else ()
        return (*(len(axis.values) for axis in self.axes), *seeds)

    def __len__(self) -> int:
        """Returns the number of points."""
        return math.prod(self.sizes)

    def choice(self, point: int) -> tuple[int, ...]:
        """Returns the index of a point on each axis and, with several seeds, the index of its seed."""
        chosen = []
        for size in reversed(self.sizes):
            point, index = divmod(point, size)
            chosen.append(index)
        return tuple(reversed(chosen))

    def settings(self, point: int) -> list[str]:
        """Returns the assignments of a point."""
        choice = self.choice(point)
        settings = [axis.setting(index) for axis, index in zip(self.axes, choice, strict=False)]
        return [*settings, f"{SEED}={self.seeds[choice[-1]]}"] if self.seeds else settings

    def source_of(self, point: int) -> Source:
        """Returns the configuration of a point."""
        return replace(self.source, overrides=(*self.source.overrides, *self.settings(point)))

    def with_seeds(self, first: int, count: int) -> Grid:
        """Returns the grid with `count` seeds from `first` on.

        Raises:
            ConfigError: There are too many points, the seeds are too large, or the seed is swept already.
        """
        if any(axis.path == SEED for axis in self.axes):
            raise ConfigError("conflicting-keys", f"--seeds: {SEED} is swept with --over; leave one of them out")
        if first + count - 1 > SEED_MAX:
            raise ConfigError("out-of-range", f"--seeds {count}: seeds from {first} on exceed 2^64 - 1")
        return replace(self, seeds=tuple(range(first, first + count)))


def check_points(sizes: Sequence[int]) -> None:
    """Checks that there are at most `POINTS_MAX` combinations.

    Raises:
        ConfigError: There are more.
    """
    points = math.prod(sizes)
    if points > POINTS_MAX:
        raise ConfigError(
            "too-many", f"--over: {' x '.join(map(str, sizes))} = {points} points; at most {POINTS_MAX} are allowed"
        )


def key_of_assignment(assignment: str) -> str:
    """Returns the parameter that an assignment sets."""
    return ".".join(key.strip() for key in assignment.partition("=")[0].split("."))

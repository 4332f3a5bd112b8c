"""The points of a sweep: every combination of the values, in a fixed order."""

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
"""The parameter that several seeds set."""


@dataclass(frozen=True)
class Grid:
    """All combinations: the first axis varies slowest, the last one faster, the seeds fastest."""

    source: Source
    """The configuration with the assignments that hold everywhere."""
    axes: tuple[Axis, ...]
    seeds: tuple[int, ...] = ()
    """Seeds of every combination; the configuration's own if there are none."""

    def __post_init__(self) -> None:
        """Refuses what contradicts itself.

        Raises:
            ConfigError: There are too many points, or a parameter is both set and swept.
        """
        check_points(self.sizes)
        for axis in self.axes:
            for assignment in self.source.overrides:
                if path_of(assignment) == axis.path:
                    raise ConfigError(
                        "conflicting-keys",
                        f"--set {assignment}: is swept with --over {axis.path}; leave one of them out",
                    )

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each axis has, and how many seeds there are if there are several."""
        seeds = (len(self.seeds),) if self.seeds else ()
        return (*(len(axis.values) for axis in self.axes), *seeds)

    def __len__(self) -> int:
        """The number of points."""
        return math.prod(self.sizes)

    def choice(self, point: int) -> tuple[int, ...]:
        """Which value of each axis a point has, and which seed."""
        chosen = []
        for size in reversed(self.sizes):
            point, index = divmod(point, size)
            chosen.append(index)
        return tuple(reversed(chosen))

    def settings(self, point: int) -> list[str]:
        """The assignments that make the point."""
        choice = self.choice(point)
        settings = [axis.setting(index) for axis, index in zip(self.axes, choice, strict=False)]
        return [*settings, f"{SEED}={self.seeds[choice[-1]]}"] if self.seeds else settings

    def source_of(self, point: int) -> Source:
        """The configuration of a point."""
        return replace(self.source, overrides=(*self.source.overrides, *self.settings(point)))

    def with_seeds(self, first: int, count: int) -> Grid:
        """The same combinations under `count` seeds from `first` on.

        Raises:
            ConfigError: There are too many points, the seeds are too large, or the seed is swept already.
        """
        if any(axis.path == SEED for axis in self.axes):
            raise ConfigError("conflicting-keys", f"--seeds: {SEED} is swept with --over; leave one of them out")
        if first + count - 1 > SEED_MAX:
            raise ConfigError("out-of-range", f"--seeds {count}: seeds from {first} on exceed 2^64 - 1")
        return replace(self, seeds=tuple(range(first, first + count)))


def check_points(sizes: Sequence[int]) -> None:
    """Refuses more combinations than a sweep may have.

    Raises:
        ConfigError: There are too many.
    """
    points = math.prod(sizes)
    if points > POINTS_MAX:
        raise ConfigError(
            "too-many", f"--over: {' x '.join(map(str, sizes))} = {points} points; at most {POINTS_MAX} are allowed"
        )


def path_of(assignment: str) -> str:
    """The parameter that an assignment sets."""
    return ".".join(key.strip() for key in assignment.partition("=")[0].split("."))

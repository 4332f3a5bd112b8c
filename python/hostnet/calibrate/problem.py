"""The residuals of a fit and their derivatives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hostnet.calibrate.model import Model

    Array = NDArray[np.float64]

STEP = 0.1
"""Distance of the two points of a derivative during the search, in the logarithm of a parameter."""

STEP_WIDE = 0.15
"""Half their distance where uncertainties are told: the noise of the runs matters less."""


@dataclass
class Problem:
    """A model, its measurements, and which parameters are free."""

    model: Model
    targets: Array
    sigmas: Array
    free: list[int]
    point: Array
    """Logarithms of all parameters; those that are not free stay."""

    def bounds(self) -> tuple[Array, Array]:
        """Logarithms of the bounds of the free parameters."""
        chosen = [self.model.parameters[index] for index in self.free]
        return np.log([p.low for p in chosen]), np.log([p.high for p in chosen])

    def values(self, free: Array) -> tuple[float, ...]:
        """Values of all parameters, given the logarithms of the free ones."""
        full = self.point.copy()
        full[self.free] = free
        return tuple(float(value) for value in np.exp(full))

    def residuals(self, frees: Sequence[Array]) -> Array:
        """Residuals in standard deviations, a row per point."""
        logs = self.model.interpolated([self.values(free) for free in frees])
        return (np.asarray(logs) - self.targets) / self.sigmas

    def slopes(self, free: Array) -> Array:
        """Derivatives of the residuals to one side, which the search makes do with; all points run together."""
        low, high = self.bounds()
        ups = [min(free[place] + self._reach(free, place, STEP), high[place]) for place in range(len(free))]
        downs = [max(free[place] - STEP, low[place]) for place in range(len(free))]
        ends = [up if up - free[place] >= STEP / 2 else downs[place] for place, up in enumerate(ups)]
        found = self.residuals([free, *(_moved(free, place, end) for place, end in enumerate(ends))])
        columns = [(found[place + 1] - found[0]) / (end - free[place]) for place, end in enumerate(ends)]
        return np.asarray(columns).T

    def jacobian(self, free: Array) -> Array:
        """Derivatives of the residuals over a wide step to both sides; all points run together."""
        low, high = self.bounds()
        reach = [self._reach(free, place, STEP_WIDE) for place in range(len(free))]
        ends = [
            (min(free[place] + step, high[place]), max(free[place] - step, low[place]))
            for place, step in enumerate(reach)
        ]
        found = self.residuals([_moved(free, place, end) for place, pair in enumerate(ends) for end in pair])
        columns = [(found[2 * place] - found[2 * place + 1]) / (up - down) for place, (up, down) in enumerate(ends)]
        return np.asarray(columns).T

    def _reach(self, free: Array, place: int, step: float) -> float:
        """A step of a parameter; of a count at least one."""
        is_count = self.model.parameters[self.free[place]].kind == "count"
        return max(step, math.log1p(math.exp(-free[place]))) if is_count else step


def _moved(free: Array, place: int, end: float) -> Array:
    moved = free.copy()
    moved[place] = end
    return moved

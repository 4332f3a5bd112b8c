"""Residuals of a fit and their derivatives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hostnet.calibration.model import Model

    Array = NDArray[np.float64]

STEP = 0.1
"""Step of the one-sided derivative used by the search, in the logarithm of a parameter."""

STEP_WIDE = 0.15
"""Half the step of the two-sided derivative used for uncertainties; wider, to reduce the effect of run noise."""


@dataclass
class Problem:
    """A model, its measurements and the free parameters."""

    model: Model
    targets: Array
    sigmas: Array
    free: list[int]
    point: Array
    """Logarithms of all parameters; those that are not free stay constant."""

    def bounds(self) -> tuple[Array, Array]:
        """Returns the logarithms of the bounds of the free parameters."""
        chosen = [self.model.parameters[index] for index in self.free]
        return np.log([p.low for p in chosen]), np.log([p.high for p in chosen])

    def values(self, free: Array) -> tuple[float, ...]:
        """Returns the values of all parameters, given the logarithms of the free ones."""
        full = self.point.copy()
        full[self.free] = free
        return tuple(float(value) for value in np.exp(full))

    def residuals(self, frees: Sequence[Array]) -> Array:
        """Returns the residuals in standard deviations, one row per point."""
        logs = self.model.interpolated([self.values(free) for free in frees])
        return (np.asarray(logs) - self.targets) / self.sigmas

    def slopes(self, free: Array) -> Array:
        """Returns one-sided derivatives of the residuals for the search; all points run concurrently."""
        low, high = self.bounds()
        ups = [min(free[column] + self._reach(free, column, STEP), high[column]) for column in range(len(free))]
        downs = [max(free[column] - STEP, low[column]) for column in range(len(free))]
        ends = [up if up - free[column] >= STEP / 2 else downs[column] for column, up in enumerate(ups)]
        found = self.residuals([free, *(_moved(free, column, end) for column, end in enumerate(ends))])
        columns = [(found[column + 1] - found[0]) / (end - free[column]) for column, end in enumerate(ends)]
        return np.asarray(columns).T

    def jacobian(self, free: Array) -> Array:
        """Returns two-sided derivatives of the residuals with a wide step; all points run concurrently."""
        low, high = self.bounds()
        reach = [self._reach(free, column, STEP_WIDE) for column in range(len(free))]
        ends = [
            (min(free[column] + step, high[column]), max(free[column] - step, low[column]))
            for column, step in enumerate(reach)
        ]
        found = self.residuals([_moved(free, column, end) for column, pair in enumerate(ends) for end in pair])
        columns = [(found[2 * column] - found[2 * column + 1]) / (up - down) for column, (up, down) in enumerate(ends)]
        return np.asarray(columns).T

    def _reach(self, free: Array, column: int, step: float) -> float:
        """Returns the step of a parameter; at least 1 for a count."""
        is_count = self.model.parameters[self.free[column]].kind == "count"
        return max(step, math.log1p(math.exp(-free[column]))) if is_count else step


def _moved(free: Array, column: int, end: float) -> Array:
    moved = free.copy()
    moved[column] = end
    return moved

"""Frames of charts of distributions: a logarithmic axis of time, and one whose distances are nines of a percentile."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hostnet.report.charts import WIDTH_OF_WIDE
from hostnet.report.point_charts import decade_levels
from hostnet.report.svg import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    ChartFrame,
    LinearScale,
    LogScale,
    fitted_ticks,
    nice_range,
    tick_labels,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

NINES = ((0.5, "50 %"), (0.9, "90 %"), (0.99, "99 %"), (0.999, "99.9 %"), (0.9999, "99.99 %"))
"""Percentiles with a tick."""

INSET = 14.0
"""Distance of the last tick from the end of the axis."""


@dataclass(frozen=True)
class NinesScale(LinearScale):
    """Maps shares from 0 by their nines: 0.9, 0.99 and so on lie at equal distances, up to `high`."""

    def __call__(self, value: float) -> float:
        """Returns the position of a share, rounded to a hundredth of a unit."""
        share = math.log10(1 - min(value, self.high)) / math.log10(1 - self.high)
        return round(self.start + share * (self.end - self.start), 2)


def tight_frame(xs: Sequence[float], ys: Sequence[float]) -> ChartFrame:
    """Returns a frame with linear axes that begin and end at ticks around the values."""
    left, right, ticks = nice_range(xs)
    scale = LinearScale(left, right, LEFT + 4, WIDTH_OF_WIDE - RIGHT - INSET)
    return frame_of(scale, list(zip(ticks, tick_labels(ticks), strict=True)), ys)


def log_x_frame(xs: Sequence[float], ys: Sequence[float]) -> ChartFrame:
    """Returns a frame with a logarithmic x axis around positive values, and a linear y axis."""
    levels = decade_levels(min(xs), max(xs))
    scale = LogScale(levels[0], levels[-1], LEFT + 4, WIDTH_OF_WIDE - RIGHT - INSET)
    return frame_of(scale, [(level, f"{level:,.12g}") for level in levels], ys)


def nines_frame(highest: float, ys: Sequence[float]) -> ChartFrame:
    """Returns a frame with percentiles up to the highest one along x, and a linear y axis."""
    scale = NinesScale(0.0, highest, LEFT + 4, WIDTH_OF_WIDE - RIGHT - INSET)
    return frame_of(scale, [tick for tick in NINES if tick[0] <= highest + 1e-9], ys)


def frame_of(scale: LinearScale, ticks: Sequence[tuple[float, str]], ys: Sequence[float]) -> ChartFrame:
    """Returns a frame with the ticks along x that do not overlap, and round numbers from 0 along y."""
    low, high, y_ticks = nice_range([*ys, 0.0])
    kept = fitted_ticks(ticks, scale)
    return ChartFrame(
        scale,
        LinearScale(low, high, HEIGHT - BOTTOM, TOP),
        tuple(tick for tick, _ in kept),
        tuple(y_ticks),
        WIDTH_OF_WIDE,
        x_labels=tuple(label for _, label in kept),
    )

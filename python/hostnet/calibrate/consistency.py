"""Measurements that cannot all be true."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from typing import TYPE_CHECKING

from hostnet.calibrate.measurement import DataError, Measurement

if TYPE_CHECKING:
    from collections.abc import Sequence

SIGMA = 0.02
"""Standard deviation of a measurement whose file does not say one, as a share of the value."""

REPEATED_SIGMAS = 4
"""Two measurements of the same thing differ by no more than this many standard deviations of their difference."""

FREEDOM_MIN = 4
"""Rows beyond parameters from which the spread of the residuals tells the noise."""

NORMAL_MEDIAN = 0.6745
"""Median distance from the mean, in standard deviations of a normal distribution."""

SPREAD_MAX = 0.06
"""More noise than this is none."""

SHOWN_MAX = 6
"""Rows that a message names."""


def sigma_of(measurement: Measurement) -> float:
    """Standard deviation of a measurement as a share of its value, without what is due to its conditions."""
    return SIGMA if measurement.sigma is None else measurement.sigma / measurement.value


def merge_repeated(measurements: Sequence[Measurement]) -> list[Measurement]:
    """Measurements of the same thing become one, their mean.

    Raises:
        DataError: Two of them differ beyond their noise; the message names both.
    """
    groups: dict[tuple[str, object], list[Measurement]] = {}
    for measurement in measurements:
        groups.setdefault((measurement.quantity, measurement.conditions), []).append(measurement)
    return [_merge(group) for group in groups.values()]


def _merge(group: Sequence[Measurement]) -> Measurement:
    low = min(group, key=lambda measurement: measurement.value)
    high = max(group, key=lambda measurement: measurement.value)
    allowed = REPEATED_SIGMAS * math.hypot(
        sigma_of(low), sigma_of(high), *(measurement.slack for measurement in (low, high))
    )
    if math.log(high.value / low.value) > allowed:
        raise DataError(
            f"{high.where}: contradicts {low.where}: {high.quantity} ({high.conditions}) is {high.value:.4g} "
            f"{high.unit} here and {low.value:.4g} {low.unit} there, {100 * (high.value / low.value - 1):.0f} % apart; "
            f"their noise allows {100 * math.expm1(allowed):.0f} %"
        )
    if len(group) == 1:
        return group[0]
    mean = math.exp(sum(math.log(measurement.value) for measurement in group) / len(group))
    stated = [measurement.sigma for measurement in group if measurement.sigma is not None]
    sigma = max(stated) if len(stated) == len(group) else None
    slack = max(measurement.slack for measurement in group)
    return replace(group[0], value=mean, sigma=sigma, slack=slack)


def check_residuals(
    measurements: Sequence[Measurement],
    logs: Sequence[float],
    sigmas: Sequence[float],
    tolerance: float,
    parameters: int,
) -> None:
    """Refuses measurements that the best fit misses by more than their noise and `tolerance`, a share.

    Args:
        measurements: What was measured.
        logs: Logarithms of what the model says at the best fit.
        sigmas: Standard deviations as shares.
        tolerance: How far the model itself may be off.
        parameters: How many were fitted.

    Raises:
        DataError: Names the rows, the worst first.
    """
    misses = [
        (math.log(measurement.value) - log, sigma, measurement)
        for measurement, log, sigma in zip(measurements, logs, sigmas, strict=True)
    ]
    spread = _spread([miss for miss, _, measurement in misses if measurement.sigma is None], parameters)
    far = [
        (miss, sigma, measurement)
        for miss, sigma, measurement in misses
        if abs(miss) > max(math.log1p(tolerance), REPEATED_SIGMAS * max(sigma, spread * (measurement.sigma is None)))
    ]
    if not far:
        return
    far.sort(key=lambda miss: -abs(miss[0]))
    rows = "; ".join(_miss_text(measurement, miss) for miss, _, measurement in far[:SHOWN_MAX])
    more = f"; and {len(far) - SHOWN_MAX} more" if len(far) > SHOWN_MAX else ""
    opposite = [miss for miss in misses if miss[0] * far[0][0] < 0 and abs(miss[0]) > miss[1]]
    if opposite:
        other = max(opposite, key=lambda miss: abs(miss[0]))
        if other not in far:
            more += f"; against {_miss_text(other[2], other[0])}"
    raise DataError(
        "the measurements contradict each other, or no values of these parameters can explain them; nothing was "
        f"written. Beyond noise and {100 * tolerance:.0f} % of the best fit: {rows}{more}"
    )


def _spread(misses: Sequence[float], parameters: int) -> float:
    """What the residuals say of the noise where no file does: their median, which single wrong rows do not move."""
    if len(misses) - parameters < FREEDOM_MIN:
        return 0.0
    return min(statistics.median(map(abs, misses)) / NORMAL_MEDIAN, SPREAD_MAX)


def _miss_text(measurement: Measurement, miss: float) -> str:
    side = "above" if miss > 0 else "below"
    return f"{measurement}, {100 * abs(math.expm1(miss)):.0f} % {side}"

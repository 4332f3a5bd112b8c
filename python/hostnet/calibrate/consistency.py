"""Measurements that cannot all be true."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from typing import TYPE_CHECKING

from hostnet.calibrate.measurement import DataError, Measurement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
            "implausible-data",
            f"{high.where}: contradicts {low.where}: {high.quantity} ({high.conditions}) is {high.value:.4g} "
            f"{high.unit} here and {low.value:.4g} {low.unit} there, {100 * (high.value / low.value - 1):.0f} % apart; "
            f"their noise allows {100 * math.expm1(allowed):.0f} %",
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
    misses = _misses(measurements, logs, sigmas)
    spread = _spread([miss for miss, _, measurement in misses if measurement.sigma is None], parameters)
    far = _beyond(misses, tolerance, spread)
    if not far:
        return
    more = ""
    opposite = [miss for miss in misses if miss[0] * far[0][0] < 0 and abs(miss[0]) > miss[1]]
    if opposite:
        other = max(opposite, key=lambda miss: abs(miss[0]))
        if other not in far:
            more += f"; against {_miss_text(other[2], other[0])}"
    raise DataError(
        "implausible-data",
        "the measurements contradict each other, or no values of these parameters can explain them; nothing was "
        f"written. Beyond noise and {100 * tolerance:.0f} % of the best fit: {_rows_text(far)}{more}",
    )


def check_written(
    measurements: Sequence[Measurement],
    logs: Sequence[float],
    sigmas: Sequence[float],
    tolerance: float,
    left: Mapping[str, str],
) -> None:
    """Refuses a server that misses what it was fitted to by more than the stated noise and `tolerance`, a share.

    Args:
        measurements: Every row of the files.
        logs: Logarithms of what the server says with the values as they would be written.
        sigmas: Standard deviations as shares.
        tolerance: How far the model itself may be off.
        left: The parameters that stayed as they were, and why.

    Raises:
        DataError: Names the rows, the worst first, and the parameters that stayed.
    """
    far = _beyond(_misses(measurements, logs, sigmas), tolerance, 0.0)
    if not far:
        return
    stayed = "".join(f"; {path} stays as it was: {reason}" for path, reason in left.items())
    raise DataError(
        "implausible-data",
        "the server with the fitted values misses what was measured; nothing was written. Beyond the stated noise and "
        f"{100 * tolerance:.0f} %: {_rows_text(far)}{stayed}; fit other parameters, state the noise as sigma, or allow "
        "more with --tolerance",
    )


Miss = tuple[float, float, Measurement]
"""The logarithm of measured over modelled, the standard deviation as a share, and what was measured."""


def _misses(measurements: Sequence[Measurement], logs: Sequence[float], sigmas: Sequence[float]) -> list[Miss]:
    rows = zip(measurements, logs, sigmas, strict=True)
    return [(math.log(measurement.value) - log, sigma, measurement) for measurement, log, sigma in rows]


def _beyond(misses: Sequence[Miss], tolerance: float, spread: float) -> list[Miss]:
    """Those beyond the tolerance and their noise, the worst first; `spread` is the noise where no file states it."""
    far = [
        (miss, sigma, measurement)
        for miss, sigma, measurement in misses
        if abs(miss) > max(math.log1p(tolerance), REPEATED_SIGMAS * max(sigma, spread * (measurement.sigma is None)))
    ]
    return sorted(far, key=lambda miss: -abs(miss[0]))


def _rows_text(far: Sequence[Miss]) -> str:
    rows = "; ".join(_miss_text(measurement, miss) for miss, _, measurement in far[:SHOWN_MAX])
    return rows + (f"; and {len(far) - SHOWN_MAX} more" if len(far) > SHOWN_MAX else "")


def _spread(misses: Sequence[float], parameters: int) -> float:
    """What the residuals say of the noise where no file does: their median, which single wrong rows do not move."""
    if len(misses) - parameters < FREEDOM_MIN:
        return 0.0
    return min(statistics.median(map(abs, misses)) / NORMAL_MEDIAN, SPREAD_MAX)


def _miss_text(measurement: Measurement, miss: float) -> str:
    side = "above" if miss > 0 else "below"
    return f"{measurement} is {100 * abs(math.expm1(miss)):.0f} % {side} what the model says"

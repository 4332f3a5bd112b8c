"""Detects measurements that contradict each other."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from typing import TYPE_CHECKING

from hostnet.calibration.measurement import DataError, Measurement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SIGMA = 0.02
"""Relative standard deviation of a measurement whose file states none."""

REPEATED_SIGMAS = 4
"""Maximum difference of repeated measurements, in standard deviations of the difference."""

FREEDOM_MIN = 4
"""Minimum number of rows beyond the number of parameters for estimating the noise from the residuals."""

NORMAL_MEDIAN = 0.6745
"""Median distance from the mean of a normal distribution, in standard deviations."""

SPREAD_MAX = 0.06
"""Maximum relative noise; larger residuals are errors."""

SHOWN_MAX = 6
"""Maximum number of rows named in a message."""


def sigma_of(measurement: Measurement) -> float:
    """Returns the relative standard deviation of a measurement, without the uncertainty of its conditions."""
    return SIGMA if measurement.sigma is None else measurement.sigma / measurement.value


def merge_repeated(measurements: Sequence[Measurement]) -> list[Measurement]:
    """Merges measurements of the same quantity under the same conditions into their geometric mean.

    Raises:
        DataError: Two of them differ by more than their noise; the message names both.
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
    """Checks that the best fit misses no measurement by more than its noise and `tolerance`.

    Args:
        measurements: The measurements.
        logs: Logarithms of the model's values at the best fit.
        sigmas: Relative standard deviations.
        tolerance: Relative error allowed to the model.
        parameters: Number of fitted parameters.

    Raises:
        DataError: Some are missed; the message names the rows, the worst first.
    """
    misses = _residuals(measurements, logs, sigmas)
    spread = _estimate_noise([miss for miss, _, measurement in misses if measurement.sigma is None], parameters)
    far = _outliers(misses, tolerance, spread)
    if not far:
        return
    more = ""
    opposite = [miss for miss in misses if miss[0] * far[0][0] < 0 and abs(miss[0]) > miss[1]]
    if opposite:
        other = max(opposite, key=lambda miss: abs(miss[0]))
        if other not in far:
            more += f"; against {_residual_text(other[2], other[0])}"
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
    """Checks that the server as written misses no row by more than the stated noise and `tolerance`.

    Args:
        measurements: Every row of the files.
        logs: Logarithms of the model's values with the values as written.
        sigmas: Relative standard deviations.
        tolerance: Relative error allowed to the model.
        left: The parameters that keep their start values, and why.

    Raises:
        DataError: Some are missed; the message names the rows, the worst first, and the parameters in `left`.
    """
    far = _outliers(_residuals(measurements, logs, sigmas), tolerance, 0.0)
    if not far:
        return
    stayed = "".join(f"; {path} stays as it was: {reason}" for path, reason in left.items())
    raise DataError(
        "implausible-data",
        "the server with the fitted values misses what was measured; nothing was written. Beyond the stated noise and "
        f"{100 * tolerance:.0f} %: {_rows_text(far)}{stayed}; fit other parameters, state the noise as sigma, or allow "
        "more with --tolerance",
    )


Residual = tuple[float, float, Measurement]
"""Logarithm of the ratio of measured to modeled value, relative standard deviation, and the measurement."""


def _residuals(measurements: Sequence[Measurement], logs: Sequence[float], sigmas: Sequence[float]) -> list[Residual]:
    rows = zip(measurements, logs, sigmas, strict=True)
    return [(math.log(measurement.value) - log, sigma, measurement) for measurement, log, sigma in rows]


def _outliers(misses: Sequence[Residual], tolerance: float, spread: float) -> list[Residual]:
    """Returns the misses beyond tolerance and noise, worst first; `spread` is the noise of rows that state none."""
    far = [
        (miss, sigma, measurement)
        for miss, sigma, measurement in misses
        if abs(miss) > max(math.log1p(tolerance), REPEATED_SIGMAS * max(sigma, spread * (measurement.sigma is None)))
    ]
    return sorted(far, key=lambda miss: -abs(miss[0]))


def _rows_text(far: Sequence[Residual]) -> str:
    rows = "; ".join(_residual_text(measurement, miss) for miss, _, measurement in far[:SHOWN_MAX])
    return rows + (f"; and {len(far) - SHOWN_MAX} more" if len(far) > SHOWN_MAX else "")


def _estimate_noise(misses: Sequence[float], parameters: int) -> float:
    """Estimates the unstated noise from the median of the residuals, which is robust against single wrong rows."""
    if len(misses) - parameters < FREEDOM_MIN:
        return 0.0
    return min(statistics.median(map(abs, misses)) / NORMAL_MEDIAN, SPREAD_MAX)


def _residual_text(measurement: Measurement, miss: float) -> str:
    side = "above" if miss > 0 else "below"
    return f"{measurement} is {100 * abs(math.expm1(miss)):.0f} % {side} what the model says"

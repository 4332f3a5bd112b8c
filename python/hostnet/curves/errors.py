"""Errors of a simulated curve beside a measured one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

DIGITS = 4
"""Decimal places of an error, which is a share."""

NEAR = 0.9
"""Fraction of the maximum bandwidth from which on latencies count as near the most."""


@dataclass(frozen=True)
class CurveErrors:
    """Errors of a simulated curve, as shares of the measured values; None where nothing was compared."""

    idle: float | None = None
    """Signed error of the latency without load."""
    most: float | None = None
    """Signed error of the maximum bandwidth."""
    latency: float | None = None
    """Mean error without sign of latencies below 90 % of the maximum bandwidth, each at its fraction."""
    near: float | None = None
    """Mean signed error of the latencies from 90 % on."""

    def as_dict(self) -> dict[str, float | None]:
        """Returns the errors by name."""
        return asdict(self)


def curve_errors(idle: Iterable[float], most: Iterable[float], latencies: Iterable[tuple[float, float]]) -> CurveErrors:
    """Returns the errors of a curve: those of its ends, if any, and of its latencies, each with its fraction."""
    pairs = list(latencies)
    return CurveErrors(
        idle=mean(idle),
        most=mean(most),
        latency=mean(abs(error) for fraction, error in pairs if fraction < NEAR),
        near=mean(error for fraction, error in pairs if fraction >= NEAR),
    )


def mean(values: Iterable[float]) -> float | None:
    """Returns the mean to a fixed number of places; None without values."""
    found = list(values)
    return round(sum(found) / len(found), DIGITS) if found else None

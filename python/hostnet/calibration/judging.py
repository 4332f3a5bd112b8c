"""Chooses the curve that is fitted, and judges a server by all measured curves."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.calibration.curves import POINTS_MIN, JudgedCurve, check_curve
from hostnet.calibration.measurement import error_at
from hostnet.calibration.readers import read_data
from hostnet.calibration.scenario import wanted_trace
from hostnet.curves.trace import trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostnet.calibration.curves import MeasuredCurve
    from hostnet.calibration.measurement import Measurement
    from hostnet.calibration.model import Model
    from hostnet.presets import ServerFile

SAME_PERCENT = 0.05
"""Difference in percent below which two shares of reads are the same."""

ALL = "all"
"""Value of `--reads` that fits every curve."""


@dataclass(frozen=True)
class Data:
    """Contents of all files."""

    files: tuple[str, ...]
    measurements: tuple[Measurement, ...]
    """Measurements that belong to no curve."""
    curves: tuple[MeasuredCurve, ...]
    """Curves, with most reads first."""
    share: float | None
    """Share of reads of the curve that is fitted; None to fit all."""
    notes: tuple[str, ...]
    """Assumptions made when reading the files."""

    @property
    def fitted(self) -> list[Measurement]:
        """Measurements that the fit sees."""
        chosen = [curve for curve in self.curves if self.share in (None, curve.reads)]
        return [*self.measurements, *(one for curve in chosen for one in curve.measurements())]

    @property
    def plausible(self) -> list[Measurement]:
        """All measurements, those of curves that only judge among them."""
        return [*self.measurements, *(one for curve in self.curves for one in curve.measurements())]


def read_files(arguments: Sequence[str], server: ServerFile, reads: float | str | None) -> Data:
    """Reads all files, and chooses the curve to fit: that with this share of reads in percent, or with most reads.

    Raises:
        DataError: A file is malformed, a curve has too few points, or two curves have one share of reads.
        ConfigError: No curve has this share of reads.
    """
    percent_of(reads)
    found = [read_data(argument, server) for argument in arguments]
    curves: list[MeasuredCurve] = [curve for file in found for curve in file.curves]
    curves.sort(key=lambda curve: -curve.reads)
    for curve in curves:
        check_curve(curve)
    for curve, other in pairwise(curves):
        if curve.reads == other.reads:
            text = f"a second curve at {100 * curve.reads:.3g} % reads; the first is at {curve.file}:{curve.most.place}"
            raise error_at(other.file, other.most.place, text, "duplicate")
    measurements = tuple(one for file in found for one in file.measurements)
    names = [one.file for one in measurements] + [curve.file for curve in curves]
    notes = tuple(note for file in found for note in file.notes)
    return Data(tuple(dict.fromkeys(names)), measurements, tuple(curves), share_of(curves, reads), notes)


def percent_of(reads: float | str | None) -> float | None:
    """Returns a share of reads in percent; None if none is asked for, or all are.

    Raises:
        ConfigError: `reads` is no share.
    """
    if reads is None or reads == ALL:
        return None
    try:
        return float(str(reads).strip().removesuffix("%"))
    except ValueError:
        raise ConfigError("malformed-value", f'--reads {reads}: is neither a share in percent nor "{ALL}"') from None


def share_of(curves: Sequence[MeasuredCurve], reads: float | str | None) -> float | None:
    """Returns the share of reads of the curve to fit; None for all curves.

    Raises:
        ConfigError: `reads` is no share of a curve.
    """
    if reads == ALL:
        return None
    percent = percent_of(reads)
    if percent is None:
        return curves[0].reads if curves else None
    known = [f"{100 * curve.reads:.3g}" for curve in curves]
    found = next((curve.reads for curve in curves if abs(100 * curve.reads - percent) < SAME_PERCENT), None)
    if found is None:
        none = f"the files have no curve, which takes at least {POINTS_MIN} points at a share of reads"
        have = f"there are {', '.join(known)}" if known else none
        raise ConfigError("does-not-exist", f"--reads {reads}: no curve has this share of reads; {have}")
    return found


def judge_curves(
    model: Model, curves: Sequence[MeasuredCurve], fitted: float | None, values: Mapping[str, Any]
) -> tuple[JudgedCurve, ...]:
    """Returns the errors of the server by each curve, as it was and with the fitted values.

    Raises:
        KeyboardInterrupt: The progress callback stopped the runs.
    """
    wanted = [
        wanted_trace(model.server, curve.load, [fraction for fraction, _ in curve.latencies], model.engine, setting)
        for setting in ({}, values)
        for curve in curves
    ]
    found = trace(wanted, model.threads, model.tell)
    model.runs += sum(len(curve.points) for curve in found)
    before, after = found[: len(curves)], found[len(curves) :]
    return tuple(
        JudgedCurve(curve.reads, fitted in (None, curve.reads), curve.errors(first), curve.errors(last))
        for curve, first, last in zip(curves, before, after, strict=True)
    )

"""Fits server parameters to measurements taken on a real server."""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.calibration.curves import JudgedCurve
from hostnet.calibration.judging import Data, judge_curves, read_files
from hostnet.calibration.measurement import DataError, Measurement
from hostnet.calibration.parameters import Parameter, defaults_for, parse_fit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hostnet.calibration.fit import FitResult
    from hostnet.presets import ServerFile
    from hostnet.terminal.progress import Progress, ProgressArgument

__all__ = ["TOLERANCE", "Calibration", "DataError", "Measurement", "Parameter", "calibrate"]

TOLERANCE = 0.12
"""Default relative error of the fitted model above which measurements are rejected."""


@dataclass(frozen=True, repr=False)
class Calibration:
    """A calibrated server."""

    server: ServerFile
    parameters: tuple[Parameter, ...]
    measurements: tuple[Measurement, ...]
    fit: FitResult
    files: tuple[str, ...]
    """The measurement files."""
    notes: tuple[str, ...]
    """Assumptions made when reading the files."""
    engine: str
    runs: int
    """Number of simulations or predictions made."""
    curves: tuple[JudgedCurve, ...] = ()
    """Measured curves of latency under load, with the errors of the server before and after the fit."""

    def text(self, path: Path) -> str:
        """Returns the text of the new server file, to be saved as `path`.

        Raises:
            ConfigError: The file would not be valid there.
        """
        from hostnet.calibration.preset import preset_text

        return preset_text(self.server, self.parameters, self.fit.parameters, self.files, path, self.curves)

    def save(self, path: str | PathLike[str] | None = None) -> Path:
        """Writes the new server file and returns its path, by default `<server>-calibrated.toml`.

        Raises:
            ConfigError: The file would not be valid there.
            FileExistsError: There is such a file.
            OSError: The file cannot be written.
        """
        from hostnet.files import write_file
        from hostnet.rundir import check_new_file

        place = Path(f"{self.server.name}-calibrated.toml" if path is None else path)
        text = self.text(place)
        check_new_file(place)
        write_file(place, text.encode())
        return place

    def residuals(self) -> list[dict[str, Any]]:
        """Returns one row per measurement: the measured value, the model's value and their difference."""
        rows = []
        for measurement, log, sigma in zip(self.measurements, self.fit.logs, self.fit.sigmas, strict=True):
            miss = math.log(measurement.value) - log
            rows.append(
                {
                    "file": measurement.file,
                    "place": measurement.place,
                    "quantity": measurement.quantity,
                    "conditions": str(measurement.conditions),
                    "unit": measurement.unit,
                    "measured": measurement.value,
                    "sigma": sigma * measurement.value,
                    "model": math.exp(log),
                    "residual_percent": 100 * math.expm1(-miss),
                    "residual_sigmas": -miss / sigma,
                }
            )
        return rows

    @property
    def title(self) -> str:
        """Describes the fit in a clause."""
        fitted = sum(one.is_fitted for one in self.fit.parameters)
        source = f" of {Path(self.files[0]).name}" if len(self.files) == 1 else ""
        return f"{fitted} of {len(self.parameters)} parameters from {len(self.measurements)} measurements{source}"

    def __repr__(self) -> str:
        """Returns the title in one line."""
        return f"<Calibration {self.server.name}: {self.title}>"

    def _repr_html_(self) -> str:
        """Returns what a notebook shows: the parameters, and the measurements beside the values of the model."""
        from hostnet.report.notebook.calibration import calibration_block

        return calibration_block(self.title, self.content())

    def content(self) -> dict[str, Any]:
        """Returns the calibration as a JSON-serializable dict."""
        parameters = [
            {
                "parameter": parameter.path,
                "start": parameter.to_config(parameter.start),
                "low": parameter.text(parameter.low),
                "high": parameter.text(parameter.high),
                "value": parameter.to_config(result.value),
                "sigma": None if result.sigma is None else parameter.text(result.sigma, like=result.value),
                "sigma_relative": None if result.sigma is None else result.sigma / result.value,
                "determined": result.is_fitted,
                "reason": result.undetermined,
                "at_bound": result.at_bound,
            }
            for parameter, result in zip(self.parameters, self.fit.parameters, strict=True)
        ]
        return {
            "format": 1,
            "server": self.server.name,
            "engine": self.engine,
            "runs": self.runs,
            "files": list(self.files),
            "parameters": parameters,
            "noise": self.fit.noise,
            "residuals": self.residuals(),
            "curves": [curve.as_dict() for curve in self.curves],
            "notes": list(self.notes),
        }


def calibrate(
    server: str | PathLike[str] | ServerFile,
    data: str | PathLike[str] | Sequence[str | PathLike[str]],
    fit: str | Sequence[str] = (),
    *,
    out: str | PathLike[str] | None = None,
    reads: float | str | None = None,
    tolerance: float = TOLERANCE,
    engine: str = "run",
    threads: int | None = None,
    progress: ProgressArgument = None,
) -> Calibration:
    """Fits parameters of a server to measurements, as `hostnet calibrate` does.

    Args:
        server: The server to start from: a preset, or the path of a configuration.
        data: Measurement files, each FILE or FILE@name=value,... with conditions that hold for the whole file.
        fit: PARAM or PARAM=LO..HI; if empty, the parameters that suit the measurements.
        out: Server file to write, which must not exist; by default, none is written.
        reads: Share of reads in percent of the measured curve that is fitted, or "all"; the other curves only judge the
            result. By default the curve with most reads.
        tolerance: Relative error of the fitted model above which the measurements are rejected, 0 to 1.
        engine: "run" simulates, "predict" predicts.
        threads: Number of concurrent runs; the result does not depend on it.
        progress: As for `hostnet.run_many`.

    Raises:
        DataError: A file is malformed, measurements contradict each other, or the fitted server misses one of them.
        ConfigError: A parameter or an option is invalid, or SciPy is not installed.
        OSError: A file cannot be read.
        KeyboardInterrupt: The progress callback stopped the fit.
    """
    from hostnet.presets import ServerFile, load_server
    from hostnet.rundir import check_new_file
    from hostnet.running.engines import check_engine
    from hostnet.terminal.progress import follow

    check_engine(engine)
    if not 0 < tolerance <= 1:
        raise ConfigError("out-of-range", f"--tolerance {tolerance}: must be above 0 and at most 1")
    files = [fspath(file) for file in ([data] if isinstance(data, str | PathLike) else data)]
    if not files:
        raise ConfigError("missing-key", "--data: missing; name a file of measurements")
    start = server if isinstance(server, ServerFile) else load_server(fspath(server))
    if out is not None:
        check_new_file(Path(out))
    wanted = [parse_fit(argument, start) for argument in ([fit] if isinstance(fit, str) else fit)]
    _reject_duplicates([parameter.path for parameter in wanted])
    with follow(progress) as callback:
        data_of = read_files(files, start, reads)
        found = _fitted(start, data_of, wanted, tolerance, engine, threads, callback)
    if out is not None:
        found.save(out)
    return found


def _fitted(
    server: ServerFile,
    data: Data,
    wanted: Sequence[Parameter],
    tolerance: float,
    engine: str,
    threads: int | None,
    progress: Progress,
) -> Calibration:
    """Fits the parameters, or those that suit the measurements if there are none, and judges all curves."""
    from hostnet.calibration.consistency import merge_repeated
    from hostnet.calibration.fit import fit, load_solver
    from hostnet.calibration.model import Model
    from hostnet.calibration.plausible import check_plausible

    load_solver()  # before the first run
    with _with_notes(data.notes):
        check_plausible(data.plausible, server)
        measurements = merge_repeated(data.fitted)
        wanted = list(wanted) or [parse_fit(path, server) for path in defaults_for(measurements, server)]
        model = Model(server, wanted, measurements, engine, threads, progress)
        model.check_bounds()
        result = fit(model, data.fitted, tolerance)
    values = {
        parameter.path: parameter.to_config(one.value)
        for parameter, one in zip(wanted, result.parameters, strict=True)
        if one.is_fitted
    }
    curves = judge_curves(model, data.curves, data.share, values)
    return Calibration(
        server, tuple(wanted), tuple(measurements), result, data.files, data.notes, engine, model.runs, curves
    )


@contextmanager
def _with_notes(notes: Sequence[str]) -> Iterator[None]:
    """Appends the notes to the message of a `DataError`, as they may explain a failed fit."""
    try:
        yield
    except DataError as error:
        raise error.reworded("; note: ".join([str(error), *notes])) from None


def _reject_duplicates(paths: Sequence[str]) -> None:
    for path in paths:
        if paths.count(path) > 1:
            raise ConfigError("duplicate", f"--fit {path}: is named twice")

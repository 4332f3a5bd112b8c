"""Fits parameters by least squares on logarithms, and decides which of them the measurements determine."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hostnet.calibration.consistency import FREEDOM_MIN, check_residuals, check_written, sigma_of
from hostnet.calibration.problem import STEP_WIDE, Problem
from hostnet.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hostnet.calibration.measurement import Measurement
    from hostnet.calibration.model import Model

    Array = NDArray[np.float64]

EVALUATIONS_MAX = 12
"""Maximum number of points that the search evaluates."""

SCAN = (-1.0, -0.5, 0.5, 1.0)
"""Trial values of a parameter without influence at its start, as fractions of the way to its bounds."""

SCAN_GAIN = 0.8
"""Ratio of sums of squares below which a trial value is accepted."""

INFLUENCE_MIN = 1.0
"""Minimum influence of a parameter: the change by a factor of e must move the residuals by this many sigmas."""

UNDETERMINED = 0.3
"""Relative standard deviation above which a parameter counts as undetermined."""

CORRELATED_SIGMA_MAX = 0.05
"""Maximum relative standard deviation that stems mostly from correlation with an undetermined parameter."""

CORRELATED = 0.85
"""Correlation above which two parameters are reported as inseparable."""

NOISE_MIN = 0.25
"""Lower limit of the noise estimated from residuals, as a multiple of the assumed noise."""

UNKNOWN_SIGMA = 1.0
"""Relative standard deviation above which the measurements add nothing to the bounds of a parameter."""

AT_BOUND = 0.01
"""Logarithmic distance within which a value is at its bound."""


@dataclass(frozen=True)
class FittedParameter:
    """Outcome of the fit for one parameter."""

    path: str
    value: float
    """Fitted value in the base unit; the start value if the parameter is undetermined."""
    start: float
    sigma: float | None
    """Standard deviation in the base unit; None if the parameter is undetermined."""
    undetermined: str | None = None
    """Why the parameter keeps its start value; None if it was fitted."""
    at_bound: str | None = None
    """"low" or "high" if the best value is at a bound, otherwise None."""

    @property
    def is_fitted(self) -> bool:
        """True if the measurements determine the parameter."""
        return self.undetermined is None


@dataclass(frozen=True)
class FitResult:
    """Outcome of a fit."""

    parameters: tuple[FittedParameter, ...]
    logs: tuple[float, ...]
    """Logarithm of the model's final value for every measurement."""
    sigmas: tuple[float, ...]
    """Relative standard deviations of the measurements, combined with those of the model's runs."""
    noise: float
    """Ratio of the residuals to the assumed standard deviations."""


@dataclass(frozen=True)
class Determinacy:
    """Free parameters that the measurements leave undetermined."""

    weak: dict[int, str]
    """Parameters that are undetermined regardless of the others, and why."""
    tied: dict[int, str]
    """Parameters of which only combinations are determined, and which ones."""
    sigmas: dict[int, float]
    """Standard deviations of the logarithms of all free parameters."""
    noise: float
    """Ratio of the residuals to the assumed standard deviations."""


def fit(model: Model, measured: Sequence[Measurement], tolerance: float) -> FitResult:
    """Fits the parameters and decides which of them the measurements determine.

    Args:
        model: The model with its parameters and measurements.
        measured: Every row of the files; the model has repeated rows merged.
        tolerance: Relative error of the fitted model above which the measurements are rejected.

    Raises:
        DataError: The measurements contradict each other, or the server as written misses one.
        KeyboardInterrupt: The progress callback stopped the fit.
    """
    problem = _start(model)
    _scan(problem)
    _search(problem)
    logs = _logs(problem)
    if _has_influence(problem):
        check_residuals(model.measurements, logs, problem.sigmas.tolist(), tolerance, len(problem.free))
    held: dict[int, str] = {}
    verdict = _assess(problem)
    while undetermined := verdict.weak or verdict.tied:
        held |= undetermined
        problem.free = [index for index in problem.free if index not in held]
        for index in undetermined:
            problem.point[index] = _log_start(model, index)
        _search(problem)
        verdict = _assess(problem)
    _settle_counts(problem)
    return _outcome(problem, verdict, held, measured, tolerance)


def _start(model: Model) -> Problem:
    starts = [min(max(p.start, p.low), p.high) for p in model.parameters]
    (answers,) = model.answers([tuple(starts)])
    own = np.array([math.hypot(sigma_of(m), m.slack) for m in model.measurements])
    runs = np.array([error for _, error in answers])
    targets = np.log([m.value for m in model.measurements])
    return Problem(model, targets, np.hypot(own, runs), list(range(len(starts))), np.log(starts))


def _scan(problem: Problem) -> None:
    """Moves parameters without influence at their start to a trial value that explains more, if there is one."""
    free = problem.point[problem.free]
    influence = np.linalg.norm(problem.slopes(free), axis=0)
    low, high = problem.bounds()
    for place in (place for place in range(len(problem.free)) if influence[place] < INFLUENCE_MIN):
        tries = [free.copy()]
        for share in SCAN:
            moved = free.copy()
            moved[place] += share * (high[place] - free[place] if share > 0 else free[place] - low[place])
            tries.append(moved)
        sums = np.sum(problem.residuals(tries) ** 2, axis=1)
        best = int(np.argmin(sums))
        if sums[best] < SCAN_GAIN * sums[0]:
            free = tries[best]
    problem.point[problem.free] = free


def _has_influence(problem: Problem) -> bool:
    """Returns True if any free parameter influences the measured quantities."""
    jacobian = problem.jacobian(problem.point[problem.free])
    return bool(np.max(np.linalg.norm(jacobian, axis=0)) >= INFLUENCE_MIN)


def load_solver() -> Any:
    """Returns SciPy's solver of bounded least squares.

    Raises:
        ConfigError: SciPy is not installed.
    """
    try:
        from scipy.optimize import least_squares
    except ImportError:
        message = "calibrate needs SciPy: pip install 'hostnet[calibrate]'"
        raise ConfigError("missing-package", message) from None
    return least_squares


def _search(problem: Problem) -> None:
    """Moves the free parameters to the minimum sum of squares."""
    if not problem.free:
        return
    least_squares = load_solver()
    low, high = problem.bounds()
    start = np.clip(problem.point[problem.free], low + 1e-9, high - 1e-9)
    found: Any = least_squares(
        lambda free: problem.residuals([free])[0],
        start,
        jac=problem.slopes,
        bounds=(low, high),
        ftol=1e-3,
        xtol=1e-3,
        gtol=1e-6,
        max_nfev=EVALUATIONS_MAX,
    )
    problem.point[problem.free] = found.x


def _logs(problem: Problem) -> list[float]:
    (logs,) = problem.model.interpolated([problem.values(problem.point[problem.free])])
    return logs


def _noise_of_runs(problem: Problem) -> float:
    """Returns the variance that the noise of the runs adds to a column of the Jacobian."""
    free = problem.values(problem.point[problem.free])
    (answers,) = problem.model.answers([free])
    errors = np.array([error for _, error in answers])
    return float(np.sum((errors / problem.sigmas / (math.sqrt(2) * STEP_WIDE)) ** 2))


def _assess(problem: Problem) -> Determinacy:
    """Computes uncertainties of the free parameters and finds the undetermined ones."""
    if not problem.free:
        return Determinacy({}, {}, {}, 1.0)
    jacobian = problem.jacobian(problem.point[problem.free])
    low, high = problem.bounds()
    scale = _noise(problem, jacobian)
    weights, directions = np.linalg.eigh(jacobian.T @ jacobian / scale**2)
    weights = np.maximum(weights - _noise_of_runs(problem) / scale**2, 0.0)
    within_bounds = 12.0 / (high - low) ** 2
    covariance = np.linalg.inv(directions @ np.diag(weights) @ directions.T + np.diag(within_bounds))
    sigmas = np.sqrt(np.diag(covariance))
    alone = 1 / np.sqrt(np.sum(jacobian**2, axis=0) / scale**2 + within_bounds)
    correlated = np.abs(covariance / np.outer(sigmas, sigmas)) > CORRELATED
    influence = np.linalg.norm(jacobian, axis=0)
    verdict = Determinacy({}, {}, dict(zip(problem.free, sigmas.tolist(), strict=True)), scale)
    broad = sigmas > np.minimum(UNDETERMINED, (high - low) / 4)
    for place, index in enumerate(problem.free):
        spoiled = sigmas[place] > max(CORRELATED_SIGMA_MAX, 3 * alone[place]) and bool(
            np.any(correlated[place] & broad)
        )
        if not broad[place] and not spoiled:
            continue
        partners = [
            problem.model.parameters[other].path
            for position, other in enumerate(problem.free)
            if position != place and correlated[place, position]
        ]
        if influence[place] < INFLUENCE_MIN:
            verdict.weak[index] = "no influence on these measurements"
        elif partners:
            verdict.tied[index] = f"only its combination with {' and '.join(partners)} is determined; fit one of them"
        else:
            verdict.weak[index] = _broad_text(math.expm1(sigmas[place]))
    return verdict


def _broad_text(sigma: float) -> str:
    if sigma > UNKNOWN_SIGMA:
        return "these measurements say nothing of it within its bounds"
    return f"known to no better than {100 * sigma:.0f} % within its bounds"


def _log_start(model: Model, index: int) -> float:
    return math.log(max(model.parameters[index].start, 1e-9))


def _noise(problem: Problem, jacobian: Array) -> float:
    """Returns the ratio of the residuals to the assumed standard deviations."""
    residuals = problem.residuals([problem.point[problem.free]])[0]
    freedom = len(residuals) - jacobian.shape[1]
    if freedom < 1:
        return 1.0
    found = math.sqrt(float(residuals @ residuals) / freedom)
    stated = any(measurement.sigma is not None for measurement in problem.model.measurements)
    return max(found, 1.0 if stated or freedom < FREEDOM_MIN else NOISE_MIN)


def _settle_counts(problem: Problem) -> None:
    """Rounds integer parameters and refits the others."""
    counts = [index for index in problem.free if problem.model.parameters[index].kind == "count"]
    if not counts:
        return
    problem.point[counts] = np.log(np.maximum(np.round(np.exp(problem.point[counts])), 1.0))
    others = replace(problem, free=[index for index in problem.free if index not in counts])
    _search(others)
    problem.point = others.point


def _outcome(
    problem: Problem, verdict: Determinacy, held: dict[int, str], measured: Sequence[Measurement], tolerance: float
) -> FitResult:
    """Evaluates the server as written, checks it against every row and returns the outcome."""
    model = problem.model
    fitted = []
    for index, parameter in enumerate(model.parameters):
        if index in held:
            fitted.append(FittedParameter(parameter.path, parameter.start, parameter.start, None, held[index]))
            continue
        log = float(problem.point[index])
        value = parameter.representable(math.exp(log))
        near = {"low": log - math.log(parameter.low), "high": math.log(parameter.high) - log}
        bound = next((end for end, distance in near.items() if distance < AT_BOUND), None)
        fitted.append(
            FittedParameter(parameter.path, value, parameter.start, value * verdict.sigmas[index], None, bound)
        )
    pairs = zip(model.parameters, fitted, strict=True)
    answers = model.answers_as_written({one.path: p.to_config(one.value) for p, one in pairs if one.is_fitted})
    logs = tuple(math.log(value) for value, _ in answers)
    known = {
        (m.quantity, m.conditions): (log, error)
        for m, log, (_, error) in zip(model.measurements, logs, answers, strict=True)
    }
    rows = [known[m.quantity, m.conditions] for m in measured]
    sigmas = [math.hypot(sigma_of(m), m.slack, error) for m, (_, error) in zip(measured, rows, strict=True)]
    left = {model.parameters[index].path: reason for index, reason in held.items()}
    check_written(measured, [log for log, _ in rows], sigmas, tolerance, left)
    return FitResult(tuple(fitted), logs, tuple(problem.sigmas.tolist()), verdict.noise)

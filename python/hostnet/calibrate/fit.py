"""Least squares on the logarithms of parameters, and what the measurements determine."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hostnet.calibrate.consistency import FREEDOM_MIN, check_residuals, check_written, sigma_of
from hostnet.calibrate.problem import STEP_WIDE, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hostnet.calibrate.measurement import Measurement
    from hostnet.calibrate.model import Model

    Array = NDArray[np.float64]

EVALUATIONS_MAX = 12
"""Points that the search may look at."""

SCAN = (-1.0, -0.5, 0.5, 1.0)
"""Where a parameter without influence at its start is tried: shares of the way to its bounds."""

SCAN_GAIN = 0.8
"""A tried value is taken if it brings the sum of squares below this share of what it was."""

FEEBLE = 1.0
"""A parameter whose change by a factor of e moves nothing by more standard deviations than this has no influence."""

UNDETERMINED = 0.3
"""A relative standard deviation from which a parameter counts as not determined."""

SPOILED = 0.05
"""A relative standard deviation above this that comes mostly from an undetermined parameter is too much."""

CORRELATED = 0.85
"""Correlation from which two parameters are told to be inseparable."""

NOISE_MIN = 0.25
"""The least share of the assumed noise that residuals may suggest."""

NOTHING_KNOWN = 1.0
"""A relative standard deviation above this says nothing of a parameter that its bounds do not."""

AT_BOUND = 0.01
"""Distance from a bound, in logarithms, that counts as being at it."""


@dataclass(frozen=True)
class Fitted:
    """What became of a parameter."""

    path: str
    value: float
    """In its base unit: the fitted value, or the start value where nothing is determined."""
    start: float
    sigma: float | None
    """One standard deviation in the base unit; None where nothing is determined."""
    undetermined: str | None = None
    """Why it was left at its start value; None if it was fitted."""
    at_bound: str | None = None
    """"low" or "high" if the best value is at a bound."""

    @property
    def is_fitted(self) -> bool:
        """Whether the measurements determine it."""
        return self.undetermined is None


@dataclass(frozen=True)
class Fit:
    """The outcome of a fit."""

    parameters: tuple[Fitted, ...]
    logs: tuple[float, ...]
    """Logarithms of what the model says at the end, for every measurement."""
    sigmas: tuple[float, ...]
    """Standard deviations of the measurements and of the model's runs together, as shares."""
    noise: float
    """How large the residuals are, as a multiple of the assumed standard deviations."""


@dataclass(frozen=True)
class Verdict:
    """What the measurements say about the free parameters."""

    weak: dict[int, str]
    """Those that are not determined, whatever the others are, and why."""
    tied: dict[int, str]
    """Those of which only combinations are determined, and which."""
    sigmas: dict[int, float]
    """Standard deviations of the logarithms of all free parameters."""
    noise: float
    """How large the residuals are, as a multiple of the assumed standard deviations."""


def fit(model: Model, measured: Sequence[Measurement], tolerance: float) -> Fit:
    """Fits the parameters and tells which of them the measurements determine.

    Args:
        model: The model with its parameters and measurements.
        measured: Every row of the files; those of the model are the means of rows that say the same.
        tolerance: How far the model may be off after the fit, as a share, before the measurements are refused.

    Raises:
        DataError: The measurements contradict each other, or the server as it would be written misses one.
        KeyboardInterrupt: The progress callback stopped it.
    """
    problem = _start(model)
    _scan(problem)
    _search(problem)
    logs = _logs(problem)
    if _has_influence(problem):
        check_residuals(model.measurements, logs, problem.sigmas.tolist(), tolerance, len(problem.free))
    held: dict[int, str] = {}
    verdict = _judge(problem)
    while undetermined := verdict.weak or verdict.tied:
        held |= undetermined
        problem.free = [index for index in problem.free if index not in held]
        for index in undetermined:
            problem.point[index] = _log_start(model, index)
        _search(problem)
        verdict = _judge(problem)
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
    """Moves parameters that have no influence where they start to where they would explain more, if anywhere."""
    free = problem.point[problem.free]
    influence = np.linalg.norm(problem.slopes(free), axis=0)
    low, high = problem.bounds()
    for place in (place for place in range(len(problem.free)) if influence[place] < FEEBLE):
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
    """Whether any parameter can change what the model says of the measurements."""
    jacobian = problem.jacobian(problem.point[problem.free])
    return bool(np.max(np.linalg.norm(jacobian, axis=0)) >= FEEBLE)


def _search(problem: Problem) -> None:
    """Moves the free parameters to the least sum of squares."""
    if not problem.free:
        return
    from scipy.optimize import least_squares

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
    """The square of what the noise of the runs alone adds to a column of the Jacobian."""
    free = problem.values(problem.point[problem.free])
    (answers,) = problem.model.answers([free])
    errors = np.array([error for _, error in answers])
    return float(np.sum((errors / problem.sigmas / (math.sqrt(2) * STEP_WIDE)) ** 2))


def _judge(problem: Problem) -> Verdict:
    """Uncertainties of the free parameters, and which of them the measurements do not determine."""
    if not problem.free:
        return Verdict({}, {}, {}, 1.0)
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
    verdict = Verdict({}, {}, dict(zip(problem.free, sigmas.tolist(), strict=True)), scale)
    broad = sigmas > np.minimum(UNDETERMINED, (high - low) / 4)
    for place, index in enumerate(problem.free):
        spoiled = sigmas[place] > max(SPOILED, 3 * alone[place]) and bool(np.any(correlated[place] & broad))
        if not broad[place] and not spoiled:
            continue
        partners = [
            problem.model.parameters[other].path
            for position, other in enumerate(problem.free)
            if position != place and correlated[place, position]
        ]
        if influence[place] < FEEBLE:
            verdict.weak[index] = "no influence on these measurements"
        elif partners:
            verdict.tied[index] = f"only its combination with {' and '.join(partners)} is determined; fit one of them"
        else:
            verdict.weak[index] = _broad_text(math.expm1(sigmas[place]))
    return verdict


def _broad_text(sigma: float) -> str:
    if sigma > NOTHING_KNOWN:
        return "these measurements say nothing of it within its bounds"
    return f"known to no better than {100 * sigma:.0f} % within its bounds"


def _log_start(model: Model, index: int) -> float:
    return math.log(max(model.parameters[index].start, 1e-9))


def _noise(problem: Problem, jacobian: Array) -> float:
    """How large the residuals are, as a multiple of the assumed standard deviations."""
    residuals = problem.residuals([problem.point[problem.free]])[0]
    freedom = len(residuals) - jacobian.shape[1]
    if freedom < 1:
        return 1.0
    found = math.sqrt(float(residuals @ residuals) / freedom)
    stated = any(measurement.sigma is not None for measurement in problem.model.measurements)
    return max(found, 1.0 if stated or freedom < FREEDOM_MIN else NOISE_MIN)


def _settle_counts(problem: Problem) -> None:
    """Rounds counts, and fits the others again beside them."""
    counts = [index for index in problem.free if problem.model.parameters[index].kind == "count"]
    if not counts:
        return
    problem.point[counts] = np.log(np.maximum(np.round(np.exp(problem.point[counts])), 1.0))
    others = replace(problem, free=[index for index in problem.free if index not in counts])
    _search(others)
    problem.point = others.point


def _outcome(
    problem: Problem, verdict: Verdict, held: dict[int, str], measured: Sequence[Measurement], tolerance: float
) -> Fit:
    """What became of every parameter, and what the server says with the values as they would be written."""
    model = problem.model
    fitted = []
    for index, parameter in enumerate(model.parameters):
        if index in held:
            fitted.append(Fitted(parameter.path, parameter.start, parameter.start, None, held[index]))
            continue
        log = float(problem.point[index])
        value = parameter.exact(math.exp(log))
        near = {"low": log - math.log(parameter.low), "high": math.log(parameter.high) - log}
        bound = next((end for end, distance in near.items() if distance < AT_BOUND), None)
        fitted.append(Fitted(parameter.path, value, parameter.start, value * verdict.sigmas[index], None, bound))
    pairs = zip(model.parameters, fitted, strict=True)
    answers = model.answers_as_written({one.path: p.written(one.value) for p, one in pairs if one.is_fitted})
    logs = tuple(math.log(value) for value, _ in answers)
    known = {
        (m.quantity, m.conditions): (log, error)
        for m, log, (_, error) in zip(model.measurements, logs, answers, strict=True)
    }
    rows = [known[m.quantity, m.conditions] for m in measured]
    sigmas = [math.hypot(sigma_of(m), m.slack, error) for m, (_, error) in zip(measured, rows, strict=True)]
    left = {model.parameters[index].path: reason for index, reason in held.items()}
    check_written(measured, [log for log, _ in rows], sigmas, tolerance, left)
    return Fit(tuple(fitted), logs, tuple(problem.sigmas.tolist()), verdict.noise)

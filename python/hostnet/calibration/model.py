"""The model as a function of its parameters: predicts every measurement."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.calibration.scenario import answer_of, run_of, wanted_trace, workloads_of
from hostnet.curves.trace import trace
from hostnet.running.engines import evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostnet._core import Plan
    from hostnet.calibration.measurement import Conditions, Measurement
    from hostnet.calibration.parameters import Parameter
    from hostnet.curves.trace import Trace
    from hostnet.presets import ServerFile
    from hostnet.running.engines import Progress
    from hostnet.running.results import Results, Source

    Values = tuple[float, ...]
    Answers = list[tuple[float, float]]
    """Value and relative standard error for each measurement."""
    Traces = Mapping[Conditions, Trace]
    """Simulated curves by the load without its fraction."""


class Model:
    """Evaluates the model at values of the parameters.

    All runs share one seed, so that equal values give equal results.
    """

    def __init__(
        self,
        server: ServerFile,
        parameters: Sequence[Parameter],
        measurements: Sequence[Measurement],
        engine: str,
        threads: int | None,
        progress: Progress | None,
    ) -> None:
        """Creates the model of `server`. `progress` may stop the fit by returning False."""
        self.server = server
        self.parameters = list(parameters)
        self.measurements = list(measurements)
        self.engine, self.threads, self.progress = engine, threads, progress
        self.runs = 0
        self.situations = list(dict.fromkeys(measurement.conditions for measurement in measurements))
        self._known: dict[Values, Answers] = {}

    def answers(self, points: Sequence[Values]) -> list[Answers]:
        """Returns the model's values at several points; points not seen before run concurrently.

        Raises:
            ConfigError: The values are invalid for the server.
            KeyboardInterrupt: The progress callback stopped the fit.
        """
        exact = [self.representable(point) for point in points]
        new = [point for point in dict.fromkeys(exact) if point not in self._known]
        if new:
            self._run(new)
        return [self._known[point] for point in exact]

    def representable(self, point: Values) -> Values:
        """Returns the values rounded to what can be written."""
        return tuple(parameter.representable(value) for parameter, value in zip(self.parameters, point, strict=True))

    def interpolated(self, points: Sequence[Values]) -> list[list[float]]:
        """Returns logarithms of the model's values, interpolated linearly between integers of a count."""
        corners = [self._corners(point) for point in points]
        found = self.answers([values for parts in corners for values, _ in parts])
        logs, place = [], 0
        for parts in corners:
            total = [0.0] * len(self.measurements)
            for _, weight in parts:
                for row, (value, _) in enumerate(found[place]):
                    total[row] += weight * math.log(value)
                place += 1
            logs.append(total)
        return logs

    def _corners(self, point: Values) -> list[tuple[Values, float]]:
        """Returns the points with integer counts around a point, with their weights."""
        base = list(point)
        parts: list[tuple[int, float]] = []
        for index, (parameter, value) in enumerate(zip(self.parameters, point, strict=True)):
            if parameter.kind == "count":
                base[index] = math.floor(value)
                if value > base[index]:
                    parts.append((index, value - base[index]))
        corners = [(tuple(base), 1.0 - sum(weight for _, weight in parts))]
        for index, weight in parts:
            corner = list(base)
            corner[index] += 1
            corners.append((tuple(corner), weight))
        return corners

    def _run(self, points: Sequence[Values]) -> None:
        self._known.update(zip(points, self._evaluate([self.to_config(point) for point in points]), strict=True))

    def _evaluate(self, settings: Sequence[dict[str, Any]]) -> list[Answers]:
        single = [conditions for conditions in self.situations if not conditions.fraction]
        plans = [self._plan(conditions, values) for values in settings for conditions in single]
        results = iter(evaluate(self.engine, plans, self.threads, self.tell) if plans else ())
        runs = [{conditions: next(results) for conditions in single} for _ in settings]
        if any(not result.complete for part in runs for result in part.values()):
            raise KeyboardInterrupt
        self.runs += len(plans)
        traces = self._trace(settings)
        return [
            [self._answer(one, part, curves) for one in self.measurements]
            for part, curves in zip(runs, traces, strict=True)
        ]

    def _trace(self, settings: Sequence[dict[str, Any]]) -> list[Traces]:
        """Traces the curves that measurements lie on, for each of several settings of the parameters."""
        fractions: dict[Conditions, list[float]] = {}
        for conditions in self.situations:
            if conditions.fraction:
                fractions.setdefault(conditions.at_fraction(0.0), []).append(conditions.fraction)
        wanted = [
            wanted_trace(self.server, load, own, self.engine, values)
            for values in settings
            for load, own in fractions.items()
        ]
        found = iter(trace(wanted, self.threads, self.tell))
        traces: list[Traces] = [{load: next(found) for load in fractions} for _ in settings]
        self.runs += sum(len(curve.points) for curves in traces for curve in curves.values())
        return traces

    def _answer(self, one: Measurement, runs: Mapping[Conditions, Results], traces: Traces) -> tuple[float, float]:
        """Returns the value of a measurement and its relative standard error."""
        fraction = one.conditions.fraction
        if not fraction:
            return answer_of(one.quantity, runs[one.conditions])
        curve = traces[one.conditions.at_fraction(0.0)]
        if one.quantity == "bandwidth":
            return curve.most_gb_per_s, 0.0
        return curve.latency_ns(fraction), curve.latency_error(fraction)

    def answers_as_written(self, values: Mapping[str, Any]) -> Answers:
        """Returns the values of the server with only these parameters set, by dotted path, as written.

        Raises:
            KeyboardInterrupt: The progress callback stopped the fit.
        """
        return self._evaluate([dict(values)])[0]

    def _plan(self, conditions: Conditions, values: dict[str, Any]) -> tuple[Plan, Source]:
        run = run_of(conditions, self.server, len(self.situations))
        return self.server.configuration(workloads_of(conditions, self.server), run, values)

    def tell(self, status: dict[str, Any]) -> bool | None:
        """Reports progress as runs done, without a total: the length of the search is unknown."""
        if self.progress is None:
            return None
        kept = {key: status[key] for key in status if key != "total"}
        return self.progress({**kept, "target_ps": 0, "phase": f"fit, {self.runs + status['done']} runs done"})

    def to_config(self, point: Values) -> dict[str, Any]:
        """Returns the values by dotted path, as configurations have them."""
        return {
            parameter.path: parameter.to_config(value) for parameter, value in zip(self.parameters, point, strict=True)
        }

    def check_bounds(self) -> None:
        """Checks that the bounds of every parameter are valid for the server, one at a time.

        Raises:
            ConfigError: A bound is invalid; the message says which and why.
        """
        for parameter in self.parameters:
            for value in (parameter.low, parameter.high):
                try:
                    self._plan(self.situations[0], {parameter.path: parameter.to_config(value)})
                except ConfigError as error:
                    text = f"--fit {parameter.path}: the bound {parameter.text(value)} cannot be: {error}"
                    raise error.reworded(f"{text}; give bounds: --fit {parameter.path}=LO..HI") from None

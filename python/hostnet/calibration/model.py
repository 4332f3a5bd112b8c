"""The model as a function of its parameters: predicts every measurement."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.calibration.scenario import answer_of, run_of, workloads_of
from hostnet.running.engines import evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostnet._core import Plan
    from hostnet.calibration.measurement import Conditions, Measurement
    from hostnet.calibration.parameters import Parameter
    from hostnet.presets import ServerFile
    from hostnet.running.engines import Progress
    from hostnet.running.results import Source

    Values = tuple[float, ...]
    Answers = list[tuple[float, float]]
    """Value and relative standard error for each measurement."""


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
        plans = [self._plan(conditions, values) for values in settings for conditions in self.situations]
        results = evaluate(self.engine, plans, self.threads, self._tell)
        if any(not result.complete for result in results):
            raise KeyboardInterrupt
        self.runs += len(plans)
        found = []
        for first in range(0, len(results), len(self.situations)):
            part = results[first : first + len(self.situations)]
            by_conditions = dict(zip(self.situations, part, strict=True))
            found.append([answer_of(one.quantity, by_conditions[one.conditions]) for one in self.measurements])
        return found

    def answers_as_written(self, values: Mapping[str, Any]) -> Answers:
        """Returns the values of the server with only these parameters set, by dotted path, as written.

        Raises:
            KeyboardInterrupt: The progress callback stopped the fit.
        """
        return self._evaluate([dict(values)])[0]

    def _plan(self, conditions: Conditions, values: dict[str, Any]) -> tuple[Plan, Source]:
        run = run_of(conditions, self.server, len(self.situations))
        return self.server.configuration(workloads_of(conditions, self.server), run, values)

    def _tell(self, status: dict[str, Any]) -> bool | None:
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

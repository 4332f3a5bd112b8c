"""A sweep that was checked, and one point of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hostnet._core import ConfigError, SimulationError
from hostnet.errors import CodedError
from hostnet.sweeps.axis import shown
from hostnet.sweeps.check import resolve
from hostnet.sweeps.chips import compute

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hostnet.running.engines import Progress
    from hostnet.running.results import Source
    from hostnet.sweeps.check import Checked
    from hostnet.sweeps.chips import AnyPlan, AnyResults
    from hostnet.sweeps.grid import Grid
    from hostnet.sweeps.outcome import Outcome, Types

    Keep = Callable[[Sequence[Outcome], Types], None]
    Tell = Callable[[float], bool]


class ClusterError(CodedError, OSError):
    """The cluster that computes does not answer, or no longer."""


@dataclass(frozen=True)
class Job:
    """What to compute, and with what."""

    grid: Grid
    checked: Checked
    engine: str

    def plan(self, point: int) -> tuple[AnyPlan, Source]:
        """The checked configuration of a point.

        Raises:
            ConfigError: A file that it names has changed since the check.
        """
        plan = resolve(self.grid, point)
        if plan.hash != self.checked.hashes[point]:
            raise ConfigError(
                "other-configuration",
                f"point {point}: a file that the configuration names was changed during the sweep",
            )
        return plan, self.grid.source_of(point)

    def compute(self, point: int, progress: Progress | None = None) -> AnyResults:
        """Computes a point.

        Raises:
            ConfigError: A file that it names has changed since the check.
            SimulationError: The run could not go on.
        """
        plan, source = self.plan(point)
        try:
            return compute(self.engine, plan, source, progress)
        except SimulationError as error:
            raise error.reworded(f"{self.where(point)}: {error}") from None

    def where(self, point: int) -> str:
        """A point with its settings, for messages."""
        return f"point {point} ({', '.join(map(shown, self.grid.settings(point)))})"

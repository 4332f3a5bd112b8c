"""A checked sweep, and the computation of one point."""

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
    Report = Callable[[float], bool]


class ClusterError(CodedError, OSError):
    """Raised if the Dask cluster does not answer, or no longer."""


@dataclass(frozen=True)
class Job:
    """A checked sweep and its engine."""

    grid: Grid
    checked: Checked
    engine: str

    def plan(self, point: int) -> tuple[AnyPlan, Source]:
        """Resolves a point again.

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
            SimulationError: The run failed.
        """
        plan, source = self.plan(point)
        try:
            return compute(self.engine, plan, source, progress)
        except SimulationError as error:
            raise error.reworded(f"{self.point_label(point)}: {error}") from None

    def point_label(self, point: int) -> str:
        """Describes a point with its settings, for messages."""
        return f"point {point} ({', '.join(map(shown, self.grid.settings(point)))})"

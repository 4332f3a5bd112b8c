"""Where the wall time of processes that share a run goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Shares:
    """What became of the wall time of all processes, as shares of it (0 to 1) that sum to 1."""

    meetings: int
    """How often they have met."""
    work: float
    """Time in which they simulate."""
    imbalance: float
    """Time in which they wait for the one that has most to do before a meeting."""
    meeting: float
    """Time in which all have come, and letters are on their way."""

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values, as a manifest has them."""
        shares = {"work": self.work, "imbalance": self.imbalance, "meeting": self.meeting}
        return {"meetings": self.meetings, **{f"{name}_share": round(share, 4) for name, share in shares.items()}}


class Effort:
    """Counts the time between meetings: that of the process with most to do, and that of all."""

    def __init__(self) -> None:
        """Nobody has met yet."""
        self._meetings = 0
        self._slowest_s = 0.0
        self._mean_s = 0.0

    def add(self, busy_s: Sequence[float]) -> None:
        """How long each process was at work before a meeting."""
        self._meetings += 1
        self._slowest_s += max(busy_s)
        self._mean_s += sum(busy_s) / len(busy_s)

    def shares(self, wall_s: float) -> Shares:
        """Shares of the wall time since the beginning, which is at least that of the slowest in all."""
        whole = max(wall_s, self._slowest_s, 1e-9)
        work, slowest = self._mean_s / whole, self._slowest_s / whole
        return Shares(self._meetings, work, slowest - work, 1 - slowest)

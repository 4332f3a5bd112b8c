"""Breaks down the wall-clock time of processes that share a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Shares:
    """Breakdown of the wall-clock time of all processes, as fractions that sum to 1."""

    meetings: int
    """Number of exchanges between the processes."""
    work: float
    """Share of time in which processes simulate, 0 to 1."""
    imbalance: float
    """Share of time in which processes wait for the slowest one before an exchange, 0 to 1."""
    meeting: float
    """Share of time in which all processes have reached an exchange and messages are in flight, 0 to 1."""
    alone_s: float
    """Processor time that all processes spent on simulating, in s: about the time of a single process."""

    def as_dict(self) -> dict[str, Any]:
        """Returns the breakdown for a manifest."""
        shares = {"work": self.work, "imbalance": self.imbalance, "meeting": self.meeting}
        return {
            "meetings": self.meetings,
            **{f"{name}_share": round(share, 4) for name, share in shares.items()},
            "simulating_cpu_s": round(self.alone_s, 3),
        }


class Effort:
    """Accumulates the busy time of the processes between exchanges: that of the slowest, and the mean."""

    def __init__(self) -> None:
        """Starts without any exchange."""
        self._meetings = 0
        self._slowest_s = 0.0
        self._mean_s = 0.0
        self._cpu_s = 0.0

    def add(self, busy_s: Sequence[float], cpu_s: Sequence[float]) -> None:
        """Adds the busy times and the processor times of all processes before an exchange, in s."""
        self._cpu_s += sum(cpu_s)
        self._meetings += 1
        self._slowest_s += max(busy_s)
        self._mean_s += sum(busy_s) / len(busy_s)

    def shares(self, wall_s: float) -> Shares:
        """Returns the breakdown of the wall-clock time, which is at least the sum of the slowest processes' times."""
        whole = max(wall_s, self._slowest_s, 1e-9)
        work, slowest = self._mean_s / whole, self._slowest_s / whole
        return Shares(self._meetings, work, slowest - work, 1 - slowest, self._cpu_s)

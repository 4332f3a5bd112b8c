"""What a run of a chip measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hostnet import _core
from hostnet.summarised import Summarised


@dataclass(frozen=True)
class ChipPart:
    """A part of the time of an operation. Of an operation of several lines, the line that came last is meant."""

    name: str
    """What it is called in summary.json."""
    title: str
    """What it is."""
    sum_cycles: int
    """Cycles of all operations together; those of all parts add up exactly."""
    mean_cycles: float
    """Cycles of an operation."""


@dataclass(frozen=True)
class ChipResults(Summarised):
    """What the last window of a run of a chip measured; of a rack the sum of its chips.

    Equal configurations give equal results, bit for bit, except `wall_s`.
    """

    native: _core.ChipRunResult = field(repr=False)
    """The simulator's own results."""
    wall_s: float
    """Seconds that the run took."""

    @property
    def latency_cycles(self) -> float | None:
        """Mean cycles from the begin of an operation to its end; none if none has ended."""
        latency = self.summary["latency"]
        return None if latency is None else latency["mean_cycles"]

    @property
    def latency_ns(self) -> float | None:
        """The same in ns."""
        latency = self.summary["latency"]
        return None if latency is None else latency["mean_ns"]

    @cached_property
    def parts(self) -> tuple[ChipPart, ...]:
        """The parts of the latency, in the order in which they happen."""
        rows = self.summary["breakdown"]["parts"]
        return tuple(ChipPart(row["part"], row["title"], row["sum_cycles"], row["mean_cycles"]) for row in rows)

    @property
    def application_gb_per_s(self) -> float:
        """Payload that came to the chip and that left it, GB/s; of a rack that of all its chips."""
        return float(self.summary["bandwidth"]["application_gb_per_s"])

    @property
    def noc_gb_per_s(self) -> float:
        """What entered the network on the chip, with headers and messages of coherence, GB/s."""
        return float(self.summary["noc"]["gb_per_s"])

    @property
    def chips(self) -> list[dict[str, Any]]:
        """The chips of a rack, as in summary.json; none of a chip with its mirror."""
        rows: list[dict[str, Any]] = self.summary.get("chips", [])
        return rows

    def __repr__(self) -> str:
        """The most important numbers."""
        shown = [f"{self.application_gb_per_s:.1f} GB/s"]
        if self.latency_cycles is not None:
            shown.insert(0, f"{self.latency_cycles:.1f} cycles")
        return f"<ChipResults {', '.join(shown)}{'' if self.complete else ', stopped'}>"

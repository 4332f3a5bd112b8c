"""Results of a run of a chip."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.summary_results import SummaryResults

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from hostnet.chips.explanation import ChipExplanation
    from hostnet.terminal.progress import ProgressArgument


@dataclass(frozen=True)
class ChipPart:
    """Part of the latency of an operation; of an operation of several lines, of its last line."""

    name: str
    """Name in summary.json."""
    title: str
    """Description of the part."""
    sum_cycles: int
    """Sum over all operations, in cycles. The sums of all parts add up exactly to the total latency."""
    mean_cycles: float
    """Mean per operation, in cycles."""


@dataclass(frozen=True)
class ChipResults(SummaryResults):
    """Results of the last window of a run of a chip, or the sum over the chips of a rack.

    Equal configurations give bit-identical results, except `wall_s`.
    """

    native: _core.ChipRunResult = field(repr=False)
    """Results of the Rust core."""
    wall_s: float
    """Duration of the run, in s."""

    @property
    def latency_cycles(self) -> float | None:
        """Mean latency of an operation, in cycles; None if none has ended."""
        latency = self.summary["latency"]
        return None if latency is None else latency["mean_cycles"]

    @property
    def latency_ns(self) -> float | None:
        """Mean latency of an operation, in ns; None if none has ended."""
        latency = self.summary["latency"]
        return None if latency is None else latency["mean_ns"]

    @cached_property
    def parts(self) -> tuple[ChipPart, ...]:
        """Parts of the latency, in chronological order."""
        rows = self.summary["breakdown"]["parts"]
        return tuple(ChipPart(row["part"], row["title"], row["sum_cycles"], row["mean_cycles"]) for row in rows)

    @property
    def application_gb_per_s(self) -> float:
        """Payload that the chip received and sent, in GB/s; summed over the chips of a rack."""
        return float(self.summary["bandwidth"]["application_gb_per_s"])

    @property
    def noc_gb_per_s(self) -> float:
        """Traffic that entered the network on the chip, with headers and coherence messages, in GB/s."""
        return float(self.summary["noc"]["gb_per_s"])

    @property
    def chips(self) -> list[dict[str, Any]]:
        """Chips of a rack, as in summary.json; empty for a single chip."""
        rows: list[dict[str, Any]] = self.summary.get("chips", [])
        return rows

    def explain(self, *, progress: ProgressArgument = None) -> ChipExplanation:
        """Explains the results as `hostnet explain` does: raises each limit alone, and runs the chip again.

        Raises:
            ConfigError: No operation ends within a window, so there is nothing to compare.
            KeyboardInterrupt: `progress` stopped the runs.
        """
        from hostnet.chips.explanation import explain_summary
        from hostnet.terminal.progress import follow

        with follow(progress) as callback:
            return explain_summary(self.summary, progress=callback)

    def report(self, out: str | PathLike[str] = "chip.html") -> Path:
        """Writes the page of the chip to the file `out` and returns its path; opens nothing.

        Raises:
            OSError: The page cannot be written.
        """
        from pathlib import Path

        from hostnet.files import write_file
        from hostnet.report.chip_page import chip_page

        write_file(Path(out), chip_page(self.summary).encode())
        return Path(out)

    def _repr_html_(self) -> str:
        """Returns what a notebook shows: the limit, and the parts of an operation."""
        from hostnet.report.notebook.alone import chip_block

        return chip_block(self.summary)

    def __repr__(self) -> str:
        """Returns the most important results in one line."""
        shown = [f"{self.application_gb_per_s:.1f} GB/s"]
        if self.latency_cycles is not None:
            shown.insert(0, f"{self.latency_cycles:.1f} cycles")
        return f"<ChipResults {', '.join(shown)}{'' if self.complete else ', stopped'}>"

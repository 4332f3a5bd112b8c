"""Plots of a ledger: published and simulated values by figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet.ledger.archive import summary
from hostnet.ledger.validate import Ledger

if TYPE_CHECKING:
    from hostnet.report.notebook.plots import Plots


def write_plots(folder: Path, ledger: Ledger) -> list[Path]:
    """Plots every figure of a ledger into a folder, and returns the paths.

    Raises:
        OSError: The folder cannot be written.
    """
    from hostnet.report.study_plots import plot_study

    return plot_study(folder, summary(ledger), list(read_traces(ledger)))


def plots_of(ledger: Ledger, names: Sequence[str]) -> Plots:
    """Draws the plots with these names, or every figure.

    Raises:
        ConfigError: There is no such plot.
    """
    from hostnet.report.notebook.plots import drawn
    from hostnet.report.study_plots import study_plots

    return drawn(study_plots(summary(ledger), list(read_traces(ledger))), names)


def read_traces(ledger: Ledger) -> Iterator[dict[str, Any]]:
    """Yields the time series of the study that belong to points that were run."""
    for timeline in ledger.study.timelines:
        outcome = ledger.batch.outcomes.get(timeline.point)
        if outcome is not None and not outcome.skipped:
            steps = outcome.summary.get("power_series") or outcome.summary["series"]
            rows = [row for row in steps if row["time_us"] <= timeline.us]
            yield {"name": timeline.name, "title": timeline.title, "rows": rows}

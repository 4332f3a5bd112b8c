"""Plots of cache contents and hit ratios over time, drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.report.cache_series import DDIO, MISSES, owners, shares
from hostnet.report.style import COLOURS, DASHES, new_figure, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hostnet.report.load import RunFiles
    from hostnet.report.series import ChartSeries


def draw_caches(run: RunFiles) -> Figure:
    """Plots the LLC contents by owner, then the shares of hits, leaks and misses."""
    panels = [("DDIO, % of lines written", group) for group in shares(run.series, DDIO)]
    panels += [("LLC misses, % of reads", group) for group in shares(run.series, MISSES)]
    figure = new_figure(7.2, 2.4 * (1 + len(panels)))
    first, *others = figure.subplots(1 + len(panels), 1, squeeze=False, sharex=True)[:, 0]
    draw_owners(first, owners(run.series), (run.summary.get("llc") or {}).get("mib"))
    for axes, (title, group) in zip(others, panels, strict=True):
        draw_shares(axes, title, group)
    [first, *others][-1].set_xlabel("time, µs")
    return figure


def draw_owners(axes: Axes, series: Sequence[ChartSeries], whole_mib: float | None) -> None:
    """Plots stacked areas by owner, and the size of the LLC."""
    if series:
        axes.stackplot(
            [value.x for value in series[0].values],
            *([value.simulated or 0.0 for value in plotted.values] for plotted in series),
            labels=[plain(plotted.name) for plotted in series],
            colors=[COLOURS[plotted.kind] for plotted in series],
            alpha=0.6,
        )
    if whole_mib is not None:
        axes.axhline(whole_mib, color="#5a636d", linestyle=(0, (4, 3)), linewidth=0.9, label="size of the LLC")
    finish(axes, "What the LLC holds, MiB")


def draw_shares(axes: Axes, title: str, series: Sequence[ChartSeries]) -> None:
    """Plots lines in percent, with gaps where there is no value."""
    for plotted in series:
        values = [float("nan") if value.simulated is None else value.simulated for value in plotted.values]
        axes.plot(
            [value.x for value in plotted.values],
            values,
            linewidth=1.2,
            label=plain(plotted.name),
            color=COLOURS[plotted.kind],
            linestyle=DASHES[plotted.kind],
        )
    finish(axes, title)


def finish(axes: Axes, title: str) -> None:
    """Sets the title, the lower limit and the legend."""
    axes.set_title(title, loc="left")
    axes.set_ylim(bottom=0)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))

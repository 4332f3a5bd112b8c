"""Plot of degradation bars beside stacked bandwidth, drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.report.bars import FILLED, SIDES, by_x
from hostnet.report.style import COLOURS, MARKS, new_figure, plain

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hostnet.report.series import ChartSeries, ReferenceLine

HATCHES = {"a": "", "b": "//", "c": "..", "d": "xx"}
"""Hatches that distinguish bars without colours."""


def draw_degradation(
    title: str,
    x_label: str,
    degradation: Sequence[ChartSeries],
    bandwidth: Sequence[ChartSeries],
    levels: Sequence[ReferenceLine] = (),
    *,
    expected: Sequence[ReferenceLine] = (),
) -> Figure:
    """Plots what `hostnet.report.bars.degradation_card` draws on a page, with the same arguments."""
    figure = new_figure(7.6, 3.0)
    slow, moved = figure.subplots(1, 2)
    draw_grouped(slow, degradation, expected, floor=1.0)
    draw_stacked(moved, bandwidth, levels)
    slow.set(xlabel=plain(x_label), ylabel="degradation, x")
    moved.set(xlabel=plain(x_label), ylabel="memory bandwidth, GB/s")
    figure.suptitle(plain(title), x=0.01, ha="left", fontsize=10)
    handles, labels = moved.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=max(len(labels), 1), fontsize=8)
    return figure


def draw_grouped(
    axes: Axes, series: Sequence[ChartSeries], levels: Sequence[ReferenceLine] = (), *, floor: float = 0.0
) -> None:
    """Plots a bar per series at every x, starting at `floor`; published values are hollow marks."""
    at = by_x(series)
    width = FILLED / max(len(series), 1)
    for place, bars in enumerate(at.values()):
        for number, (plotted, value) in enumerate(bars):
            centre = place + (number - (len(bars) - 1) / 2) * width
            if value.simulated is not None:
                draw_bar(axes, plotted, centre, width, (floor, value.simulated))
            if value.published is not None:
                draw_published(axes, plotted, centre, value.published)
    finish(axes, at, levels)
    axes.set_ylim(bottom=min(floor, axes.get_ylim()[0]) if floor else 0.0)


def draw_stacked(axes: Axes, series: Sequence[ChartSeries], levels: Sequence[ReferenceLine] = ()) -> None:
    """Plots the bars of all series on top of each other at every x; published values are hollow marks."""
    at = by_x(series)
    named: set[str] = set()
    for place, bars in enumerate(at.values()):
        tops = dict.fromkeys(SIDES, 0.0)
        for plotted, value in bars:
            high = tops["simulated"] + (value.simulated or 0.0)
            label = "" if plotted.name in named else plain(plotted.name)
            draw_bar(axes, plotted, place, FILLED * 0.8, (tops["simulated"], high), label)
            named.add(plotted.name)
            tops = {"simulated": high, "published": tops["published"] + (value.published or 0.0)}
            if value.published is not None:
                draw_published(axes, plotted, place, tops["published"])
    finish(axes, at, levels)
    axes.set_ylim(bottom=0)


def draw_bar(
    axes: Axes, plotted: ChartSeries, centre: float, width: float, ends: tuple[float, float], label: str = ""
) -> None:
    """Plots a bar between two values."""
    low, high = ends
    axes.bar(
        centre,
        high - low,
        bottom=low,
        width=width,
        label=label,
        color=COLOURS[plotted.kind],
        alpha=0.78,
        hatch=HATCHES[plotted.kind],
        edgecolor="white",
        linewidth=0.5,
    )


def draw_published(axes: Axes, plotted: ChartSeries, centre: float, value: float) -> None:
    """Plots a published value as a hollow mark."""
    colour = COLOURS[plotted.kind]
    axes.plot([centre], [value], MARKS[plotted.kind], zorder=4, color=colour, markerfacecolor="white", markersize=5)


def finish(axes: Axes, at: Collection[str], levels: Sequence[ReferenceLine]) -> None:
    """Sets the labels along x and adds the reference lines."""
    for level in levels:
        axes.axhline(level.value, color="#5a636d", linestyle=(0, (4, 3)), linewidth=0.9, label=plain(level.name))
    axes.set_xticks(range(len(at)), [plain(name) for name in at])
    axes.grid(axis="x", visible=False)

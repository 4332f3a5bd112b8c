"""Plots of a run for papers and slides, drawn with matplotlib."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from hostnet.files import write_figure
from hostnet.report.cache_plot import draw_caches
from hostnet.report.cache_series import QUANTITIES, owners
from hostnet.report.cluster_plot import draw_cluster_series, draw_goodput, draw_latencies, draw_stages, latency_rows
from hostnet.report.load import Row, RunFiles, load_run
from hostnet.report.parity import EQUAL
from hostnet.report.power_plot import power_plots
from hostnet.report.series import ChartSeries, SeriesPoint, is_parity, is_stacked, plotted_panel, series_of_run, y_title
from hostnet.report.shapes import check_run
from hostnet.report.style import COLOURS, DASHES, MARKS, STYLE, new_figure, plain
from hostnet.server_view import domain_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("png", "svg")

PANELS_PER_ROW = 3

PANEL_INCH = 3.1
"""Height of a panel with its legend, in inches."""

WIDE = 64
"""Ratio of the largest to the smallest x above which the axis is logarithmic."""

TITLE_CHARACTERS = 44
"""Longest line of a panel's title."""

LABEL_CHARACTERS = 30
"""Longest line of a panel's y label."""

TALL = 300
"""Ratio of the largest to the smallest y above which the axis is logarithmic."""

LABELS = 8
"""Maximum number of labels on a logarithmic axis; with more positions, every other one is labelled."""

NEAR = 0.09
"""Smallest distance between two labels, as a share of the axis."""


def plot(directory: Path) -> list[Path]:
    """Draws the plots of a run directory into its folder `plots`, each as PNG and SVG, and returns their paths.

    Raises:
        FileNotFoundError: The directory has no summary.json.
        ConfigError: One of its files is damaged; nothing is drawn.
        OSError: The folder cannot be written.
    """
    import matplotlib as mpl

    run = load_run(directory)
    check_run(run)
    folder = directory / "plots"
    folder.mkdir(exist_ok=True)
    paths = []
    with mpl.rc_context(STYLE):
        for name, draw in plots_of(run).items():
            figure = draw(run)
            for suffix in FORMATS:
                path = folder / f"{name}.{suffix}"
                write_figure(path, figure, dpi=200, metadata={"Date": None} if suffix == "svg" else None)
                paths.append(path)
    return paths


def plots_of(run: RunFiles) -> dict[str, Callable[[RunFiles], Figure]]:
    """Returns the plots that the run has data for, by file name."""
    if run.is_study:
        quadrants = {"quadrants": draw_quadrants} if any(map(is_of_quadrants, run.summary["panels"])) else {}
        return {**quadrants, "panels": draw_panels}
    if run.is_cluster:
        latencies = {"latencies": draw_latencies} if latency_rows(run) else {}
        stages = {"stages": draw_stages} if run.summary.get("stages") else {}
        return {
            "goodput": draw_goodput,
            **latencies,
            **stages,
            **({"series": draw_cluster_series} if run.series else {}),
            **power_plots(run),
        }
    plots: dict[str, Callable[[RunFiles], Figure]] = {"domains": draw_domains}
    if run.series:
        plots["series"] = draw_series
    if owners(run.series):
        plots["caches"] = draw_caches
    return {**plots, **power_plots(run)}


def is_of_quadrants(panel: Row) -> bool:
    """Returns True if a panel shows degradation or bandwidth of a quadrant."""
    return str(panel["figure"]) == "3"


def draw_domains(run: RunFiles) -> Figure:
    """Plots the credits in use of every domain as a share of its capacity."""
    rows = [row for row in domain_table(run.summary).rows if row.get("capacity")]
    figure = new_figure(6.4, 1.0 + 0.32 * len(rows))
    axes = figure.subplots()
    names = [plain(row["label"]) for row in rows]
    shares = [100 * (row["in_use_mean"] or 0.0) / row["capacity"] for row in rows]
    places = list(range(len(rows)))[::-1]
    known = [(row, place) for row, place in zip(rows, places, strict=True) if row["in_use_max"] is not None]
    peaks = [100 * row["in_use_max"] / row["capacity"] for row, _ in known]
    axes.barh(places, shares, color=COLOURS["a"], height=0.62, label="mean")
    if known:
        axes.plot(peaks, [place for _, place in known], "|", color="#1c2126", markersize=11, label="largest")
    axes.set_yticks(places, names)
    axes.set_xlim(0, 104)
    axes.set_xlabel("credits in use, % of capacity")
    axes.set_title(plain(run.summary["name"]), loc="left")
    axes.grid(axis="y", visible=False)
    axes.legend(ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0))
    return figure


def draw_series(run: RunFiles) -> Figure:
    """Plots every quantity over time."""
    quantities = list(dict.fromkeys(row["quantity"] for row in run.series if row["quantity"] not in QUANTITIES))
    figure = new_figure(7.2, 2.4 * len(quantities))
    for axes, quantity in zip(figure.subplots(len(quantities), 1, squeeze=False)[:, 0], quantities, strict=True):
        title, y_label, groups = series_of_run(run.series, quantity)
        for series in (plotted for _, group in groups for plotted in group):
            times = [value.x for value in series.values]
            values = [value.simulated for value in series.values]
            axes.plot(times, values, label=plain(series.name), linewidth=1.2)
        axes.set(xlabel="time, µs", ylabel=y_label or title.lower())
        axes.set_title(title, loc="left")
        axes.set_ylim(bottom=0)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def draw_quadrants(run: RunFiles) -> Figure:
    """Plots degradation beside bandwidth of the four quadrants, as in the publication's figure."""
    panels = [panel for panel in run.summary["panels"] if is_of_quadrants(panel)]
    pairs = [panels[start : start + 2] for start in range(0, len(panels), 2)]
    rows = -(-len(pairs) // 2)
    figure = new_figure(11, 0.4 + 2.7 * rows)
    parts = figure.subfigures(rows, 2, squeeze=False, hspace=0.04, wspace=0.03)
    for part, pair in zip(parts.flat, pairs, strict=False):
        part.suptitle(plain(pair[0]["title"]), fontsize=10)
        for axes, panel in zip(part.subplots(1, 2), pair, strict=False):
            draw_panel(axes, run, panel)
            axes.set_title("", loc="left")
            axes.get_legend().remove()
    handles, labels = legend_of(parts.flat[0].axes[-1])
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def draw_panels(run: RunFiles) -> Figure:
    """Plots the other panels that were reproduced."""
    curves = run.summary["curves"]
    panels = [panel for panel in run.summary["panels"] if not is_of_quadrants(panel) and panel["name"] not in curves]
    rows = max(1, -(-len(panels) // PANELS_PER_ROW))
    figure = new_figure(10.5, PANEL_INCH * rows)
    grid = figure.subplots(rows, PANELS_PER_ROW, squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes, panel in zip(grid.flat, panels, strict=False):
        draw_panel(axes, run, panel)
    return figure


def draw_panel(axes: Axes, run: RunFiles, panel: Row) -> None:
    """Plots a panel: bars for bandwidth, lines for everything else, hollow marks for published values."""
    series, levels = plotted_panel(panel, run.summary["rows"])
    if is_parity(panel):
        draw_parity(axes, panel, series)
        return
    named = not panel["x_label"] and all(len(plotted.values) == 1 for plotted in series)
    if named:
        draw_named(axes, series)
    elif is_stacked(panel):
        draw_bars(axes, series)
    else:
        draw_lines(axes, series)
    for level in levels:
        axes.axhline(level.value, color="#5a636d", linestyle=(0, (4, 3)), linewidth=0.9, label=plain(level.name))
    axes.set(xlabel=plain(panel["x_label"]), ylabel=fill(plain(y_title(panel)), LABEL_CHARACTERS))
    axes.set_title(fill(plain(f"{figure_title(panel)}  {panel['title']}"), TITLE_CHARACTERS), loc="left", fontsize=9)
    if not named:
        set_places(axes, sorted({value.x for plotted in series for value in plotted.values}))
    set_height(axes, series, 1.0 if panel["unit"] == "x" else 0.0)
    has_published = any(value.published is not None for plotted in series for value in plotted.values)
    handles, labels = legend_of(axes, published=has_published)
    axes.legend(
        handles, labels, fontsize=7.5, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.26 if named else -0.2)
    )


def figure_title(panel: Row) -> str:
    """Returns the number of the figure or table of a panel, or its name if it has none."""
    figure = str(panel["figure"])
    kind, number = ("Table", figure.removeprefix("table")) if figure.startswith("table") else ("Fig.", figure)
    return f"{kind} {number}" if number[:1].isdigit() else figure


def set_places(axes: Axes, places: Sequence[float]) -> None:
    """Sets the ticks of x."""
    if places and places[0] > 0 and places[-1] > WIDE * places[0]:
        axes.set_xscale("log", base=2)
        ticks = places if len(places) <= LABELS else places[::2]
        labels = dict(zip(ticks, tick_labels(ticks, math.log2), strict=True))
        axes.set_xticks(places, [labels.get(place, "") for place in places])
        axes.minorticks_off()
    else:
        axes.set_xticks(places, tick_labels(places))


def set_height(axes: Axes, series: Sequence[ChartSeries], base: float) -> None:
    """Sets the limits of y: from `base` or below, or logarithmic if values differ by orders of magnitude."""
    every = [value for plotted in series for value in plotted.values]
    heights = [height for value in every for height in (value.simulated, value.published) if height is not None]
    if heights and min(heights) > 0 and max(heights) > TALL * min(heights):
        axes.set_yscale("log")
        return
    low, high = axes.get_ylim()
    if min([0.0, *heights]) == 0:
        low = max(min(0.95 * base, low), 0.0)
    axes.set_ylim(low, max(high * 1.04, 0.0))


def tick_labels(places: Sequence[float], scale: Callable[[float], float] = float) -> list[str]:
    """Returns the labels of positions on an axis of a scale; empty where one would overlap the previous one."""
    labels, last = [], -math.inf
    for place in places:
        near = scale(place) - last < NEAR * (scale(places[-1]) - scale(places[0]))
        labels.append("" if near else f"{place:g}")
        last = last if near else scale(place)
    return labels


def draw_parity(axes: Axes, panel: Row, series: list[ChartSeries]) -> None:
    """Plots simulated values over published ones, with the line of equality."""
    for plotted in series:
        known = [value for value in plotted.values if value.simulated is not None]
        axes.plot(
            [value.x for value in known],
            [value.simulated or 0.0 for value in known],
            MARKS[plotted.kind],
            color=COLOURS[plotted.kind],
            markersize=4,
            label=plain(plotted.name),
        )
    axes.axline((0, 0), slope=1, color="#5a636d", linestyle=(0, (4, 3)), linewidth=0.9, label=EQUAL)
    axes.set(xlabel=plain(panel["x_label"]), ylabel=fill(plain(y_title(panel)), LABEL_CHARACTERS))
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.set_title(plain(panel["title"]), loc="left", fontsize=9)
    axes.legend(fontsize=7.5)


def legend_of(axes: Axes, *, published: bool = True) -> tuple[list[Any], list[str]]:
    """Returns the entries of a panel's legend; with `published`, one of them explains hollow marks."""
    from matplotlib.lines import Line2D

    handles, labels = axes.get_legend_handles_labels()
    if not published:
        return handles, labels
    mark = Line2D([], [], marker="o", color="#5a636d", markerfacecolor="white", markersize=5, linestyle="none")
    return [*handles, mark], [*labels, "published"]


def draw_lines(axes: Axes, series: list[ChartSeries]) -> None:
    """Plots simulated values as lines, and published ones as hollow marks."""
    for plotted in series:
        known = [value for value in plotted.values if value.simulated is not None]
        axes.errorbar(
            [value.x for value in known],
            [value.simulated or 0.0 for value in known],
            yerr=[value.ci95 or 0.0 for value in known],
            color=COLOURS[plotted.kind],
            linestyle=DASHES[plotted.kind],
            marker=".",
            label=plain(plotted.name),
        )
        for value in plotted.values:
            if value.published is not None and value.published_to is not None:
                draw_span(axes, plotted.kind, value.x, (value.published, value.published_to))
            elif value.published is not None:
                draw_mark(axes, plotted.kind, value, value.published)


def draw_bars(axes: Axes, series: list[ChartSeries]) -> None:
    """Plots simulated values as stacked bars, and published ones as hollow marks at the top of each part."""
    tops: dict[float, float] = {}
    published_tops: dict[float, float] = {}
    for plotted in series:
        axes.bar(
            [value.x for value in plotted.values],
            [value.simulated or 0.0 for value in plotted.values],
            bottom=[tops.get(value.x, 0.0) for value in plotted.values],
            color=COLOURS[plotted.kind],
            alpha=0.78,
            width=0.62,
            label=plain(plotted.name),
        )
        for value in plotted.values:
            tops[value.x] = tops.get(value.x, 0.0) + (value.simulated or 0.0)
            if value.published is not None:
                published_tops[value.x] = published_tops.get(value.x, 0.0) + value.published
                draw_mark(axes, plotted.kind, value, published_tops[value.x])


def draw_named(axes: Axes, series: list[ChartSeries]) -> None:
    """Plots a bar for each series, which has one value, with its name below."""
    for place, plotted in enumerate(series):
        (value,) = plotted.values
        axes.bar(
            [place],
            [value.simulated or 0.0],
            yerr=[value.ci95 or 0.0],
            color=COLOURS[plotted.kind],
            alpha=0.78,
            width=0.5,
        )
        if value.published is not None:
            draw_mark(axes, plotted.kind, replace(value, x=place), value.published)
    axes.set_xticks(range(len(series)), [plain(fill(plotted.name, 14)) for plotted in series])
    axes.set_xlim(-0.7, len(series) - 0.3)
    axes.grid(axis="x", visible=False)


def draw_span(axes: Axes, kind: str, x: float, ends: tuple[float, float]) -> None:
    """Plots a published range."""
    axes.plot([x, x], ends, "_-", color=COLOURS[kind], linewidth=0.9, markersize=6, alpha=0.7, zorder=4)


def draw_mark(axes: Axes, kind: str, value: SeriesPoint, height: float) -> None:
    """Plots a published value, faintly if it is excluded from the score."""
    axes.plot(
        [value.x],
        [height],
        MARKS[kind],
        color=COLOURS[kind],
        markerfacecolor="white",
        markersize=5,
        alpha=0.4 if value.doubtful else 1.0,
        zorder=4,
    )

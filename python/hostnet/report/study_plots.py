"""Plots of a reproduced study: one per figure, and time series of single points."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet.files import write_figure
from hostnet.report.load import Row, RunFiles
from hostnet.report.plot import FORMATS, PANEL_INCH, PANELS_PER_ROW, draw_panel
from hostnet.report.style import COLOURS, STYLE, new_figure, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NUMBER = re.compile(r"fig\d+")

Trace = Mapping[str, Any]
"""A time series to plot: `name`, `title`, and its `rows`."""


def plot_study(folder: Path, summary: dict[str, Any], traces: Sequence[Trace]) -> list[Path]:
    """Plots the panels of a study by figure, and its time series, and returns the paths.

    Raises:
        OSError: The folder cannot be written.
    """
    import matplotlib as mpl

    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        return [path for name, draw in study_plots(summary, traces).items() for path in save(folder, name, draw())]


def study_plots(summary: dict[str, Any], traces: Sequence[Trace]) -> dict[str, Callable[[], Figure]]:
    """Returns the plots of a study by file name."""
    run = RunFiles(Path(), summary, {})
    figures = {name: partial(draw_figure, run, panels) for name, panels in figures_of(summary["panels"]).items()}
    drawn = {
        trace["name"]: partial(draw_power_trace if "power_w" in trace["rows"][0] else draw_trace, trace)
        for trace in traces
    }
    return {**figures, **drawn}


def figures_of(panels: Sequence[Row]) -> dict[str, list[Row]]:
    """Returns the panels by figure (`fig03`); those without a figure by their own name."""
    figures: dict[str, list[Row]] = {}
    for panel in panels:
        number = NUMBER.match(str(panel["name"]))
        figures.setdefault(number[0] if number else str(panel["name"]), []).append(panel)
    return figures


def save(folder: Path, name: str, figure: Figure) -> list[Path]:
    """Writes a figure in every format."""
    paths = [folder / f"{name}.{suffix}" for suffix in FORMATS]
    for path in paths:
        write_figure(path, figure, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
    return paths


def draw_figure(run: RunFiles, panels: Sequence[Row]) -> Figure:
    """Plots the panels of one figure."""
    columns = min(len(panels), PANELS_PER_ROW)
    rows = -(-len(panels) // columns)
    figure = new_figure(3.7 * columns, PANEL_INCH * rows)
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes, panel in zip(grid.flat, panels, strict=False):
        draw_panel(axes, run, panel)
    return figure


def draw_trace(trace: Trace) -> Figure:
    """Plots signals, bandwidth, buffer, drops and level over time."""
    rows = [{**row, "buffer_kb": row["nic_buffer_bytes"] / 1000} for row in trace["rows"]]
    traced = [(y, columns) for y, columns in TRACED if is_worth_drawing(rows, next(iter(columns)))]
    figure = new_figure(7.2, 1.5 * len(traced) + 0.6)
    places = figure.subplots(len(traced), 1, sharex=True, squeeze=False)[:, 0]
    times = [row["time_us"] for row in rows]
    for axes, (y, columns) in zip(places, traced, strict=True):
        draw_steps(axes, times, rows, columns, y)
    calm = "" if is_worth_drawing(rows, "nic_dropped") else ", no drops"
    places[0].set_title(plain(f"{title_of(trace)}{calm}"), loc="left")
    places[-1].set_xlabel("time, µs")
    figure.align_ylabels(places)
    return figure


def title_of(trace: Trace) -> str:
    """Returns the title of a plot over time, with the number of its figure."""
    title = str(trace["title"])
    if title.startswith("Figure") or not NUMBER.match(str(trace["name"])):
        return title
    return f"Fig. {trace['name'][3:].split('_')[0].lstrip('0')}  {title}"


def draw_power_trace(trace: Trace) -> Figure:
    """Plots the packets of a server, and the state and power of its cores, over time."""
    from hostnet.report.power_plot import draw_cores

    return draw_cores(trace["rows"], title_of(trace))


def is_worth_drawing(rows: Sequence[Trace], column: str) -> bool:
    """Returns True if a column has values; drops and levels that are always 0 are omitted."""
    values = [row.get(column) for row in rows]
    return all(value is not None for value in values) and (column not in SELDOM or any(values))


SELDOM = ("nic_dropped", "level")
"""Columns that are omitted if they are always 0."""

TRACED: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("I_S, lines", {"iio_write_occupancy": "mean of a step", "occupancy_smoothed_lines": "smoothed by the control"}),
    ("B_S, Gbps", {"iio_write_gbps": "mean of a step", "bandwidth_smoothed_gbps": "smoothed by the control"}),
    ("NIC buffer, kB", {"buffer_kb": ""}),
    ("drops, packets", {"nic_dropped": ""}),
    ("level", {"level": ""}),
)
"""Plots of a trace from top to bottom: columns and their names, which are empty for a single column."""


def draw_steps(axes: Axes, times: Sequence[float], rows: Sequence[Trace], columns: Mapping[str, str], y: str) -> None:
    """Plots some columns over time, without those that lack values."""
    from matplotlib.ticker import MaxNLocator

    for colour, (column, name) in zip(COLOURS.values(), columns.items(), strict=False):
        values = [row.get(column) for row in rows]
        if all(value is not None for value in values):
            known = [float(value or 0.0) for value in values]
            axes.plot(times, known, label=name, color=colour, linewidth=1.1, drawstyle="steps-pre")
    axes.set_ylabel(y)
    axes.set_ylim(0, max(1.06 * axes.get_ylim()[1], 1.0))
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.set_xlim(0, times[-1] if times else 1)
    if len(columns) > 1 and len(axes.lines) > 1:
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.97), ncols=2, fontsize=7.5)

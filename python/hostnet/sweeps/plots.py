"""Plots of a sweep: the results of every workload over the swept parameters.

The first swept quantity is the x axis, each value of the next parameter is a line, and each value of the one after it
is a panel. Each combination of further parameters is a file. A parameter with a single value is ignored. If all
parameters are names, the first one is the x axis, with bars side by side: no line leads from one name to another.
"""

from __future__ import annotations

import re
from itertools import islice, product
from math import prod
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.files import read_table, write_figure
from hostnet.report.style import COLOURS, DASHES, MARKS, STYLE, label_decades, new_figure, plain
from hostnet.sweeps.policies import draw_policies
from hostnet.sweeps.scale import Scale, evenly_spaced, scale_of
from hostnet.sweeps.series import columns_of, ordered_axes, sweeps_of
from hostnet.terminal.layout import short_paths

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hostnet.sweeps.axis import Axis
    from hostnet.sweeps.series import Choice, Metric, Sweep

    Known = tuple[float, float, float | None]
    """Position, value, and half-width of its confidence interval."""

FILES_MAX = 24
"""Maximum number of combinations of the fourth and further parameters that are plotted."""

PANELS_MAX = 24
"""Maximum number of values of the third parameter that are plotted."""

LINES_MAX = 64
"""Maximum number of values of the second parameter that are plotted."""

PANELS_PER_ROW = 3

LEGEND_MAX = 16
"""Maximum number of lines in the legend."""

MARKS_MAX = 24
"""Maximum number of values of a line with marks, which would otherwise hide it."""

WHISKERS_MAX = 200
"""Maximum number of values of a line with whiskers, which would otherwise form a band and be slow to draw."""

BARS_MAX = 8
"""Maximum number of bars at a name; more values are points."""

FILLED = 0.76
"""Largest share of the distance between two names that their bars fill."""

BAR_WIDTH_MAX = 0.35
"""Largest width of a bar, as a share of the distance between two names."""

HEADROOM = 1.04
"""Factor of the upper limit over the largest value."""

KINDS = tuple(COLOURS)


def draw_sweep(table: Path, axes: Sequence[Axis], folder: Path) -> str | None:
    """Draws the plots of a table into a folder. Returns a note if not everything was plotted.

    Raises:
        OSError: A plot cannot be written.
    """
    import matplotlib as mpl

    folder.mkdir(exist_ok=True)
    drawn = ordered_axes(axes)
    with mpl.rc_context(STYLE):
        for stem, figure in sweep_figures(table, drawn):
            write_figure(folder / f"{stem}.png", figure, dpi=150)
    combinations = prod(len(axis.values) for axis in drawn[3:])
    limits = ((1, LINES_MAX), (2, PANELS_MAX))
    hidden = combinations > FILES_MAX or any(len(drawn) > at and len(drawn[at].values) > most for at, most in limits)
    return "the plots show a part of the combinations only; the tables have all" if hidden else None


def sweep_figures(table: Path, axes: Sequence[Axis]) -> Iterator[tuple[str, Figure]]:
    """Yields the plots of a table with the stems of their file names."""
    drawn = ordered_axes(axes)
    for name, sweep in zip(*_named(read_sweeps(table, drawn)), strict=True):
        yield from figures_of(name, sweep)
    for name, figure in draw_policies(table, drawn):
        yield f"{file_stem(name)}-policies", figure


def draw_directory(directory: Path) -> tuple[list[Path], str | None]:
    """Redraws the plots and the page of a sweep's directory. Returns their paths, and a note if some are left out.

    Raises:
        ConfigError: The sweep is not complete, or its files are damaged.
        OSError: A file cannot be read or written.
    """
    from hostnet.report.load import CONFIG_FILES
    from hostnet.sweeps.page import SweepPage, read_page_table, write_sweep_page
    from hostnet.sweeps.sweep_dir import damaged, read_manifest

    manifest = read_manifest(directory)
    if manifest is None:
        raise ConfigError("malformed-file", f"{directory}: its sweep is not complete; continue it with --resume")
    axes = _axes_in(directory, manifest)
    table = directory / "sweep.parquet"
    note = draw_sweep(table, axes, directory / "plots")
    config = next((name for name in CONFIG_FILES if (directory / name).is_file()), CONFIG_FILES[0])
    try:
        page = write_sweep_page(directory, SweepPage(manifest, axes, read_page_table(table, axes), config=config))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise damaged(directory) from None
    return [*sorted((directory / "plots").glob("*.png")), page], note


def _axes_in(directory: Path, manifest: dict[str, Any]) -> tuple[Axis, ...]:
    """Returns the axes of a sweep from its manifest, checked against the table.

    Raises:
        ConfigError: The manifest is damaged.
    """
    from hostnet.sweeps.axis import axes_of
    from hostnet.sweeps.sweep_dir import damaged

    try:
        axes = axes_of([f"{axis['path']}={','.join(axis['values'])}" for axis in manifest["over"]])
    except (KeyError, TypeError, ConfigError):
        raise damaged(directory) from None
    if not all(_has(directory / "sweep.parquet", axis) for axis in axes):
        raise damaged(directory)
    return axes


def _has(table: Path, axis: Axis) -> bool:
    """Returns True if a table has a column of an axis, without other values."""
    import pyarrow.parquet as pq

    if axis.path not in pq.read_schema(table).names:
        return False
    return set(read_table(table, [axis.path])[axis.path].to_pylist()) <= set(axis.columns)


def read_sweeps(table: Path, axes: tuple[Axis, ...]) -> list[Sweep]:
    """Reads the values of every workload from a table, in readable units."""
    import pyarrow.parquet as pq

    content = pq.read_table(table, columns=columns_of(pq.read_schema(table).names, axes))
    return [sweep.in_readable_units() for sweep in sweeps_of(content, axes)]


def figures_of(name: str, sweep: Sweep) -> Iterable[tuple[str, Figure]]:
    """Yields the plots of a workload with the stems of their file names."""
    if len(sweep.axes) <= 2:
        yield name, draw_pair(sweep)
        return
    further = sweep.axes[3:]
    for number, rest in enumerate(islice(product(*(range(len(axis.values)) for axis in further)), FILES_MAX)):
        tail = f"-{number + 1}" if further else ""
        for metric in sweep.metrics:
            yield f"{name}-{metric.name}{tail}", draw_panels(sweep, metric, rest)


def draw_pair(sweep: Sweep) -> Figure:
    """Plots all metrics side by side."""
    metrics = sweep.metrics
    figure = new_figure(4.8 * len(metrics), 3.6)
    for axes, metric in zip(figure.subplots(1, len(metrics), squeeze=False)[0], metrics, strict=True):
        draw_lines(axes, sweep, metric, ())
        axes.set_ylabel(metric.label)
        set_height(axes, metric)
    figure.suptitle(plain(sweep.workload), x=0.01, ha="left", fontsize=10)
    add_legend(figure, sweep)
    return figure


def draw_panels(sweep: Sweep, metric: Metric, rest: Choice) -> Figure:
    """Plots a panel per value of the third parameter, all with the same y axis."""
    third = sweep.axes[2]
    shown = evenly_spaced(len(third.values), PANELS_MAX)
    columns = 2 if len(shown) == 4 else min(len(shown), PANELS_PER_ROW)
    rows = -(-len(shown) // columns)
    figure = new_figure(2.0 + 3.2 * columns, 0.7 + 2.6 * rows)
    grid = figure.subplots(rows, columns, squeeze=False, sharey=True)
    for axes in grid.flat[len(shown) :]:
        axes.set_axis_off()
    for axes, index in zip(grid.flat, shown, strict=False):
        draw_lines(axes, sweep, metric, (index, *rest))
        axes.set_title(plain(f"{names_of(sweep)[2]} = {third.values[index].name}"), loc="left", fontsize=8)
    for axes in grid[:, 0]:
        axes.set_ylabel(metric.label)
    set_height(grid[0, 0], metric)
    named = zip(names_of(sweep)[3:], sweep.axes[3:], rest, strict=True)
    further = [f"{name} = {axis.values[index].name}" for name, axis, index in named]
    figure.suptitle(plain(", ".join([sweep.workload, *further])), x=0.01, ha="left", fontsize=10)
    add_legend(figure, sweep)
    return figure


def draw_lines(axes: Axes, sweep: Sweep, metric: Metric, rest: Choice) -> None:
    """Plots the values of the second parameter over the first one: as lines over a quantity, beside names as bars."""
    scale = scale_of(sweep.axes[0], names_of(sweep)[0])
    lines = evenly_spaced(line_count(sweep), LINES_MAX)
    for place, line in enumerate(lines):
        choices = [(index, *((line,) if len(sweep.axes) > 1 else ()), *rest) for index in scale.order]
        dots = [(place, *sweep.dot(choice, metric)) for place, choice in zip(scale.places, choices, strict=True)]
        known = [(place, value, ci95) for place, value, ci95 in dots if value is not None]
        look = line_style(line, line_count(sweep))
        if scale.numeric:
            draw_line(axes, known, look)
        else:
            width = min(FILLED / len(lines), BAR_WIDTH_MAX)
            shift = width * (place - (len(lines) - 1) / 2)
            draw_at_names(axes, known, look, shift, width, bars=len(lines) <= BARS_MAX)
    set_scale(axes, scale)
    if not scale.numeric:
        axes.set_xlim(-0.5, len(scale.places) - 0.5)
        axes.grid(axis="x", visible=False)


def draw_line(axes: Axes, known: Sequence[Known], look: dict[str, Any]) -> None:
    """Plots a line with marks and whiskers, unless there are too many."""
    places, values = [place for place, _, _ in known], [value for _, value, _ in known]
    axes.plot(places, values, **look | ({"marker": ""} if len(places) > MARKS_MAX else {}))
    if len(places) <= WHISKERS_MAX and any(ci95 for _, _, ci95 in known):
        spread = [ci95 or 0.0 for _, _, ci95 in known]
        axes.errorbar(places, values, yerr=spread, fmt="none", ecolor=look["color"], elinewidth=0.8)


def draw_at_names(
    axes: Axes, known: Sequence[Known], look: dict[str, Any], shift: float, width: float, *, bars: bool
) -> None:
    """Plots a bar, or a point with its whisker, beside each name."""
    places, values = [place + shift for place, _, _ in known], [value for _, value, _ in known]
    spread = [ci95 or 0.0 for _, _, ci95 in known]
    if bars:
        axes.bar(places, values, 0.92 * width, color=look["color"], alpha=0.85)
    else:
        axes.plot(places, values, linestyle="", marker=look["marker"], color=look["color"], markersize=3)
    if any(spread):
        axes.errorbar(places, values, yerr=spread, fmt="none", ecolor="#1c2126", elinewidth=0.8)


def names_of(sweep: Sweep) -> list[str]:
    """Returns the names of the parameters: the part of their paths that differs."""
    return short_paths([axis.path for axis in sweep.axes])


def set_height(axes: Axes, metric: Metric) -> None:
    """Sets the y axis to start at 0, or to logarithmic for values that differ by a factor of ten or more."""
    low, high = axes.dataLim.intervaly
    # Bars begin at 0, which a logarithmic axis does not have.
    if metric.logarithmic and 0 < 10 * low <= high:
        axes.set_yscale("log")
        label_decades(axes)
    else:
        axes.set_ylim(0, HEADROOM * axes.get_ylim()[1])


def set_scale(axes: Axes, scale: Scale) -> None:
    """Labels an x axis with the swept values."""
    from matplotlib.ticker import NullFormatter, NullLocator

    if scale.base:
        axes.set_xscale("log", base=scale.base)
    axes.set_xticks(scale.ticks, [plain(label) for label in scale.labels])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    if scale.slanted:
        axes.tick_params(axis="x", labelrotation=30)
        for label in axes.get_xticklabels():
            label.set_horizontalalignment("right")
            label.set_rotation_mode("anchor")
    axes.set_xlabel(plain(scale.title))


def add_legend(figure: Figure, sweep: Sweep) -> None:
    """Adds a legend of the lines on the right."""
    if len(sweep.axes) < 2:
        return
    from matplotlib.lines import Line2D

    second = sweep.axes[1]
    named = evenly_spaced(len(second.values), LEGEND_MAX)
    looks = [line_style(index, len(second.values)) for index in named]
    if not scale_of(sweep.axes[0]).numeric:
        looks = [{**look, "linestyle": "", "marker": "s", "markersize": 7} for look in looks]
    figure.legend(
        [Line2D([], [], **look) for look in looks],
        [plain(second.values[index].name) for index in named],
        title=plain(names_of(sweep)[1]),
        loc="outside right upper",
        fontsize=8,
        title_fontsize=8,
    )


def line_style(line: int, lines: int) -> dict[str, Any]:
    """Returns colour, dash and mark of a line; many lines go from dark to light."""
    common = {"markersize": 4, "linewidth": 1.4}
    if lines <= len(KINDS):
        kind = KINDS[line]
        return {"color": COLOURS[kind], "linestyle": DASHES[kind], "marker": MARKS[kind], **common}
    import matplotlib as mpl

    marks = list(MARKS.values())
    return {"color": mpl.colormaps["viridis"](0.9 * line / (lines - 1)), "marker": marks[line % len(marks)], **common}


def line_count(sweep: Sweep) -> int:
    """Returns the number of lines in a panel."""
    return len(sweep.axes[1].values) if len(sweep.axes) > 1 else 1


def _named(sweeps: list[Sweep]) -> tuple[list[str], list[Sweep]]:
    """Returns distinct file names for the workloads."""
    names: list[str] = []
    for sweep in sweeps:
        stem = file_stem(sweep.workload)
        names.append(stem if stem.lower() not in map(str.lower, names) else f"{stem}-{len(names) + 1}")
    return names, sweeps


def file_stem(name: str) -> str:
    """Returns a name without characters that are invalid in file names."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "workload"

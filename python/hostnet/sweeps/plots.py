"""Plots of a sweep: the results of every workload over the swept parameters.

The first swept parameter is the x axis, each value of the second one is a line, and each value of the third one is a
panel. Each combination of further parameters is a file. A parameter with a single value is ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice, product
from math import prod
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.files import read_table, write_figure
from hostnet.report.style import COLOURS, DASHES, MARKS, STYLE, new_figure, plain
from hostnet.report.subjects import subject_of
from hostnet.running.seeds import mean_of
from hostnet.sweeps.policies import draw_policies
from hostnet.sweeps.scale import Scale, scale_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hostnet.sweeps.axis import Axis

    Choice = tuple[int, ...]
    Dot = tuple[float | None, float | None]

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

HEADROOM = 1.04
"""Factor of the upper limit over the largest value."""

KINDS = tuple(COLOURS)


@dataclass(frozen=True)
class Metric:
    """Metric of a y axis; `ci95` is the column of its confidence interval, empty without one."""

    name: str
    column: str
    ci95: str
    label: str
    always: bool = True
    """True if it is plotted even without any value."""
    logarithmic: bool = False
    """True if the axis is logarithmic for values far apart."""


METRICS = (
    Metric("throughput", "throughput_gb_per_s", "throughput_ci95", "throughput, GB/s"),
    Metric("latency", "latency_mean_ns", "latency_ci95", "latency of a line, ns"),
    Metric("operations", "operations_per_s", "operations_ci95", "operations per s", always=False),
    Metric("leaks", "ddio_leak_ratio", "", "leaked lines / lines written", always=False),
)
"""Metrics of workloads."""

METRICS_OF_HOSTS = (
    Metric("goodput", "goodput_gbps", "goodput_ci95", "goodput, Gbps"),
    Metric("p99", "p99_us", "", "P99 of requests, µs", always=False),
    Metric("drops", "nic_drop_percent", "", "packets that NICs drop, %", always=False),
    Metric("power", "cores_w", "", "power of cores, W", always=False),
    Metric("iteration", "iteration_us", "", "time of an iteration, µs", always=False, logarithmic=True),
)
"""Metrics of traffic classes."""

METRICS_OF_CHIPS = (
    Metric("payload", "application_gb_per_s", "", "payload in and out, GB/s"),
    Metric("latency", "latency_mean_cycles", "", "latency of an operation, cycles"),
    Metric("noc", "noc_gb_per_s", "", "on the network on the chip, GB/s"),
)
"""Metrics of chips."""

MEASURED = {"workload": METRICS, "class": METRICS_OF_HOSTS, "op": METRICS_OF_CHIPS}
"""Metrics by subject of the rows."""


@dataclass(frozen=True)
class Sweep:
    """Results of a workload, or a traffic class, for every combination of the plotted parameters."""

    workload: str
    axes: tuple[Axis, ...]
    dots: dict[tuple[Choice, str], Dot]
    """Value and half-width of its confidence interval, by combination and column."""
    measured: tuple[Metric, ...] = METRICS
    """Metrics that may be plotted."""

    def dot(self, choice: Choice, metric: Metric) -> Dot:
        """Returns a value; None if it is missing."""
        return self.dots.get((choice, metric.column), (None, None))

    @property
    def metrics(self) -> list[Metric]:
        """Metrics that are plotted."""
        known = {column for (_, column), (value, _) in self.dots.items() if value is not None}
        return [metric for metric in self.measured if metric.always or metric.column in known]


def draw_sweep(table: Path, axes: Sequence[Axis], folder: Path) -> str | None:
    """Draws the plots of a table into a folder. Returns a note if not everything was plotted.

    Raises:
        OSError: A plot cannot be written.
    """
    import matplotlib as mpl

    folder.mkdir(exist_ok=True)
    drawn = plotted_axes(axes)
    with mpl.rc_context(STYLE):
        for stem, figure in sweep_figures(table, drawn):
            write_figure(folder / f"{stem}.png", figure, dpi=150)
    combinations = prod(len(axis.values) for axis in drawn[3:])
    limits = ((1, LINES_MAX), (2, PANELS_MAX))
    hidden = combinations > FILES_MAX or any(len(drawn) > at and len(drawn[at].values) > most for at, most in limits)
    return "the plots show a part of the combinations only; the tables have all" if hidden else None


def sweep_figures(table: Path, axes: Sequence[Axis]) -> Iterator[tuple[str, Figure]]:
    """Yields the plots of a table with the stems of their file names."""
    drawn = plotted_axes(axes)
    for name, sweep in zip(*_named(read_sweeps(table, drawn)), strict=True):
        yield from figures_of(name, sweep)
    for name, figure in draw_policies(table, drawn):
        yield f"{file_stem(name)}-policies", figure


def plotted_axes(axes: Sequence[Axis]) -> tuple[Axis, ...]:
    """Returns the parameters with several values; the first one if there are none."""
    return tuple(axis for axis in axes if len(axis.values) > 1) or tuple(axes[:1])


def draw_directory(directory: Path) -> tuple[list[Path], str | None]:
    """Redraws the plots of a sweep's directory. Returns their paths, and a note if not everything was plotted.

    Raises:
        ConfigError: The sweep is not complete, or its files are damaged.
        OSError: A file cannot be read or written.
    """
    from hostnet.sweeps.sweep_dir import read_manifest

    manifest = read_manifest(directory)
    if manifest is None:
        raise ConfigError("malformed-file", f"{directory}: its sweep is not complete; continue it with --resume")
    note = draw_sweep(directory / "sweep.parquet", _axes_in(directory, manifest), directory / "plots")
    return sorted((directory / "plots").glob("*.png")), note


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
    """Reads the values of every workload, in the order of the table; several seeds become their mean."""
    import pyarrow.parquet as pq

    subject = subject_of(pq.read_schema(table).names)
    metrics = MEASURED[subject]
    columns = [column for metric in metrics for column in (metric.column, metric.ci95) if column]
    content = pq.read_table(table, columns=[subject, *(axis.path for axis in axes), *columns]).to_pydict()
    places = [{value: index for index, value in enumerate(axis.columns)} for axis in axes]
    chosen = [[place[value] for value in content[axis.path]] for axis, place in zip(axes, places, strict=True)]
    found: dict[str, dict[tuple[Choice, str], list[Dot]]] = {}
    for row, (workload, *choice) in enumerate(zip(content[subject], *chosen, strict=True)):
        of_workload = found.setdefault(workload, {})
        for metric in metrics:
            dot = (content[metric.column][row], content[metric.ci95][row] if metric.ci95 else None)
            of_workload.setdefault((tuple(choice), metric.column), []).append(dot)
    return [
        Sweep(workload, axes, {key: _mean(dots) for key, dots in of_workload.items()}, metrics)
        for workload, of_workload in found.items()
    ]


def _mean(dots: Sequence[Dot]) -> Dot:
    """Returns a single value with its own interval, or the mean over several seeds with its interval."""
    if len(dots) == 1:
        return dots[0]
    mean = mean_of([value for value, _ in dots])
    return mean["mean"], mean["ci95"]


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
        axes.set_title(plain(f"{third.path} = {third.values[index].name}"), loc="left", fontsize=8)
    for axes in grid[:, 0]:
        axes.set_ylabel(metric.label)
    set_height(grid[0, 0], metric)
    further = [f"{axis.path} = {axis.values[index].name}" for axis, index in zip(sweep.axes[3:], rest, strict=True)]
    figure.suptitle(plain(", ".join([sweep.workload, *further])), x=0.01, ha="left", fontsize=10)
    add_legend(figure, sweep)
    return figure


def draw_lines(axes: Axes, sweep: Sweep, metric: Metric, rest: Choice) -> None:
    """Plots a line per value of the second parameter."""
    scale = scale_of(sweep.axes[0])
    for line in evenly_spaced(line_count(sweep), LINES_MAX):
        choices = [(index, *((line,) if len(sweep.axes) > 1 else ()), *rest) for index in scale.order]
        dots = [(place, *sweep.dot(choice, metric)) for place, choice in zip(scale.places, choices, strict=True)]
        known = [(place, value, ci95) for place, value, ci95 in dots if value is not None]
        places, values = [place for place, _, _ in known], [value for _, value, _ in known]
        look = line_style(line, line_count(sweep)) | ({"marker": ""} if len(places) > MARKS_MAX else {})
        axes.plot(places, values, **look)
        if len(places) <= WHISKERS_MAX and any(ci95 for _, _, ci95 in known):
            spread = [ci95 or 0.0 for _, _, ci95 in known]
            axes.errorbar(places, values, yerr=spread, fmt="none", ecolor=look["color"], elinewidth=0.8)
    set_scale(axes, scale)


def set_height(axes: Axes, metric: Metric) -> None:
    """Sets the y axis to start at 0, or to logarithmic for values that differ by a factor of ten or more."""
    low, high = axes.dataLim.intervaly
    if metric.logarithmic and 0 < 10 * low <= high:
        axes.set_yscale("log")
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
    figure.legend(
        [Line2D([], [], **look) for look in looks],
        [plain(second.values[index].name) for index in named],
        title=plain(second.path),
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


def evenly_spaced(count: int, most: int) -> list[int]:
    """Returns all indices below `count`, or `most` of them, evenly spaced from the first to the last."""
    if count <= most:
        return list(range(count))
    return [round(step * (count - 1) / (most - 1)) for step in range(most)]


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

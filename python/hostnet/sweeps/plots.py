"""Pictures of a sweep: what every workload did over what was swept.

The first swept parameter is on the x axis, the second one is a line per value, the third one a panel per value.
Further ones are a file per combination. A parameter with a single value takes no part.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice, product
from math import prod
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.files import read_table, write_figure
from hostnet.report.looks import COLOURS, DASHES, MARKS, STYLE, new_figure, plain
from hostnet.report.subjects import subject_of
from hostnet.running.seeds import mean_of
from hostnet.sweeps.policies import draw_policies
from hostnet.sweeps.scale import Scale, scale_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hostnet.sweeps.axis import Axis

    Choice = tuple[int, ...]
    Dot = tuple[float | None, float | None]

FILES_MAX = 24
"""More combinations of a fourth parameter and further ones are not drawn."""

PANELS_MAX = 24
"""More values of a third parameter are not drawn."""

LINES_MAX = 64
"""Of more values of a second parameter only some are drawn."""

PANELS_PER_ROW = 3

LEGEND_MAX = 16
"""Of more lines only some are named."""

MARKS_MAX = 24
"""Lines with more values have no marks, which would hide them."""

WHISKERS_MAX = 200
"""Lines with more values have no whiskers, which would be a band that takes long to draw."""

HEADROOM = 1.04
"""How far y axes reach beyond what is drawn."""

KINDS = tuple(COLOURS)


@dataclass(frozen=True)
class Metric:
    """What is on a y axis; `ci95` is the column of its confidence interval, empty without one."""

    name: str
    column: str
    ci95: str
    label: str
    always: bool = True
    """Whether it is drawn where no point has a value."""
    logarithmic: bool = False
    """Whether its axis is, where values are far apart."""


METRICS = (
    Metric("throughput", "throughput_gb_per_s", "throughput_ci95", "throughput, GB/s"),
    Metric("latency", "latency_mean_ns", "latency_ci95", "latency of a line, ns"),
    Metric("operations", "operations_per_s", "operations_ci95", "operations per s", always=False),
    Metric("leaks", "ddio_leak_ratio", "", "leaked lines / lines written", always=False),
)
"""Of workloads."""

METRICS_OF_HOSTS = (
    Metric("goodput", "goodput_gbps", "goodput_ci95", "goodput, Gbps"),
    Metric("p99", "p99_us", "", "P99 of requests, µs", always=False),
    Metric("drops", "nic_drop_percent", "", "packets that NICs drop, %", always=False),
    Metric("power", "cores_w", "", "power of cores, W", always=False),
    Metric("iteration", "iteration_us", "", "time of an iteration, µs", always=False, logarithmic=True),
)
"""Of classes of traffic."""

METRICS_OF_CHIPS = (
    Metric("payload", "application_gb_per_s", "", "payload in and out, GB/s"),
    Metric("latency", "latency_mean_cycles", "", "latency of an operation, cycles"),
    Metric("noc", "noc_gb_per_s", "", "on the network on the chip, GB/s"),
)
"""Of chips."""

MEASURED = {"workload": METRICS, "class": METRICS_OF_HOSTS, "op": METRICS_OF_CHIPS}
"""What is drawn, by what the rows are of."""


@dataclass(frozen=True)
class Sweep:
    """What a workload, or a class of traffic, did at every combination of the parameters that are drawn."""

    workload: str
    axes: tuple[Axis, ...]
    dots: dict[tuple[Choice, str], Dot]
    """Value and half width of its confidence interval, by combination and column."""
    measured: tuple[Metric, ...] = METRICS
    """What there may be to draw."""

    def dot(self, choice: Choice, metric: Metric) -> Dot:
        """A value; none where there is nothing to say."""
        return self.dots.get((choice, metric.column), (None, None))

    @property
    def metrics(self) -> list[Metric]:
        """What is drawn of it."""
        known = {column for (_, column), (value, _) in self.dots.items() if value is not None}
        return [metric for metric in self.measured if metric.always or metric.column in known]


def draw_sweep(table: Path, axes: Sequence[Axis], folder: Path) -> str | None:
    """Draws the table of workloads into a folder. Returns a note if not everything was drawn.

    Raises:
        OSError: They cannot be written.
    """
    import matplotlib as mpl

    folder.mkdir(exist_ok=True)
    drawn = tuple(axis for axis in axes if len(axis.values) > 1) or tuple(axes[:1])
    with mpl.rc_context(STYLE):
        for name, sweep in zip(*_named(read_sweeps(table, drawn)), strict=True):
            for stem, figure in figures_of(name, sweep):
                write_figure(folder / f"{stem}.png", figure, dpi=150)
        for stem, figure in draw_policies(table, drawn):
            write_figure(folder / f"{stem_of(stem)}-policies.png", figure, dpi=150)
    combinations = prod(len(axis.values) for axis in drawn[3:])
    limits = ((1, LINES_MAX), (2, PANELS_MAX))
    hidden = combinations > FILES_MAX or any(len(drawn) > at and len(drawn[at].values) > most for at, most in limits)
    return "the plots show a part of the combinations only; the tables have all" if hidden else None


def draw_directory(directory: Path) -> tuple[list[Path], str | None]:
    """Draws the plots of the directory of a sweep again. Returns their paths, and a note if not everything was drawn.

    Raises:
        ConfigError: Its sweep is not complete, or its files are damaged.
        OSError: They cannot be read, or the plots not written.
    """
    from hostnet.sweeps.place import read_manifest

    manifest = read_manifest(directory)
    if manifest is None:
        raise ConfigError("malformed-file", f"{directory}: its sweep is not complete; continue it with --resume")
    note = draw_sweep(directory / "sweep.parquet", _axes_in(directory, manifest), directory / "plots")
    return sorted((directory / "plots").glob("*.png")), note


def _axes_in(directory: Path, manifest: dict[str, Any]) -> tuple[Axis, ...]:
    """What was swept, as the manifest says and the table has it.

    Raises:
        ConfigError: The manifest says something else, or nothing.
    """
    from hostnet.sweeps.axis import axes_of
    from hostnet.sweeps.place import damaged

    try:
        axes = axes_of([f"{axis['path']}={','.join(axis['values'])}" for axis in manifest["over"]])
    except (KeyError, TypeError, ConfigError):
        raise damaged(directory) from None
    if not all(_has(directory / "sweep.parquet", axis) for axis in axes):
        raise damaged(directory)
    return axes


def _has(table: Path, axis: Axis) -> bool:
    """Whether a table has a column of an axis with no other values."""
    import pyarrow.parquet as pq

    if axis.path not in pq.read_schema(table).names:
        return False
    return set(read_table(table, [axis.path])[axis.path].to_pylist()) <= set(axis.columns)


def read_sweeps(table: Path, axes: tuple[Axis, ...]) -> list[Sweep]:
    """The values of every workload, in the order of the table; several seeds become their mean."""
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
    """One run has the confidence interval of its own noise; several seeds have that of their mean."""
    if len(dots) == 1:
        return dots[0]
    mean = mean_of([value for value, _ in dots])
    return mean["mean"], mean["ci95"]


def figures_of(name: str, sweep: Sweep) -> Iterable[tuple[str, Figure]]:
    """The pictures of a workload, by the stem of their file names."""
    if len(sweep.axes) <= 2:
        yield name, draw_pair(sweep)
        return
    further = sweep.axes[3:]
    for number, rest in enumerate(islice(product(*(range(len(axis.values)) for axis in further)), FILES_MAX)):
        tail = f"-{number + 1}" if further else ""
        for metric in sweep.metrics:
            yield f"{name}-{metric.name}{tail}", draw_panels(sweep, metric, rest)


def draw_pair(sweep: Sweep) -> Figure:
    """Everything that was measured of it, side by side."""
    metrics = sweep.metrics
    figure = new_figure(4.8 * len(metrics), 3.6)
    for axes, metric in zip(figure.subplots(1, len(metrics), squeeze=False)[0], metrics, strict=True):
        draw_lines(axes, sweep, metric, ())
        axes.set_ylabel(metric.label)
        put_height(axes, metric)
    figure.suptitle(plain(sweep.workload), x=0.01, ha="left", fontsize=10)
    add_legend(figure, sweep)
    return figure


def draw_panels(sweep: Sweep, metric: Metric, rest: Choice) -> Figure:
    """A panel per value of the third parameter, all with the same y axis."""
    third = sweep.axes[2]
    shown = evenly(len(third.values), PANELS_MAX)
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
    put_height(grid[0, 0], metric)
    further = [f"{axis.path} = {axis.values[index].name}" for axis, index in zip(sweep.axes[3:], rest, strict=True)]
    figure.suptitle(plain(", ".join([sweep.workload, *further])), x=0.01, ha="left", fontsize=10)
    add_legend(figure, sweep)
    return figure


def draw_lines(axes: Axes, sweep: Sweep, metric: Metric, rest: Choice) -> None:
    """A line per value of the second parameter."""
    scale = scale_of(sweep.axes[0])
    for line in evenly(line_count(sweep), LINES_MAX):
        choices = [(index, *((line,) if len(sweep.axes) > 1 else ()), *rest) for index in scale.order]
        dots = [(place, *sweep.dot(choice, metric)) for place, choice in zip(scale.places, choices, strict=True)]
        known = [(place, value, ci95) for place, value, ci95 in dots if value is not None]
        places, values = [place for place, _, _ in known], [value for _, value, _ in known]
        look = look_of(line, line_count(sweep)) | ({"marker": ""} if len(places) > MARKS_MAX else {})
        axes.plot(places, values, **look)
        if len(places) <= WHISKERS_MAX and any(ci95 for _, _, ci95 in known):
            spread = [ci95 or 0.0 for _, _, ci95 in known]
            axes.errorbar(places, values, yerr=spread, fmt="none", ecolor=look["color"], elinewidth=0.8)
    put_scale(axes, scale)


def put_height(axes: Axes, metric: Metric) -> None:
    """The y axis begins at 0, unless it is logarithmic: it is where values differ by a factor of ten and more."""
    low, high = axes.dataLim.intervaly
    if metric.logarithmic and 0 < 10 * low <= high:
        axes.set_yscale("log")
    else:
        axes.set_ylim(0, HEADROOM * axes.get_ylim()[1])


def put_scale(axes: Axes, scale: Scale) -> None:
    """Labels an x axis with the values that were swept."""
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
    """Names the lines, on the right."""
    if len(sweep.axes) < 2:
        return
    from matplotlib.lines import Line2D

    second = sweep.axes[1]
    named = evenly(len(second.values), LEGEND_MAX)
    looks = [look_of(index, len(second.values)) for index in named]
    figure.legend(
        [Line2D([], [], **look) for look in looks],
        [plain(second.values[index].name) for index in named],
        title=plain(second.path),
        loc="outside right upper",
        fontsize=8,
        title_fontsize=8,
    )


def look_of(line: int, lines: int) -> dict[str, Any]:
    """Colour, dashes and mark of a line; many lines go from dark to light."""
    common = {"markersize": 4, "linewidth": 1.4}
    if lines <= len(KINDS):
        kind = KINDS[line]
        return {"color": COLOURS[kind], "linestyle": DASHES[kind], "marker": MARKS[kind], **common}
    import matplotlib as mpl

    marks = list(MARKS.values())
    return {"color": mpl.colormaps["viridis"](0.9 * line / (lines - 1)), "marker": marks[line % len(marks)], **common}


def line_count(sweep: Sweep) -> int:
    """Lines in a panel."""
    return len(sweep.axes[1].values) if len(sweep.axes) > 1 else 1


def evenly(count: int, most: int) -> list[int]:
    """All indices below `count`, or `most` of them with the first and the last."""
    if count <= most:
        return list(range(count))
    return [round(step * (count - 1) / (most - 1)) for step in range(most)]


def _named(sweeps: list[Sweep]) -> tuple[list[str], list[Sweep]]:
    """File names that no two workloads share, whatever characters they have."""
    names: list[str] = []
    for sweep in sweeps:
        stem = stem_of(sweep.workload)
        names.append(stem if stem.lower() not in map(str.lower, names) else f"{stem}-{len(names) + 1}")
    return names, sweeps


def stem_of(name: str) -> str:
    """A name without what file names cannot have."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "workload"

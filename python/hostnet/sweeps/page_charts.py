"""Charts on the page of a sweep: small multiples of every metric, as lines over quantities and as bars beside names."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, product
from typing import TYPE_CHECKING

from hostnet.report.charts import WIDTH_OF_WIDE
from hostnet.report.html import Html, element
from hostnet.report.numbers import MISSING, with_ci95
from hostnet.report.point_charts import PointAxes, bar_swatch, line_swatch, point_legend, points_chart
from hostnet.report.rows import Bar, BarGroup, bar_rows
from hostnet.report.series import MANY_KINDS, ChartSeries, SeriesPoint
from hostnet.report.svg import WIDTH
from hostnet.sweeps.policies import name_of
from hostnet.sweeps.scale import evenly_spaced, scale_of
from hostnet.terminal.layout import short_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hostnet.sweeps.axis import Axis
    from hostnet.sweeps.series import Choice, Metric, Sweep

    Link = Callable[[str, Choice], str | None]
    """Returns the place of the row of a workload at a combination, if the table shows it."""

LINES_MAX = len(MANY_KINDS)
"""Maximum number of lines of a chart, or of bars at a name."""

POINTS_MAX = 240
"""Maximum number of points of a line."""

GROUPS_MAX = 24
"""Maximum number of names with bars in a chart."""

FEW = 2
"""Largest number of charts of a workload that are drawn large."""

ROW = 4
"""Largest number of charts that share the width of the page."""

PANELS_MAX = 24
"""Maximum number of charts of a metric."""

TALL = 10
"""Ratio of the largest to the smallest value from which on the axis of a logarithmic metric is logarithmic."""


@dataclass(frozen=True)
class Panel:
    """A chart of a metric at fixed values of all parameters but the first two."""

    sweep: Sweep
    metric: Metric
    rest: Choice
    link: Link

    @property
    def names(self) -> list[str]:
        """Names of the parameters."""
        return short_paths([axis.path for axis in self.sweep.axes])

    @property
    def title(self) -> str:
        """Values of the parameters that are fixed; empty if there are none."""
        named = zip(self.names[2:], self.sweep.axes[2:], self.rest, strict=True)
        return ", ".join(f"{name} = {value_name(axis, index)}" for name, axis, index in named)

    @property
    def lines(self) -> list[int]:
        """Indices of the shown values of the second parameter; a single 0 without one."""
        return evenly_spaced(len(self.sweep.axes[1].values), LINES_MAX) if len(self.sweep.axes) > 1 else [0]

    def choice(self, index: int, line: int) -> Choice:
        """Returns the combination of a value of the first and one of the second parameter."""
        return (index, *((line,) if len(self.sweep.axes) > 1 else ()), *self.rest)

    def line_name(self, line: int) -> str:
        """Returns the name of a line; empty if there is only one."""
        return value_name(self.sweep.axes[1], line) if len(self.sweep.axes) > 1 else ""

    def point(self, x: float, choice: Choice) -> SeriesPoint:
        """Returns a point of the chart, named by its settings and linked to its row."""
        value, ci95 = self.sweep.dot(choice, self.metric)
        named = zip(self.names, self.sweep.axes, choice, strict=True)
        name = ", ".join(f"{name} = {value_name(axis, index)}" for name, axis, index in named)
        return SeriesPoint(x, value, ci95, label=name, link=self.link(self.sweep.workload, choice))


def value_name(axis: Axis, index: int) -> str:
    """Returns the name of a value; of a table, the values of its keys."""
    return name_of(axis.values[index].name)


def panels_of(sweep: Sweep, metric: Metric, link: Link) -> list[Panel]:
    """Returns the charts of a metric, one for each combination of the third and further parameters."""
    rests = product(*(range(len(axis.values)) for axis in sweep.axes[2:]))
    return [Panel(sweep, metric, rest, link) for rest in islice(rests, PANELS_MAX)]


def hides_some(sweep: Sweep) -> bool:
    """Returns True if the charts of a workload leave out some combinations."""
    first, second, rest = sweep.axes[0], sweep.axes[1:2], sweep.axes[2:]
    most = POINTS_MAX if scale_of(first).numeric else GROUPS_MAX
    charts = 1
    for axis in rest:
        charts *= len(axis.values)
    return charts > PANELS_MAX or len(first.values) > most or any(len(axis.values) > LINES_MAX for axis in second)


def charts_of(sweep: Sweep, metrics: Sequence[Metric], link: Link, most: int) -> Html | None:
    """Creates the charts of some metrics under their legend, at most so many of them; None without any.

    All charts of a metric have the same axis of values. A few charts are larger than many.
    """
    panels = [panel for metric in metrics for panel in panels_of(sweep, metric, link)][:most]
    if not panels:
        return None
    few = len(panels) <= FEW
    cards = [chart_card(panel, WIDTH_OF_WIDE if few else WIDTH) for panel in panels]
    grid = "pair" if few else "many row" if len(panels) <= ROW else "many"
    return element("div", legend_of(panels[0]), element("div", *cards, class_=grid))


def chart_card(panel: Panel, width: int) -> Html:
    """Creates the card of a chart."""
    caption = element("figcaption", element("b", capitalized(panel.metric.label)))
    where = element("p", panel.title, class_="sub") if panel.title else None
    return element("div", where, element("figure", caption, draw(panel, width)), class_="card")


def capitalized(text: str) -> str:
    """Returns a text with a capital first letter."""
    return text[:1].upper() + text[1:]


def draw(panel: Panel, width: int) -> Html:
    """Draws a chart: lines over a quantity, or bars beside names."""
    return draw_lines(panel, width) if scale_of(panel.sweep.axes[0]).numeric else draw_bars(panel, width)


def draw_lines(panel: Panel, width: int) -> Html:
    """Draws a line for each value of the second parameter over the first one."""
    scale = scale_of(panel.sweep.axes[0], panel.names[0])
    shown = evenly_spaced(len(scale.order), POINTS_MAX)
    every = panel.sweep.values(panel.metric)
    logarithmic = panel.metric.logarithmic and bool(every) and 0 < TALL * min(every) <= max(every)
    series = [
        ChartSeries(
            panel.line_name(line),
            kind,
            tuple(
                without_interval(panel.point(scale.places[at], panel.choice(scale.order[at], line)), logarithmic)
                for at in shown
            ),
        )
        for line, kind in zip(panel.lines, MANY_KINDS, strict=False)
    ]
    axes = PointAxes(
        x_label=scale.title,
        x=(scale.places[0], scale.places[-1]),
        ticks=tuple(zip(scale.ticks, scale.labels, strict=True)),
        unit=panel.metric.unit,
        y=panel.sweep.ends(panel.metric, intervals=not logarithmic),
        x_logarithmic=bool(scale.base),
        y_logarithmic=logarithmic,
    )
    return points_chart(description(panel), axes, series, width=width)


def without_interval(point: SeriesPoint, logarithmic: bool) -> SeriesPoint:
    """Returns a point without its interval on a logarithmic axis, on which it may reach below 0."""
    return SeriesPoint(point.x, point.simulated, label=point.label, link=point.link) if logarithmic else point


def draw_bars(panel: Panel, width: int) -> Html:
    """Draws a bar for each value of the second parameter beside each value of the first one, which is a name."""
    first, unit = panel.sweep.axes[0], panel.metric.unit
    groups = []
    for index in evenly_spaced(len(first.values), GROUPS_MAX):
        points = [(line, panel.point(index, panel.choice(index, line))) for line in panel.lines]
        bars = [bar_of(kind, point, unit) for kind, (_, point) in zip(MANY_KINDS, points, strict=False)]
        groups.append(BarGroup(value_name(first, index), tuple(bars)))
    ends = panel.sweep.ends(panel.metric, intervals=True)
    return bar_rows(description(panel), groups, None if ends is None else ends[1], width=width)


def bar_of(kind: str, point: SeriesPoint, unit: str) -> Bar:
    """Returns the bar of a point."""
    shown = with_ci95(point.simulated, None)
    tooltip = f"{point.label}\n{with_ci95(point.simulated, point.ci95)} {unit}".rstrip()
    label = MISSING if point.simulated is None else shown
    return Bar(kind, point.simulated, label, tooltip, point.ci95, point.link)


def description(panel: Panel) -> str:
    """Describes a chart for screen readers."""
    where = f", {panel.title}" if panel.title else ""
    return f"{panel.metric.label} of {panel.sweep.workload} over {panel.names[0]}{where}"


def legend_of(panel: Panel) -> Html | None:
    """Creates the legend of the second parameter; None without one."""
    if len(panel.sweep.axes) < 2:
        return None
    names = [panel.line_name(line) for line in panel.lines]
    return point_legend(panel.names[1], names, line_swatch if scale_of(panel.sweep.axes[0]).numeric else bar_swatch)

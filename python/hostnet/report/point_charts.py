"""Charts of measured points: a curve over a quantity, whose points name and link to their runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hostnet.report.charts import curve, extent, legend_icon, reference_line
from hostnet.report.html import Html, element
from hostnet.report.numbers import number, with_ci95
from hostnet.report.series import MANY_KINDS, ChartSeries, ReferenceLine, SeriesPoint
from hostnet.report.svg import (
    BOTTOM,
    CHARACTER,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    ChartFrame,
    LinearScale,
    LogScale,
    fitted_ticks,
    nice_range,
    shape,
    text,
)

Swatch = Callable[[str], list[Html]]
"""Draws the sample of a kind in a legend."""

MARKS_MAX = 60
"""Maximum number of points of a line that are drawn; more would hide the line."""

INSET = 14.0
"""Distance of the first and the last point from the ends of the axis."""

LINE = 13
"""Height of a line of text."""

LEVELS = (1.0, 2.0, 5.0)
"""Ticks of a decade of a logarithmic axis."""


@dataclass(frozen=True)
class PointAxes:
    """Axes of a chart of points."""

    x_label: str
    x: tuple[float, float]
    """Smallest and largest x."""
    ticks: tuple[tuple[float, str], ...]
    """Positions along x and their labels; those that do not fit are left out."""
    unit: str
    """Unit of y."""
    y: tuple[float, float] | None = None
    """Values that the y axis must have room for, too, so that several charts can be compared."""
    x_logarithmic: bool = False
    y_logarithmic: bool = False
    from_zero: bool = False
    """True if x begins at 0."""


def points_chart(
    title: str,
    axes: PointAxes,
    series: Sequence[ChartSeries],
    levels: Sequence[ReferenceLine] = (),
    walls: Sequence[ReferenceLine] = (),
    *,
    width: int = WIDTH,
    height: int = HEIGHT,
) -> Html:
    """Draws the values of each series as points on a line. A gap is left where a value is missing.

    `levels` are horizontal reference lines, and `walls` are vertical ones.
    """
    frame = make_frame(axes, series, levels, walls, width, height)
    parts = [*frame.axes(axes.x_label)]
    right = min([frame.width - RIGHT, *(frame.x(wall.value) - 4 for wall in walls)])
    parts += [part for level in levels for part in reference_level(frame, level, series, right)]
    parts += [part for wall in walls for part in reference_wall(frame, wall)]
    for plotted in series:
        parts += curve(frame, plotted)
    for plotted in series:
        parts += points(frame, plotted, axes.unit)
    return frame.picture(title, *parts)


def make_frame(
    axes: PointAxes,
    series: Sequence[ChartSeries],
    levels: Sequence[ReferenceLine],
    walls: Sequence[ReferenceLine],
    width: int,
    height: int,
) -> ChartFrame:
    """Returns the frame of a chart of points."""
    known = [value for plotted in series for value in plotted.values if value.simulated is not None]
    ys = [end for value in known for end in extent(value)] + [level.value for level in levels] + list(axes.y or ())
    low, high = axes.x[0], max(axes.x[1], *(wall.value for wall in walls), axes.x[0])
    if axes.from_zero:
        start, low = float(LEFT), 0.0
    else:
        start = LEFT + INSET
    if high <= low:
        low, high = (low / 2, high * 2) if axes.x_logarithmic else (low - 1, high + 1)
    scale = LogScale if axes.x_logarithmic else LinearScale
    x = scale(low, high, start, width - RIGHT - INSET)
    ticks = fitted_ticks(axes.ticks, x)
    y, y_ticks, y_labels = y_axis([value.simulated for value in known], ys, height, logarithmic=axes.y_logarithmic)
    places, labels = tuple(tick for tick, _ in ticks), tuple(label for _, label in ticks)
    return ChartFrame(x, y, places, y_ticks, width, height, labels, y_labels)


def y_axis(
    values: Sequence[float | None], ends: Sequence[float], height: int, *, logarithmic: bool
) -> tuple[LinearScale, tuple[float, ...], tuple[str, ...]]:
    """Returns the y axis with its ticks and their labels; empty labels stand for the values of the ticks."""
    if not logarithmic:
        low, high, ticks = nice_range([*ends, 0.0] if ends else [0.0, 1.0], floor=0.0)
        return LinearScale(low, high, height - BOTTOM, TOP), tuple(ticks), ()
    positive = [value for value in (*values, *ends) if value is not None and value > 0]
    levels = decade_levels(min(positive), max(positive))
    # An interval may reach below the smallest value, and even below 0, where a logarithm has no place.
    scale = LogScale(levels[0], levels[-1], height - BOTTOM, TOP)
    ticks = [level for level in levels if len(levels) <= 7 or float(f"{level:e}".partition("e")[0]) == 1.0]
    return scale, tuple(ticks), tuple(f"{tick:,g}" if tick < 1e6 else f"{tick:g}" for tick in ticks)


def decade_levels(low: float, high: float) -> list[float]:
    """Returns the values 1, 2 and 5 times a power of ten from the last one below `low` to the first above `high`."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1
    levels = [float(f"{step}e{power}") for power in range(first, last + 1) for step in LEVELS]
    below = max(level for level in levels if level <= low * 1.0001)
    above = min(level for level in levels if level >= high * 0.9999 and level > below)
    return [level for level in levels if below <= level <= above]


def reference_level(frame: ChartFrame, level: ReferenceLine, series: Sequence[ChartSeries], right: float) -> list[Html]:
    """Draws a dashed horizontal line with its name below it, at the end that the series are farther away from.

    The name ends before `right`.
    """
    known = [value for plotted in series for value in plotted.values if value.simulated is not None]
    first, last = (
        abs((end(known, key=lambda value: value.x).simulated or 0.0) - level.value) if known else 0.0
        for end in (min, max)
    )
    y = frame.y(level.value)
    below = frame.height - BOTTOM - y > 2 * CHARACTER
    name = f"{level.name} {number(level.value)}"
    at_end = last >= first
    x = right if at_end else LEFT + 4.0
    return [
        reference_line(frame, level),
        text(name, x, y + 14 if below else y - 4, anchor="end" if at_end else "start"),
    ]


def reference_wall(frame: ChartFrame, wall: ReferenceLine, line: int = 0) -> list[Html]:
    """Draws a dashed vertical line with its name beside its top, on the side with more room.

    The names of several walls are in different lines of text.
    """
    x, top = frame.x(wall.value), frame.y(frame.y_ticks[-1])
    base = frame.height - BOTTOM
    name = f"{wall.name} {number(wall.value)}"
    fits_left = x - LEFT > len(name) * CHARACTER
    label = text(name, x - 4 if fits_left else x + 4, top + 10 + LINE * line, anchor="end" if fits_left else "start")
    return [element("line", x1=x, x2=x, y1=top, y2=base, class_="reference"), label]


def points(frame: ChartFrame, plotted: ChartSeries, unit: str) -> list[Html]:
    """Draws the points of a series with the value, the name and the link of each. Points of very many are left out."""
    known = [value for value in plotted.values if value.simulated is not None]
    if len(known) > MARKS_MAX:
        return []
    return [
        linked(
            shape(
                plotted.kind,
                frame.x(value.x),
                frame.y(value.simulated or 0.0),
                f"dot {dot_style(plotted.kind)}",
                point_text(plotted.name, value, unit),
            ),
            value.link,
        )
        for value in known
    ]


def dot_style(kind: str) -> str:
    """Returns the style of the mark of a kind: filled, or hollow for kinds that share their shape with another one."""
    return f"fill-{kind}" if kind in "abcd" else f"ring stroke-{kind}"


def point_text(name: str, value: SeriesPoint, unit: str) -> str:
    """Names a point and its value."""
    shown = with_ci95(value.simulated, value.ci95)
    return "\n".join(filter(None, (name, value.label, f"{shown} {unit}".rstrip())))


def linked(drawn: Html, link: str | None) -> Html:
    """Makes a drawing a link to a place on the page. It is left out of the order of the tabulator; the table has it."""
    return drawn if link is None else element("a", drawn, href=f"#{link}", tabindex="-1")


def point_legend(title: str, names: Sequence[str], swatch: Swatch) -> Html:
    """Creates the legend of series in the order of their kinds."""
    entries = [element("li", legend_icon(*swatch(kind)), name) for kind, name in zip(MANY_KINDS, names, strict=False)]
    return element("ul", element("li", f"{title}:") if title else None, *entries, class_="legend")


def line_swatch(kind: str) -> list[Html]:
    """Draws a sample of a line with its mark."""
    line = element("line", x1=0, x2=26, y1=6, y2=6, class_=f"curve stroke-{kind} dash-{kind}")
    return [line, *mark_swatch(kind)]


def mark_swatch(kind: str) -> list[Html]:
    """Draws a sample of a mark."""
    return [shape(kind, 13, 6, dot_style(kind))]


def bar_swatch(kind: str) -> list[Html]:
    """Draws a sample of a bar."""
    return [element("rect", x=8, y=0, width=12, height=12, class_=f"bar fill-{kind}")]


@dataclass(frozen=True)
class Range:
    """A range of values at an x, with a mark at its upper end."""

    kind: str
    x: float
    low: float
    high: float
    text: str


def ranges_chart(title: str, axes: PointAxes, ranges: Sequence[Range], *, width: int = WIDTH) -> Html:
    """Draws ranges as vertical lines."""
    ends = [ChartSeries("", one.kind, (SeriesPoint(one.x, one.low), SeriesPoint(one.x, one.high))) for one in ranges]
    frame = make_frame(axes, ends, (), (), width, HEIGHT)
    parts = [*frame.axes(axes.x_label)]
    for one in ranges:
        x, low, high = frame.x(one.x), frame.y(one.low), frame.y(one.high)
        parts.append(element("line", x1=x, x2=x, y1=low, y2=high, class_=f"curve stroke-{one.kind}"))
        parts.append(shape(one.kind, x, high, f"dot {dot_style(one.kind)}", one.text, size=4.5))
    return frame.picture(title, *parts)

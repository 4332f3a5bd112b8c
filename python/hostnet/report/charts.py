"""Charts of the reports: curves with published marks, stacked bars, meters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hostnet.report.html import Html, element
from hostnet.report.numbers import number, span_text
from hostnet.report.series import ChartSeries, ReferenceLine, SeriesPoint
from hostnet.report.svg import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    ChartFrame,
    LinearScale,
    nice_range,
    nice_step,
    shape,
)

WIDTH_OF_WIDE = 450
"""Width of charts that fill a row."""


WHISKER_MIN = 3.0
"""Smallest whisker that is visible beside the line."""


@dataclass(frozen=True)
class ChartAxis:
    """Labels and limits of the axes. `floor` is the start of y unless a value is smaller, `x_floor` likewise for x.

    `whole_x` labels every x.
    """

    x_label: str
    unit: str = ""
    floor: float | None = 0.0
    whole_x: bool = True
    x_floor: float | None = None


def line_chart(
    title: str,
    axis: ChartAxis,
    series: Sequence[ChartSeries],
    levels: Sequence[ReferenceLine] = (),
    *,
    wide: bool = False,
    frame: ChartFrame | None = None,
) -> Html:
    """Draws simulated values as lines with whiskers, and published ones as hollow marks.

    A given `frame` has other scales than linear ones that fit the values.
    """
    if frame is not None:
        return frame.picture(title, *lines_in(frame, axis, series, levels))
    extents = [end for plotted in series for value in plotted.values for end in extent(value)] + [
        level.value for level in levels
    ]
    xs = sorted({value.x for plotted in series for value in plotted.values})
    width = WIDTH_OF_WIDE if wide else WIDTH
    frame = make_frame(xs, extents, axis, width)
    return frame.picture(
        title, *lines_in(frame, axis, series, levels), read_off=unit_of(axis.x_label) if wide else None
    )


def lines_in(
    frame: ChartFrame, axis: ChartAxis, series: Sequence[ChartSeries], levels: Sequence[ReferenceLine]
) -> list[Html]:
    """Draws axes, reference lines, curves and marks."""
    parts = frame.axes(axis.x_label) + [reference_line(frame, level) for level in levels]
    for plotted in series:
        parts += curve(frame, plotted)
    for plotted in series:
        parts += marks(frame, plotted, axis)
    return parts


def unit_of(label: str) -> str:
    """Returns the unit in the title of an axis, which follows a comma."""
    return label.rpartition(", ")[2]


def extent(value: SeriesPoint) -> list[float]:
    """Returns all values that the chart must have room for at a point."""
    ends = [end for end in (value.published, value.published_to) if end is not None]
    if value.simulated is not None:
        half = value.ci95 or 0.0
        ends += [value.simulated - half, value.simulated + half]
    return ends


def make_frame(
    xs: Sequence[float], ys: Sequence[float], axis: ChartAxis, width: int = WIDTH, inset: float = 14
) -> ChartFrame:
    """Returns a frame for the values. A few whole x are all labelled; many get round ticks."""
    low, high, y_ticks = nice_range(ys or [0.0, 1.0], floor=axis.floor)
    x_low, x_high = (xs[0], xs[-1]) if xs and xs[-1] > xs[0] else ((xs or [0.0])[0] - 1, (xs or [0.0])[0] + 1)
    if axis.x_floor is not None:
        x_low = min(x_low, axis.x_floor)
    whole = axis.whole_x and len(xs) <= 12 and all(float(x).is_integer() for x in xs)
    x_ticks = list(xs) if whole else round_ticks(x_low, x_high)
    right = width - RIGHT
    x_scale = (
        LinearScale(x_low, x_high, LEFT + inset, right - inset)
        if axis.whole_x
        else LinearScale(x_low, x_high, LEFT + 4, right - inset)
    )
    return ChartFrame(x_scale, LinearScale(low, high, HEIGHT - BOTTOM, TOP), tuple(x_ticks), tuple(y_ticks), width)


def round_ticks(low: float, high: float) -> list[float]:
    """Returns round values within a range."""
    step = nice_step(high - low, 5)
    first = -int(-low / step // 1)
    ticks = [round(index * step, 10) for index in range(first, first + 12)]
    return [tick for tick in ticks if low - step * 1e-6 <= tick <= high + step * 1e-6]


def reference_line(frame: ChartFrame, level: ReferenceLine) -> Html:
    """Draws a dashed horizontal line across the chart."""
    y = frame.y(level.value)
    return element(
        "line",
        element("title", f"{level.name}: {number(level.value)}"),
        x1=LEFT,
        x2=frame.width - RIGHT,
        y1=y,
        y2=y,
        class_="reference",
    )


def curve(frame: ChartFrame, plotted: ChartSeries) -> list[Html]:
    """Draws the line through the simulated values, with gaps where one is missing, and whiskers."""
    parts = []
    run: list[tuple[float, float]] = []
    for value in (*plotted.values, SeriesPoint(0, None)):
        if value.simulated is not None:
            run.append((frame.x(value.x), frame.y(value.simulated)))
        elif run:
            parts.append(stretch(plotted.kind, run))
            run = []
    for value in plotted.values:
        if value.simulated is not None and value.ci95:
            x, low, high = (
                frame.x(value.x),
                frame.y(value.simulated - value.ci95),
                frame.y(value.simulated + value.ci95),
            )
            if low - high > WHISKER_MIN:
                parts.append(element("line", x1=x, x2=x, y1=low, y2=high, class_=f"whisker stroke-{plotted.kind}"))
    return parts


def stretch(kind: str, run: Sequence[tuple[float, float]]) -> Html:
    """Draws a line through points without a gap, or a filled mark at a single one."""
    if len(run) == 1:
        return shape(kind, *run[0], f"fill-{kind}", size=2.4)
    class_ = f"curve stroke-{kind} dash-{kind}" + (" thin" if len(run) > 60 else "")
    return element("polyline", points=" ".join(f"{x},{y}" for x, y in run), class_=class_)


def marks(frame: ChartFrame, plotted: ChartSeries, axis: ChartAxis) -> list[Html]:
    """Draws hollow marks at published values and lines over published ranges, with tooltips."""
    return [
        span_marks(frame, plotted, value, axis)
        if value.published_to is not None
        else shape(
            plotted.kind,
            frame.x(value.x),
            frame.y(value.published),
            published_ring(plotted, value),
            tooltip(plotted.name, value, axis),
        )
        for value in plotted.values
        if value.published is not None
    ]


def span_marks(frame: ChartFrame, plotted: ChartSeries, value: SeriesPoint, axis: ChartAxis) -> Html:
    """Draws a published range as a line with a bar at both ends."""
    x, low, high = frame.x(value.x), frame.y(value.published or 0.0), frame.y(value.published_to or 0.0)
    return element(
        "path",
        element("title", tooltip(plotted.name, value, axis)),
        d=f"M{x - 4},{low}h8M{x - 4},{high}h8M{x},{low}V{high}",
        class_=f"whisker stroke-{plotted.kind}",
    )


def published_ring(plotted: ChartSeries, value: SeriesPoint) -> str:
    """Returns the style of a published mark; a doubtful one is faint."""
    return f"ring stroke-{plotted.kind}" + (" doubtful" if value.doubtful else "")


def tooltip(name: str, value: SeriesPoint, axis: ChartAxis) -> str:
    """Returns the tooltip of a mark."""
    return f"{name}, {axis.x_label} {value.x:g}\n{values_text(value, axis)}"


def values_text(value: SeriesPoint, axis: ChartAxis) -> str:
    """Describes the published and the simulated value, as far as there are any."""
    unit = f" {axis.unit}" if axis.unit else ""
    parts = []
    if value.published is not None:
        doubt = " (left out of the score)" if value.doubtful else ""
        parts.append(f"published {span_text(value.published, value.published_to)}{unit}{doubt}")
    if value.simulated is not None:
        parts.append(f"simulated {number(value.simulated, 4)}{unit}")
    return "\n".join(parts)


def stacked_chart(
    title: str, axis: ChartAxis, series: Sequence[ChartSeries], levels: Sequence[ReferenceLine] = ()
) -> Html:
    """Draws simulated values as stacked bars, and published ones as hollow marks at the top of each part."""
    xs = sorted({value.x for plotted in series for value in plotted.values})
    parts_at = {x: [(plotted, value) for plotted in series for value in plotted.values if value.x == x] for x in xs}
    tops = [sum(value.simulated or 0 for _, value in stack) for stack in parts_at.values()]
    published_tops = [sum(value.published or 0 for _, value in stack) for stack in parts_at.values()]
    frame = make_frame(xs, [*tops, *published_tops, *(level.value for level in levels)], axis, inset=24)
    bar_width = round(0.62 * (frame.x.end - frame.x.start) / max(len(xs) - 1, 1), 2)
    drawn = frame.axes(axis.x_label) + [reference_line(frame, level) for level in levels]
    for x, stack in parts_at.items():
        drawn += bar(frame, x, stack, bar_width, axis)
    for x, stack in parts_at.items():
        drawn += stacked_marks(frame, x, stack, axis)
    return frame.picture(title, *drawn)


def bar(
    frame: ChartFrame, x: float, stack: Sequence[tuple[ChartSeries, SeriesPoint]], width: float, axis: ChartAxis
) -> list[Html]:
    """Draws the stacked rectangles of one x, with a small gap between them."""
    drawn = []
    total = 0.0
    for plotted, value in stack:
        bottom = frame.y(total)
        total += value.simulated or 0.0
        height = round(bottom - frame.y(total) - 1, 2)
        if height > 0:
            drawn.append(
                element(
                    "rect",
                    element("title", tooltip(plotted.name, value, axis)),
                    x=round(frame.x(x) - width / 2, 2),
                    y=frame.y(total),
                    width=width,
                    height=height,
                    class_=f"bar fill-{plotted.kind}",
                )
            )
    return drawn


def stacked_marks(
    frame: ChartFrame, x: float, stack: Sequence[tuple[ChartSeries, SeriesPoint]], axis: ChartAxis
) -> list[Html]:
    """Draws published values as marks at their stacked height."""
    drawn = []
    total = 0.0
    for plotted, value in stack:
        if value.published is None:
            break
        total += value.published
        tooltip_element = tooltip(plotted.name, value, axis)
        drawn.append(shape(plotted.kind, frame.x(x), frame.y(total), published_ring(plotted, value), tooltip_element))
    return drawn


def legend(series: Sequence[ChartSeries], levels: Sequence[ReferenceLine] = ()) -> Html:
    """Creates the legend of series and reference lines."""
    entries = []
    for plotted in series:
        published = any(value.published is not None for value in plotted.values)
        simulated = any(value.simulated is not None for value in plotted.values)
        entries.append((plotted.name, swatch(plotted.kind, line=simulated, mark=published)))
    doubtful = next((plotted for plotted in series if any(value.doubtful for value in plotted.values)), None)
    if doubtful is not None:
        mark = shape(doubtful.kind, 13, 6, f"ring stroke-{doubtful.kind} doubtful")
        entries.append(("left out of the score", legend_icon(mark)))
    for level in levels:
        line = element("line", x1=0, x2=26, y1=6, y2=6, class_="reference")
        entries.append((f"{level.name} {level.value:.3g}", legend_icon(line)))
    return element("ul", *(element("li", drawing, name) for name, drawing in entries), class_="legend")


def swatch(kind: str, *, line: bool, mark: bool) -> Html:
    """Draws a sample of the line and mark of a series."""
    parts = []
    if line:
        parts.append(element("line", x1=0, x2=26, y1=6, y2=6, class_=f"curve stroke-{kind} dash-{kind}"))
    if mark:
        parts.append(shape(kind, 13, 6, f"ring stroke-{kind}"))
    return legend_icon(*parts)


def legend_icon(*parts: Html) -> Html:
    """Creates the frame of a swatch."""
    return element("svg", *parts, viewBox="0 0 26 12", aria_hidden="true")

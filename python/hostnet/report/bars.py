"""Bar charts: degradation side by side, bandwidth stacked. Published values are hollow marks."""

from __future__ import annotations

from collections.abc import Sequence

from hostnet.report.charts import (
    WHISKER_MIN,
    WIDTH_OF_WIDE,
    ChartAxis,
    extent,
    legend,
    published_ring,
    reference_line,
    values_text,
)
from hostnet.report.html import Html, element
from hostnet.report.series import ChartSeries, ReferenceLine, SeriesPoint
from hostnet.report.svg import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, ChartFrame, LinearScale, nice_range, shape, text

FILLED = 0.72
"""Share of the width of an x position that its bars fill."""

Bar = tuple[ChartSeries, SeriesPoint]


def degradation_card(
    title: str,
    x_label: str,
    degradation: Sequence[ChartSeries],
    bandwidth: Sequence[ChartSeries],
    levels: Sequence[ReferenceLine] = (),
    *,
    expected: Sequence[ReferenceLine] = (),
    sub: str | None = None,
) -> Html:
    """Draws degradation beside the memory bandwidth at the same x.

    `levels` are reference lines of the bandwidth, such as the theoretical maximum, and `expected` those of the
    degradation, such as the ends of a published range. Series of the same kind (`a` for C2M, `b` for P2M) stand for the
    same traffic in both charts. `sub` is an explanation of both.
    """
    slower = grouped_chart(
        f"{title}. Degradation by {x_label}", ChartAxis(x_label, "x", floor=1.0), degradation, expected
    )
    moved = stacked_bars(f"{title}. Memory bandwidth by {x_label}", ChartAxis(x_label, "GB/s"), bandwidth, levels)
    figures = [
        element("figure", element("figcaption", caption), chart)
        for caption, chart in (("Degradation, x", slower), ("Memory bandwidth, GB/s", moved))
    ]
    return element(
        "div",
        element("h3", title),
        element("p", sub, class_="sub") if sub else None,
        legend(bandwidth, (*levels, *expected)),
        element("div", *figures, class_="charts"),
        class_="card",
    )


def grouped_chart(
    title: str,
    axis: ChartAxis,
    series: Sequence[ChartSeries],
    levels: Sequence[ReferenceLine] = (),
    *,
    wide: bool = False,
) -> Html:
    """Draws a bar per series at every x, starting at `axis.floor`."""
    at = by_x(series)
    ends = [end for bars in at.values() for _, value in bars for end in extent(value)]
    frame = frame_of(at, [*ends, *(level.value for level in levels)], axis, wide=wide)
    drawn = [*axes(frame, at, axis), *(reference_line(frame, level) for level in levels)]
    base = frame.y.low if axis.floor is None else axis.floor
    width = FILLED * (frame.x(1) - frame.x(0)) / max(len(series), 1)
    for place, (label, bars) in enumerate(at.items()):
        for number, (plotted, value) in enumerate(bars):
            centre = frame.x(place) + (number - (len(bars) - 1) / 2) * width
            drawn += bar(frame, centre, width - 1, (base, value.simulated), (plotted, value), axis, label)
            drawn += whisker(frame, centre, plotted, value)
            drawn += mark(frame, centre, value.published, (plotted, value), axis, label)
    return frame.picture(title, *drawn)


def stacked_bars(
    title: str,
    axis: ChartAxis,
    series: Sequence[ChartSeries],
    levels: Sequence[ReferenceLine] = (),
    *,
    wide: bool = False,
) -> Html:
    """Draws the bars of all series on top of each other at every x."""
    at = by_x(series)
    tops = [sum(getattr(value, name) or 0.0 for _, value in bars) for bars in at.values() for name in SIDES]
    frame = frame_of(at, [*tops, *(level.value for level in levels)], axis, wide=wide)
    drawn = [*axes(frame, at, axis), *(reference_line(frame, level) for level in levels)]
    width = FILLED * 0.8 * (frame.x(1) - frame.x(0))
    marks: list[Html] = []
    for place, (label, bars) in enumerate(at.items()):
        low = published = 0.0
        for plotted, value in bars:
            high = low + (value.simulated or 0.0)
            drawn += bar(frame, frame.x(place), width, (low, high), (plotted, value), axis, label)
            low, published = high, published + (value.published or 0.0)
            top = None if value.published is None else published
            marks += mark(frame, frame.x(place), top, (plotted, value), axis, label)
    return frame.picture(title, *drawn, *marks)


SIDES = ("simulated", "published")


def by_x(series: Sequence[ChartSeries]) -> dict[str, list[Bar]]:
    """Returns the bars at every x by its label, in ascending order of x."""
    named = sorted({(value.x, value.label or f"{value.x:g}") for plotted in series for value in plotted.values})
    return {
        label: [(plotted, value) for plotted in series for value in plotted.values if value.x == x]
        for x, label in named
    }


def frame_of(at: dict[str, list[Bar]], ys: Sequence[float], axis: ChartAxis, *, wide: bool) -> ChartFrame:
    """Returns a frame with equally wide positions along x and round numbers along y."""
    width = WIDTH_OF_WIDE if wide else WIDTH
    floor = [] if axis.floor is None else [axis.floor]
    low, high, ticks = nice_range([*ys, *floor] or [0.0, 1.0], floor=axis.floor)
    x = LinearScale(-0.5, max(len(at), 1) - 0.5, LEFT + 2, width - RIGHT - 2)
    return ChartFrame(x, LinearScale(low, high, HEIGHT - BOTTOM, TOP), (), tuple(ticks), width)


def axes(frame: ChartFrame, at: dict[str, list[Bar]], axis: ChartAxis) -> list[Html]:
    """Draws the axes, with the label of every x below its bars."""
    names = [text(label, frame.x(place), HEIGHT - BOTTOM + 16, anchor="middle") for place, label in enumerate(at)]
    return [*frame.axes(axis.x_label), *names]


def bar(
    frame: ChartFrame,
    centre: float,
    width: float,
    ends: tuple[float, float | None],
    of: Bar,
    axis: ChartAxis,
    label: str,
) -> list[Html]:
    """Draws a bar between two values, or nothing without the second one."""
    low, high = ends
    if high is None:
        return []
    top, bottom = sorted((frame.y(low), frame.y(high)))
    tooltip_element = element("title", tooltip(of, axis, label))
    place = {"x": round(centre - width / 2, 2), "y": top, "width": round(width, 2), "height": round(bottom - top, 2)}
    return [element("rect", tooltip_element, **place, class_=f"bar fill-{of[0].kind}")]


def whisker(frame: ChartFrame, centre: float, plotted: ChartSeries, value: SeriesPoint) -> list[Html]:
    """Draws the confidence interval if it is large enough to be visible."""
    if value.simulated is None or not value.ci95:
        return []
    low, high = frame.y(value.simulated - value.ci95), frame.y(value.simulated + value.ci95)
    if low - high <= WHISKER_MIN:
        return []
    x = round(centre, 2)
    return [element("line", x1=x, x2=x, y1=low, y2=high, class_=f"whisker stroke-{plotted.kind}")]


def mark(frame: ChartFrame, centre: float, height: float | None, of: Bar, axis: ChartAxis, label: str) -> list[Html]:
    """Draws a published value, or nothing without one."""
    if height is None:
        return []
    plotted, value = of
    return [
        shape(plotted.kind, round(centre, 2), frame.y(height), published_ring(plotted, value), tooltip(of, axis, label))
    ]


def tooltip(of: Bar, axis: ChartAxis, label: str) -> str:
    """Returns the tooltip of a bar or mark."""
    return f"{of[0].name}, {axis.x_label} {label}\n{values_text(of[1], axis)}"

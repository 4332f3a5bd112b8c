"""Stacked area charts over time."""

from __future__ import annotations

from collections.abc import Sequence

from hostnet.report.charts import WIDTH_OF_WIDE, ChartAxis, make_frame, reference_line, unit_of
from hostnet.report.html import Html, element
from hostnet.report.series import ChartSeries, ReferenceLine
from hostnet.report.svg import ChartFrame


def area_chart(
    title: str, axis: ChartAxis, series: Sequence[ChartSeries], levels: Sequence[ReferenceLine] = ()
) -> Html:
    """Draws series with values at the same x as stacked areas."""
    tops = stacked(series)
    ends = [value for row in tops for value in row] + [level.value for level in levels]
    xs = [value.x for value in series[0].values] if series else []
    frame = make_frame(xs, ends, axis, WIDTH_OF_WIDE)
    parts = frame.axes(axis.x_label) + [reference_line(frame, level) for level in levels]
    floor = [0.0] * len(xs)
    for plotted, top in zip(series, tops, strict=True):
        parts += area(frame, plotted.kind, xs, floor, top)
        floor = top
    return frame.picture(title, *parts, read_off=unit_of(axis.x_label), stacked=True)


def stacked(series: Sequence[ChartSeries]) -> list[list[float]]:
    """Returns the upper edge of each series at every x."""
    tops: list[list[float]] = []
    for plotted in series:
        below = tops[-1] if tops else [0.0] * len(plotted.values)
        own = [value.simulated or 0.0 for value in plotted.values]
        tops.append([low + high for low, high in zip(below, own, strict=True)])
    return tops


def area(frame: ChartFrame, kind: str, xs: Sequence[float], low: Sequence[float], high: Sequence[float]) -> list[Html]:
    """Draws the area between two lines, and the upper line."""
    over = [f"{frame.x(x)},{frame.y(y)}" for x, y in zip(xs, high, strict=True)]
    under = [f"{frame.x(x)},{frame.y(y)}" for x, y in zip(xs, low, strict=True)]
    return [
        element("polygon", points=" ".join([*over, *reversed(under)]), class_=f"area fill-{kind}"),
        element("polyline", points=" ".join(over), class_=f"curve thin stroke-{kind}"),
    ]

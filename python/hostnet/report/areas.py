"""Stacked areas over time: the parts of a whole that changes."""

from __future__ import annotations

from collections.abc import Sequence

from hostnet.report.charts import WIDTH_OF_WIDE, Axis, level_line, make_frame
from hostnet.report.html import Html, element
from hostnet.report.series import Level, Plotted
from hostnet.report.svg import Frame


def area_chart(title: str, axis: Axis, series: Sequence[Plotted], levels: Sequence[Level] = ()) -> Html:
    """Series that have a value at every same x, each on top of the one before."""
    tops = stacked(series)
    ends = [value for row in tops for value in row] + [level.value for level in levels]
    xs = [value.x for value in series[0].values] if series else []
    frame = make_frame(xs, ends, axis, WIDTH_OF_WIDE)
    parts = frame.axes(axis.x_label) + [level_line(frame, level) for level in levels]
    floor = [0.0] * len(xs)
    for plotted, top in zip(series, tops, strict=True):
        parts += area(frame, plotted.kind, xs, floor, top)
        floor = top
    return frame.picture(title, *parts, read_off="µs", stacked=True)


def stacked(series: Sequence[Plotted]) -> list[list[float]]:
    """How high each series reaches at every x."""
    tops: list[list[float]] = []
    for plotted in series:
        below = tops[-1] if tops else [0.0] * len(plotted.values)
        own = [value.simulated or 0.0 for value in plotted.values]
        tops.append([low + high for low, high in zip(below, own, strict=True)])
    return tops


def area(frame: Frame, kind: str, xs: Sequence[float], low: Sequence[float], high: Sequence[float]) -> list[Html]:
    """The area between two lines, and the upper line."""
    over = [f"{frame.x(x)},{frame.y(y)}" for x, y in zip(xs, high, strict=True)]
    under = [f"{frame.x(x)},{frame.y(y)}" for x, y in zip(xs, low, strict=True)]
    return [
        element("polygon", points=" ".join([*over, *reversed(under)]), class_=f"area fill-{kind}"),
        element("polyline", points=" ".join(over), class_=f"curve thin stroke-{kind}"),
    ]

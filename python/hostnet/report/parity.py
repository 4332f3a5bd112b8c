"""Charts of values that two simulators got for the same traffic: one along x, the other along y."""

from __future__ import annotations

from collections.abc import Sequence

from hostnet.report.charts import Axis, extent, make_frame, picture, values_text
from hostnet.report.html import Html, element
from hostnet.report.series import Plotted
from hostnet.report.svg import shape

EQUAL = "equal values"


def parity_chart(title: str, axis: Axis, series: Sequence[Plotted]) -> Html:
    """Simulated values over published ones, with the line on which they are equal."""
    values = [value for plotted in series for value in plotted.values]
    xs = sorted({value.x for value in values})
    frame = make_frame(xs, [end for value in values for end in extent(value)], axis)
    low, high = xs[0], xs[-1]
    equal = element("line", x1=frame.x(low), y1=frame.y(low), x2=frame.x(high), y2=frame.y(high), class_="reference")
    marks = [
        shape(plotted.kind, frame.x(value.x), frame.y(value.simulated), f"fill-{plotted.kind}", said)
        for plotted in series
        for value in plotted.values
        if value.simulated is not None
        for said in [f"{value.label}, {plotted.name}\n{values_text(value, axis)}"]
    ]
    return frame.picture(title, *frame.axes(axis.x_label), equal, *marks)


def parity_legend(series: Sequence[Plotted]) -> Html:
    """Which mark is which series, and what the line is."""
    entries = [(plotted.name, picture(shape(plotted.kind, 13, 6, f"fill-{plotted.kind}"))) for plotted in series]
    line = picture(element("line", x1=0, x2=26, y1=6, y2=6, class_="reference"))
    return element(
        "ul", *(element("li", drawing, name) for name, drawing in [*entries, (EQUAL, line)]), class_="legend"
    )

"""Charts of values of two simulators for the same traffic, plotted against each other."""

from __future__ import annotations

from collections.abc import Sequence

from hostnet.report.charts import ChartAxis, extent, legend_icon, make_frame, values_text
from hostnet.report.html import Html, element
from hostnet.report.series import ChartSeries
from hostnet.report.svg import shape

EQUAL = "equal values"


def parity_chart(title: str, axis: ChartAxis, series: Sequence[ChartSeries]) -> Html:
    """Draws simulated values over published ones, with the line of equality."""
    values = [value for plotted in series for value in plotted.values]
    xs = sorted({value.x for value in values})
    frame = make_frame(xs, [end for value in values for end in extent(value)], axis)
    low, high = xs[0], xs[-1]
    equal = element("line", x1=frame.x(low), y1=frame.y(low), x2=frame.x(high), y2=frame.y(high), class_="reference")
    marks = [
        shape(plotted.kind, frame.x(value.x), frame.y(value.simulated), f"fill-{plotted.kind}", text)
        for plotted in series
        for value in plotted.values
        if value.simulated is not None
        for text in [f"{value.label}, {plotted.name}\n{values_text(value, axis)}"]
    ]
    return frame.picture(title, *frame.axes(axis.x_label), equal, *marks)


def parity_legend(series: Sequence[ChartSeries]) -> Html:
    """Creates the legend of series and the line of equality."""
    entries = [(plotted.name, legend_icon(shape(plotted.kind, 13, 6, f"fill-{plotted.kind}"))) for plotted in series]
    line = legend_icon(element("line", x1=0, x2=26, y1=6, y2=6, class_="reference"))
    return element(
        "ul", *(element("li", drawing, name) for name, drawing in [*entries, (EQUAL, line)]), class_="legend"
    )

"""Curves of a network on a chip over its offered load: latency up to and beyond saturation, and accepted load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hostnet.report.charts import WIDTH_OF_WIDE, ChartAxis, curve, legend, lines_in
from hostnet.report.html import Html, element, section
from hostnet.report.numbers import number
from hostnet.report.point_charts import PointAxes, make_frame, reference_level, reference_wall
from hostnet.report.scales import tight_frame
from hostnet.report.series import KINDS, ChartSeries, ReferenceLine, SeriesPoint
from hostnet.report.svg import HEIGHT, RIGHT, ChartFrame, nice_range, shape, tick_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Row = dict[str, Any]

NAMED_MAX = 12
"""Maximum number of characters of a curve that its label names."""

ALIKE = 0.25
"""Relative difference below which zero-load latencies share a line, whose labels would overlap."""

NOTE = (
    "The latency axis is logarithmic, so that all loads are shown. Beyond saturation (hollow marks) queues grow while "
    "the network runs: the mean then depends on the length of the measurement. Dashed lines are the latency of "
    "packets alone, and the load that each network accepted at most once it was saturated."
)


@dataclass(frozen=True)
class NocRun:
    """A run on the page: its title, the curve that it belongs to, and its summary."""

    title: str
    curve: str
    summary: Row


def curves_section(runs: Sequence[NocRun]) -> Html:
    """Creates the charts of latency and accepted load over the offered load, a few curves in each."""
    cards = []
    curves = list(dict.fromkeys(run.curve for run in runs))
    for start in range(0, len(curves), len(KINDS)):
        own = {name: by_load(runs, name) for name in curves[start : start + len(KINDS)]}
        latency = series_of(own, lambda row: row["latency"]["packet"]["mean_cycles"])
        if latency:
            cards.append(curve_card("Mean latency, cycles", latency, latency_chart(latency, own)))
        accepted = series_of(own, lambda row: row["rate"]["accepted"])
        cards.append(curve_card("Accepted, flits/node/cycle", accepted, accepted_chart(accepted)))
    return section("Latency under load", element("div", *cards, class_="pair fixed"), note=NOTE)


def by_load(runs: Sequence[NocRun], curve: str) -> list[Row]:
    """Returns the summaries of a curve in the order of their offered loads."""
    own = [run.summary for run in runs if run.curve == curve and run.summary["rate"]["offered"] is not None]
    return sorted(own, key=lambda row: float(row["rate"]["offered"]))


def series_of(own: dict[str, list[Row]], read: Callable[[Row], float | None]) -> list[ChartSeries]:
    """Returns a series for each curve over the offered load."""
    series = []
    for (name, rows), kind in zip(own.items(), KINDS, strict=False):
        values = [(row["rate"]["offered"], read(row)) for row in rows]
        series.append(ChartSeries(name or "all", kind, tuple(SeriesPoint(x, y) for x, y in values if y is not None)))
    return [plotted for plotted in series if plotted.values]


def curve_card(title: str, series: Sequence[ChartSeries], chart: Html) -> Html:
    """Creates the card of a chart."""
    return element("div", element("h3", title), legend(series) if len(series) > 1 else None, chart, class_="card wide")


def latency_chart(series: Sequence[ChartSeries], own: dict[str, list[Row]]) -> Html:
    """Draws latencies over a logarithmic axis, with the zero-load latency, and where each network saturates."""
    levels = [ReferenceLine("alone", value) for value in zero_loads([row for rows in own.values() for row in rows])]
    walls = [wall for name, rows in own.items() for wall in saturation(name if len(series) > 1 else "", rows)]
    low, high, ticks = nice_range([value.x for plotted in series for value in plotted.values] + [0.0])
    axes = PointAxes(
        "offered, flits/node/cycle",
        (low, high),
        tuple(zip(ticks, tick_labels(ticks), strict=True)),
        "cycles",
        y_logarithmic=True,
        from_zero=True,
    )
    frame = make_frame(axes, series, levels, walls, WIDTH_OF_WIDE, HEIGHT)
    right = float(frame.width - RIGHT)
    parts = [*frame.axes(axes.x_label)]
    parts += [part for level in levels for part in reference_level(frame, level, series, right)]
    parts += [part for line, wall in enumerate(walls) for part in reference_wall(frame, wall, line)]
    for plotted, rows in zip(series, own.values(), strict=False):
        parts += [*curve(frame, plotted), *load_marks(frame, plotted, rows)]
    return frame.picture("Mean latency over the offered load", *parts)


def saturation(name: str, rows: Sequence[Row]) -> list[ReferenceLine]:
    """Returns the largest load that a network accepted once it was saturated, if it was."""
    accepted = [row["rate"]["accepted"] for row in rows if row["saturation"]["saturated"]]
    shown = f"{name} saturates at" if 0 < len(name) <= NAMED_MAX else "saturates at"
    return [ReferenceLine(shown, max(accepted))] if accepted else []


def zero_loads(rows: Sequence[Row]) -> list[float]:
    """Returns the different latencies of packets alone."""
    found: list[float] = []
    for row in rows:
        value = row["latency"]["zero_load"]["mean_cycles"]
        if value and not any(abs(value - known) <= ALIKE * known for known in found):
            found.append(value)
    return found[:2]


def load_marks(frame: ChartFrame, plotted: ChartSeries, rows: Sequence[Row]) -> list[Html]:
    """Draws a mark at every load: hollow where the network was saturated."""
    saturated = {row["rate"]["offered"] for row in rows if row["saturation"]["saturated"]}
    marks = []
    for value in plotted.values:
        full = value.x in saturated
        style = f"ring stroke-{plotted.kind}" if full else f"fill-{plotted.kind}"
        words = f"{plotted.name}, offered {number(value.x)}: {number(value.simulated)} cycles"
        tip = words + (", saturated" if full else "")
        marks.append(shape(plotted.kind, frame.x(value.x), frame.y(value.simulated or 0.0), style, tip))
    return marks


def accepted_chart(series: Sequence[ChartSeries]) -> Html:
    """Draws the accepted load, with the line on which all that is offered is accepted."""
    xs = [value.x for plotted in series for value in plotted.values] or [1.0]
    ys = [value.simulated or 0.0 for plotted in series for value in plotted.values]
    frame = tight_frame([0.0, *xs], [0.0, *ys])
    axis = ChartAxis("offered, flits/node/cycle")
    end = min(max(xs), frame.y.high)
    ideal = element(
        "line",
        element("title", "all that is offered is accepted"),
        x1=frame.x(0.0),
        y1=frame.y(0.0),
        x2=frame.x(end),
        y2=frame.y(end),
        class_="reference",
    )
    return frame.picture("Accepted load over the offered load", *lines_in(frame, axis, series, ()), ideal)

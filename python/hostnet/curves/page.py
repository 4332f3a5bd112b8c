"""Page of latency under load: the curves with their limits, and what is delivered of the load that is offered."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hostnet.curves.points import writes_per_read
from hostnet.report.charts import WIDTH_OF_WIDE
from hostnet.report.html import Cell, Html, element, section, warning
from hostnet.report.html import table as html_table
from hostnet.report.numbers import exact_text, number, percent, with_ci95
from hostnet.report.page import page
from hostnet.report.point_charts import PointAxes, line_swatch, point_legend, points_chart
from hostnet.report.series import MANY_KINDS, ChartSeries, ReferenceLine, SeriesPoint
from hostnet.report.svg import nice_range, tick_labels
from hostnet.units import LINE_BYTES, format_percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Row = Mapping[str, Any]

KNEE = 1.5
"""Multiple of the unloaded latency at which a curve bends upwards."""

TALL = 330
"""Height of the charts."""

NOTE = (
    "One core measures the latency of its reads while the others load the memory, each point with another delay "
    "between their accesses. The dashed lines are the peak bandwidth of the memory and the latency without load; "
    "whiskers are 95 % confidence intervals. Each point links to its row."
)


def curve_page(content: Row) -> str:
    """Returns the page of the content of `curve.json`."""
    return page(
        f"{content['server']}, latency under load \u2013 hostnet",
        header(content),
        charts_section(content),
        tiles_section(content),
        points_section(content),
        element("footer", "hostnet curve"),
    )


def charts_section(content: Row) -> Html:
    """Creates the charts of latency and of delivered bandwidth, under their legend."""
    names = [share_text(curve) for curve in content["curves"][: len(MANY_KINDS)]]
    return section(
        "Latency and bandwidth",
        point_legend("reads", names, line_swatch),
        element("div", latency_card(content), delivered_card(content), class_="pair"),
        note=NOTE,
    )


def header(content: Row) -> Html:
    """Creates the title, what was measured, and the validity of the server."""
    verb = "Predicted" if content["engine"] == "predict" else "Simulated"
    lead = (
        f"{verb}: core 0 reads ({content['probe']}) while {content['cores']} cores load the memory; "
        f"its peak is {number(content['peak_gb_per_s'])} GB/s."
    )
    return element(
        "header",
        element("p", "Latency under load", class_="eyebrow"),
        element("h1", content["server"]),
        element("p", lead, class_="lead"),
        warning(content["unvalidated"]) if content["unvalidated"] else None,
    )


def share_text(curve: Row) -> str:
    """Formats the share of reads of a curve."""
    return format_percent(curve["reads"])


def shown_curves(content: Row) -> Iterator[tuple[str, int, Row]]:
    """Yields the curves that have a colour, with their kinds and numbers."""
    for index, (kind, curve) in enumerate(zip(MANY_KINDS, content["curves"], strict=False)):
        yield kind, index, curve


def row_id(curve: int, point: int) -> str:
    """Returns the name of the place of a point on the page."""
    return f"point-{curve}-{point}"


def point_name(point: Row) -> str:
    """Names a point by its inject delay and its bandwidth."""
    return f"inject delay {number(point['gap_ns'])} ns, {number(point['bandwidth_gb_per_s'])} GB/s"


def latency_card(content: Row) -> Html:
    """Draws the latency over the bandwidth, with the peak and the latency without load."""
    series = [
        ChartSeries(
            f"reads {share_text(curve)}",
            kind,
            tuple(
                SeriesPoint(
                    point["bandwidth_gb_per_s"],
                    point["latency_ns"],
                    point["latency_ci95"] or None,
                    label=point_name(point),
                    link=row_id(index, at),
                )
                for at, point in enumerate(curve["points"])
            ),
        )
        for kind, index, curve in shown_curves(content)
    ]
    peak = content["peak_gb_per_s"]
    light = min(curve["latency_light_ns"] for curve in content["curves"])
    axes = bandwidth_axes("memory bandwidth, GB/s", peak, "ns")
    levels, walls = [ReferenceLine("unloaded", light)], [ReferenceLine("peak", peak)]
    title = f"Read latency over memory bandwidth of {content['server']}"
    drawn = points_chart(title, axes, series, levels, walls, width=WIDTH_OF_WIDE, height=TALL)
    return chart_card("Read latency, ns", drawn)


def delivered_card(content: Row) -> Html:
    """Draws the delivered bandwidth over the offered one, which it equals until the memory saturates."""
    peak = content["peak_gb_per_s"]
    series = [
        ChartSeries(f"reads {share_text(curve)}", kind, delivered(content, index, curve))
        for kind, index, curve in shown_curves(content)
    ]
    largest = max((value.x for plotted in series for value in plotted.values), default=peak)
    axes = bandwidth_axes("offered by the load, GB/s", largest, "GB/s")
    title = f"Delivered over offered bandwidth of {content['server']}"
    drawn = points_chart(title, axes, series, [ReferenceLine("peak", peak)], width=WIDTH_OF_WIDE, height=TALL)
    return chart_card("Memory bandwidth, GB/s", drawn)


def delivered(content: Row, index: int, curve: Row) -> tuple[SeriesPoint, ...]:
    """Returns the bandwidth of each point over the offered one, without the point that has no delay."""
    line = content["cores"] * LINE_BYTES * (1 + writes_per_read(curve["reads"]))
    return tuple(
        SeriesPoint(
            line / point["gap_ns"], point["bandwidth_gb_per_s"], label=point_name(point), link=row_id(index, at)
        )
        for at, point in enumerate(curve["points"])
        if point["gap_ns"]
    )


def bandwidth_axes(label: str, largest: float, unit: str) -> PointAxes:
    """Returns axes with a bandwidth from 0 along x."""
    _, high, ticks = nice_range([0.0, largest], floor=0.0)
    return PointAxes(label, (0.0, high), tuple(zip(ticks, tick_labels(ticks), strict=True)), unit, from_zero=True)


def chart_card(caption: str, drawn: Html) -> Html:
    """Creates the card of a chart."""
    return element("figure", element("figcaption", element("b", caption)), drawn, class_="card")


def tiles_section(content: Row) -> Html:
    """Creates a tile for each curve: its largest bandwidth, its latencies, and where it bends."""
    return section(
        "Saturation",
        element("div", *(tile(curve, content["peak_gb_per_s"]) for curve in content["curves"]), class_="tiles"),
    )


def tile(curve: Row, peak: float) -> Html:
    """Creates the tile of a curve."""
    most, light = curve["bandwidth_max_gb_per_s"], curve["latency_light_ns"]
    heaviest = max(point["latency_ns"] for point in curve["points"])
    bend = knee(curve)
    limit = f"{KNEE:g} times the unloaded latency"
    where = f"The latency stays below {limit}."
    if bend is not None:
        where = f"The latency exceeds {limit} from {number(bend)} GB/s, {percent(bend / peak, 0)} of the peak."
    return element(
        "div",
        element("h3", f"reads {share_text(curve)}"),
        element("p", element("b", number(most)), f" GB/s, {percent(most / peak, 0)} of the peak", class_="big"),
        element("p", f"{number(light)} ns unloaded, {number(heaviest)} ns at the heaviest load"),
        element("p", where, class_="sub"),
        class_="card tile",
    )


def knee(curve: Row) -> float | None:
    """Returns the bandwidth from which on the latency exceeds `KNEE` times the unloaded one; None if it never does."""
    limit = KNEE * curve["latency_light_ns"]
    for before, after in pairwise(reversed(curve["points"])):
        if before["latency_ns"] < limit <= after["latency_ns"]:
            share = (limit - before["latency_ns"]) / (after["latency_ns"] - before["latency_ns"])
            low, high = before["bandwidth_gb_per_s"], after["bandwidth_gb_per_s"]
            return float(low + share * (high - low))
    return None


def points_section(content: Row) -> Html:
    """Creates the table of the points."""
    heads = [
        Cell("reads", "reads"),
        Cell("inject delay ns", "gap_ns"),
        Cell("latency ns", "latency_ns\tlatency_ci95"),
        Cell("bandwidth GB/s", "bandwidth_gb_per_s"),
        Cell("of the peak", ""),
    ]
    rows = [
        point_cells(content, index, at, point)
        for index, curve in enumerate(content["curves"])
        for at, point in enumerate(curve["points"])
    ]
    table = html_table(heads, rows, label="Points")
    return section("Points", element("div", table, class_="long"))


def point_cells(content: Row, index: int, at: int, point: Row) -> Sequence[Cell]:
    """Creates the cells of a point."""
    curve = content["curves"][index]
    latency, ci95 = point["latency_ns"], point["latency_ci95"] or None
    return [
        Cell(element("span", share_text(curve), id=row_id(index, at)), exact_text(curve["reads"])),
        Cell(number(point["gap_ns"]), exact_text(point["gap_ns"])),
        Cell(with_ci95(latency, ci95), f"{exact_text(latency)}\t{exact_text(ci95)}"),
        Cell(number(point["bandwidth_gb_per_s"]), exact_text(point["bandwidth_gb_per_s"])),
        Cell(percent(point["bandwidth_gb_per_s"] / content["peak_gb_per_s"])),
    ]

"""Section on the quantities of servers over time: a line for each server, or the range over many."""

from __future__ import annotations

from collections import defaultdict
from statistics import quantiles
from typing import TYPE_CHECKING

from hostnet.report.charts import ChartAxis, legend, line_chart
from hostnet.report.html import Html, element, section
from hostnet.report.series import KINDS, ChartSeries, SeriesPoint, thinned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.report.load import Row

OVER_TIME = {
    "goodput_gbps": ("Goodput into applications", "Gbps"),
    "iio_write_gbps": ("PCIe bandwidth into memory", "Gbps"),
    "iio_write_occupancy": ("Lines in the IIO", "lines"),
    "nic_buffer_bytes": ("Receive buffer of the NIC", "bytes"),
    "nic_dropped": ("Packets dropped by the NIC", ""),
    "level": ("Level of throttling", ""),
    "occupancy_smoothed_lines": ("I_S, smoothed", "lines"),
    "bandwidth_smoothed_gbps": ("B_S, smoothed", "Gbps"),
}
"""Title and unit of the columns of the time series, in the order of the charts."""

MANY = ("highest", "P75", "median", "lowest")
"""Names of the lines of more servers than one chart has lines for."""

MS_FROM = 10_000.0
"""Time in us from which times are shown in ms."""


def over_time_section(series: Sequence[Row]) -> Html | None:
    """Creates a chart for every quantity that a server has; None without a time series."""
    cards = [
        card for column, (title, unit) in OVER_TIME.items() for card in [quantity_card(series, column, title, unit)]
    ]
    shown = [card for card in cards if card is not None]
    if not shown:
        return None
    return section(
        "Over time", element("div", *shown, class_="pair fixed"), note="Time begins with the measuring window."
    )


def quantity_card(series: Sequence[Row], column: str, title: str, unit: str) -> Html | None:
    """Creates the chart of a quantity; None if no server has any."""
    hosts: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in series:
        if row[column] is not None:
            hosts[row["host"]].append((row["time_us"], float(row[column])))
    filled = {host: points for host, points in hosts.items() if any(value for _, value in points)}
    if not filled:
        return None
    scale, x_unit = (1000.0, "ms") if max(row["time_us"] for row in series) >= MS_FROM else (1.0, "µs")
    lines = filled if len(filled) <= len(KINDS) else ranges(filled)
    drawn = [
        thinned(ChartSeries(name, kind, tuple(SeriesPoint(at / scale, value) for at, value in points)))
        for (name, points), kind in zip(lines.items(), KINDS, strict=False)
    ]
    heading = f"{title}{f', {unit}' if unit else ''}{f', of {len(filled)} servers' if lines is not filled else ''}"
    axis = ChartAxis(f"time, {x_unit}", unit, whole_x=False, x_floor=0.0)
    chart = line_chart(f"{heading}, over time", axis, drawn, wide=True)
    return element("div", element("h3", heading), legend(drawn), chart, class_="card wide")


def ranges(hosts: dict[str, list[tuple[float, float]]]) -> dict[str, list[tuple[float, float]]]:
    """Returns the highest value, quartile, median and lowest value of many servers at each time."""
    at: dict[float, list[float]] = defaultdict(list)
    for points in hosts.values():
        for time, value in points:
            at[time].append(value)
    lines: dict[str, list[tuple[float, float]]] = {name: [] for name in MANY}
    for time, values in sorted(at.items()):
        _, middle, upper = quantiles(values, n=4, method="inclusive") if len(values) > 1 else (0, values[0], values[0])
        for name, value in zip(MANY, (max(values), upper, middle, min(values)), strict=True):
            lines[name].append((time, value))
    return lines

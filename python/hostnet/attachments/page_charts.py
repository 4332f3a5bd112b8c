"""Charts on the page of a comparison of places: stages of a packet, and each metric at each place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hostnet.attachments.advice import lacking
from hostnet.report.charts import WIDTH_OF_WIDE
from hostnet.report.html import Html, element, section
from hostnet.report.numbers import MISSING, number
from hostnet.report.point_charts import bar_swatch, point_legend
from hostnet.report.rows import Bar, BarGroup, Segment, Stack, bar_rows, stack_rows
from hostnet.report.series import MANY_KINDS
from hostnet.stages import STAGES
from hostnet.units import format_percent, readable_unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Row = Mapping[str, Any]

WORK = {
    "copy": ("copy", "a"),
    "driver": ("driver", "b"),
    "flush": ("cache lines", "d"),
    "register": ("registers", "e"),
    "dma": ("DMA", "c"),
    "invalidate": ("cache lines", "d"),
}
"""Name and colour of the work of a stage, which the sender (tx) and the receiver (rx) have alike."""

WIRE = ("wire", "n")

MEANINGS = {
    "tx_copy": "the sender copies the data",
    "tx_driver": "the driver of the sender works",
    "tx_flush": "the sender flushes cache lines to memory",
    "tx_register": "the sender accesses registers of its NIC",
    "tx_dma": "the NIC of the sender reads descriptor and data",
    "wire": "the packet crosses the network",
    "rx_dma": "the NIC of the receiver writes data and completion",
    "rx_invalidate": "the receiver invalidates cache lines",
    "rx_driver": "the driver of the receiver works",
    "rx_copy": "the receiver copies the data",
}
"""What happens in a stage."""

STAGES_NOTE = (
    "Mean time of each stage of a packet, from the application that sends to the one that receives: first the work of "
    "the sender, then the wire, then that of the receiver."
)


@dataclass(frozen=True)
class Measure:
    """A column that has a chart, and its unit."""

    column: str
    title: str
    unit: str


TRAFFIC = (
    Measure("goodput_gbps", "Goodput", "Gbps"),
    Measure("mean_us", "Round trip, mean", "µs"),
    Measure("p99_us", "Round trip, P99", "µs"),
    Measure("memory_bytes_per_packet", "Memory traffic of a packet", "B"),
    Measure("pj_per_byte", "Energy per byte", "pJ/B"),
    Measure("nj_per_operation", "Energy per request", "nJ"),
)
"""Charts of the traffic."""

HOSTS = (
    Measure("memory_gb_per_s", "Memory bandwidth", "GB/s"),
    Measure("busy_percent", "Cores with network traffic busy", "%"),
    Measure("power_w", "Power", "W"),
    Measure("others_gb_per_s", "Other workloads", "GB/s"),
    Measure("others_latency_ns", "Latency of other workloads", "ns"),
)
"""Charts of the servers."""

GROUPS_MAX = 12
"""Maximum number of classes or servers in a chart."""


def stages_section(rows: Sequence[Row]) -> Html | None:
    """Creates a chart of stacked bars for each class and direction; None without datagrams."""
    if not rows:
        return None
    used = [stage for stage in STAGES if any(row.get(stage) for row in rows)]
    names = list(dict.fromkeys(work_of(stage) for stage in used))
    legend = element("ul", *(legend_entry(name, kind) for name, kind in names), class_="legend")
    cards = [
        stage_card(name, way, [row for row in rows if (row["class"], row["way"]) == (name, way)])
        for name, way in dict.fromkeys((row["class"], row["way"]) for row in rows)
    ]
    return section("Where the time goes", legend, element("div", *cards, class_="pair"), note=STAGES_NOTE)


def legend_entry(name: str, kind: str) -> Html:
    """Creates an entry of the legend."""
    swatch = element("svg", *bar_swatch(kind), viewBox="0 0 26 12", aria_hidden="true")
    return element("li", swatch, name)


def work_of(stage: str) -> tuple[str, str]:
    """Returns the name and the colour of the work in a stage."""
    return WORK.get(stage.partition("_")[2], WIRE)


def stage_card(name: str, way: str, rows: Sequence[Row]) -> Html:
    """Creates the chart of a class in one direction: a bar for each place, in the order of the stages."""
    stacks = [Stack(row["place"], segments(row), f"{number(row['mean_us'])} µs") for row in rows]
    title = f"{name}, {way}"
    drawn = stack_rows(f"Stages of packets of {title}", stacks, "µs", width=WIDTH_OF_WIDE)
    return element("figure", element("figcaption", element("b", title)), drawn, class_="card")


def segments(row: Row) -> tuple[Segment, ...]:
    """Returns the stages of a row as segments. Those without time are left out."""
    return tuple(
        Segment(work_of(stage)[0], work_of(stage)[1], row[stage], segment_text(row, stage, heading))
        for stage, heading in STAGES.items()
        if row.get(stage)
    )


def segment_text(row: Row, stage: str, heading: str) -> str:
    """Describes a stage."""
    share = format_percent(row[stage] / row["mean_us"], 0) if row["mean_us"] else MISSING
    return f"{heading} at {row['place']}: {number(row[stage])} µs, {share}\n{MEANINGS[stage]}"


def traffic_charts(rows: Sequence[Row]) -> Html | None:
    """Creates a chart of each metric of the traffic."""
    return charts_section("What each place costs", rows, "class", TRAFFIC)


def host_charts(rows: Sequence[Row]) -> Html | None:
    """Creates a chart of each metric of the servers."""
    return charts_section("What the servers do", rows, "host", HOSTS)


def charts_section(title: str, rows: Sequence[Row], subject: str, measures: Sequence[Measure]) -> Html | None:
    """Creates the charts of the metrics that some row has; None without any."""
    shown = [measure for measure in measures if any(row[measure.column] for row in rows)]
    if not shown:
        return None
    places = list(dict.fromkeys(row["place"] for row in rows))
    subjects = list(dict.fromkeys(row[subject] for row in rows))[:GROUPS_MAX]
    several = len(subjects) > 1
    cards = [metric_card(measure, rows, subject, subjects, places) for measure in shown]
    legend = point_legend("NIC", places, bar_swatch) if several else None
    return section(title, legend, element("div", *cards, class_="many"))


def metric_card(
    measure: Measure, rows: Sequence[Row], subject: str, subjects: Sequence[str], places: Sequence[str]
) -> Html:
    """Creates the chart of a metric: bars of the places for each subject, or of a single subject for each place."""
    largest = max((abs(row[measure.column]) for row in rows if row[measure.column] is not None), default=0.0)
    unit, factor = readable_unit(measure.unit, largest)
    found = {(row[subject], row["place"]): row for row in rows}
    kinds = dict(zip(places, MANY_KINDS, strict=False))

    def bar(name: str, place: str, kind: str) -> Bar:
        row = found.get((name, place))
        return bar_of(measure, row, kind, unit, factor, f"{name}, NIC at {place}")

    if len(subjects) > 1:
        groups = [BarGroup(name, tuple(bar(name, place, kinds[place]) for place in places)) for name in subjects]
    else:
        groups = [BarGroup(place, (bar(subjects[0], place, kinds[place]),)) for place in places]
    title = f"{measure.title}, {unit}"
    return element("figure", element("figcaption", element("b", title)), bar_rows(title, groups), class_="card")


def bar_of(measure: Measure, row: Row | None, kind: str, unit: str, factor: float, name: str) -> Bar:
    """Returns the bar of a row; a percentile that lacks requests says how many there were."""
    value = None if row is None else row[measure.column]
    if value is None:
        lacks = lacking(dict(row)) if row is not None and measure.column == "p99_us" else None
        return Bar(kind, None, f"{lacks} requests" if lacks else MISSING, "")
    return Bar(kind, value * factor, number(value * factor), f"{name}\n{measure.title} {number(value * factor)} {unit}")

"""Tables on the page of a comparison of places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.attachments.advice import lacking
from hostnet.report.html import Cell, Child, Html, details, element, section
from hostnet.report.html import table as html_table
from hostnet.report.numbers import MISSING, exact_text, number
from hostnet.stages import STAGES
from hostnet.units import format_si

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Row = Mapping[str, Any]

JOULES = {"pj_per_byte": 1e-12, "nj_per_operation": 1e-9}
"""Size of the unit of columns of energy, in J."""

TRAFFIC = {
    "class": "class",
    "place": "NIC",
    "limit": "limited by",
    "goodput_gbps": "Gbps",
    "mean_us": "round trip µs",
    "p99_us": "P99 µs",
    "requests": "requests",
    "memory_bytes_per_packet": "memory B/packet",
    "pj_per_byte": "energy per byte",
    "nj_per_operation": "per request",
}
"""Headings of the columns of the traffic."""

HOSTS = {
    "host": "host",
    "place": "NIC",
    "in_gbps": "in Gbps",
    "out_gbps": "out Gbps",
    "memory_gb_per_s": "memory GB/s",
    "busy_percent": "busy %",
    "power_w": "W",
    "others_gb_per_s": "others GB/s",
    "others_latency_ns": "their latency ns",
}
"""Headings of the columns of the servers."""

TEXTS = ("class", "way", "stage", "host", "place", "limit")


def tables_section(content: Row) -> Html:
    """Creates the folded tables of stages, traffic and servers."""
    stages = content["stages"]
    return section(
        "Tables",
        details("Stages, µs", stage_table(stages)) if stages else None,
        details("Traffic", row_table("Traffic", TRAFFIC, content["traffic"])),
        details("Servers", row_table("Servers", HOSTS, content["hosts"])),
    )


def stage_table(rows: Sequence[Row]) -> Html:
    """Creates the table of stages: a row per class, direction and stage, a column per place."""
    places = list(dict.fromkeys(row["place"] for row in rows))
    shown = {stage: name for stage, name in STAGES.items() if any(row.get(stage) for row in rows)}
    cells = []
    for ends in dict.fromkeys((row["class"], row["way"]) for row in rows):
        own = {row["place"]: row for row in rows if (row["class"], row["way"]) == ends}
        for stage, name in {**shown, "mean_us": "all"}.items():
            cells.append([*ends, name, *(value_cell(own.get(place, {}), stage) for place in places)])
    return html_table(["class", "way", "stage", *places], cells, text_columns=3, label="Stages")


def row_table(title: str, headings: Mapping[str, str], rows: Sequence[Row]) -> Html:
    """Creates a table of the columns that have a value other than 0 in some row."""
    shown = [column for column in headings if column in TEXTS or any(row.get(column) for row in rows)]
    heads = [Cell(headings[column], column) for column in shown]
    cells = [[value_cell(row, column) for column in shown] for row in rows]
    return html_table(heads, cells, text_columns=sum(column in TEXTS for column in shown), label=title)


def value_cell(row: Row, column: str) -> Cell:
    """Creates a cell; energies have the prefix that makes them readable, and percentiles say what they lack."""
    return Cell(value_text(row, column), exact_text(row.get(column)))


def value_text(row: Row, column: str) -> Child:
    """Formats a value."""
    value = row.get(column)
    if isinstance(value, str):
        return value
    if value is None:
        lacks = lacking(dict(row)) if column == "p99_us" else None
        return element("span", f"{lacks} requests", class_="quiet") if lacks else MISSING
    return format_si(value * JOULES[column], "J") if column in JOULES else number(value)

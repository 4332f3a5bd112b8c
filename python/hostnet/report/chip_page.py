"""Report of a run of a chip: latency breakdown, bandwidth, and busy links."""

from __future__ import annotations

from typing import Any

from hostnet.report.chip_descriptions import chip_headline, chip_notes, chip_reason, chip_workload
from hostnet.report.chip_map import chip_map, map_scale, rack_map
from hostnet.report.html import Html, element, fact_list, section, table
from hostnet.report.link_lines import heat_legend
from hostnet.report.page import page
from hostnet.report.shares import ShareRow, share_bars
from hostnet.units import format_percent

Summary = dict[str, Any]

LINKS = 12
"""Number of links in the table; all of them are in summary.json."""
MAP_NOTE = (
    "Two lines between routers are the two directions of a link, each on its right-hand side; a tile, NI or memory "
    "controller has the colour of the link to it. Numbers are columns and rows, as in the names of links."
)

DOMINANT = 0.75
"""Share of the latency from which a part leaves so little room for the others that they have a bar of their own."""


def chip_page(summary: Summary) -> str:
    """Returns the page."""
    name = str(summary["name"])
    latency, rates, noc = summary["latency"], summary["bandwidth"], summary["noc"]
    head = element(
        "header",
        element("p", "hostnet, a chip", class_="eyebrow"),
        element("h1", name),
        element("p", chip_headline(summary), class_="lead"),
        element("p", chip_workload(summary), class_="note"),
    )
    shown = fact_list(
        (
            ("mean latency", None if latency is None else f"{latency['mean_cycles']:.1f} cycles"),
            ("in ns", None if latency is None else f"{latency['mean_ns']:.1f}"),
            ("payload, in and out", f"{rates['application_gb_per_s']:.1f} GB/s"),
            ("on the NoC", f"{noc['gb_per_s']:.1f} GB/s"),
            ("window", f"{summary['window_ns'] / 1000:.1f} µs"),
        )
    )
    notes = [element("p", note, class_="note") for note in chip_notes(summary)]
    return page(
        f"{name} – hostnet",  # noqa: RUF001
        head,
        shown,
        element("p", chip_reason(summary)),
        *notes,
        *pictures(summary),
        parts_section(summary),
        rack_section(summary),
        element("footer", f"configuration {summary['config_hash']}, result {summary['result_hash']}"),
    )


def pictures(summary: Summary) -> list[Html | None]:
    """Creates the bars of the latency and the map of the links."""
    mean = " Shares are the mean of all chips." if "rack" in summary else ""
    return [
        breakdown_section(summary["breakdown"]),
        section(
            "How busy the links are",
            element(
                "div",
                element("figure", chip_map(summary), heat_legend(map_scale(summary["noc"]["links"])), class_="card"),
                element("div", element("h3", "The fullest links"), links_table(summary)),
                class_="map",
            ),
            note=MAP_NOTE + mean,
        ),
    ]


def breakdown_section(breakdown: Summary) -> Html | None:
    """Creates the bars of the parts of the latency; None without operations."""
    if not breakdown["operations"]:
        return None
    values = {row["title"]: row["mean_cycles"] for row in breakdown["parts"]}
    rows = [ShareRow("all", values, cycles(breakdown["mean_cycles"]))]
    largest = max(breakdown["parts"], key=lambda row: row["share"])
    if largest["share"] >= DOMINANT:
        rest = {name: value for name, value in values.items() if name != largest["title"]}
        rows.append(ShareRow(f"without {largest['title']}", rest, cycles(sum(rest.values()))))
    return section(
        "Parts of an operation",
        element(
            "div",
            share_bars("Parts of an operation", rows, text=cycles, order=list(values), each_full=True),
            class_="card",
        ),
        note="Mean cycles, in chronological order. For operations of several lines, those of the last line to arrive.",
    )


def cycles(value: float) -> str:
    """Formats a number of cycles."""
    return f"{value:,.1f} cycles"


def parts_section(summary: Summary) -> Html | None:
    """Creates the table of the parts of the latency; None without operations."""
    breakdown = summary["breakdown"]
    if not breakdown["operations"]:
        return None
    rows = [
        (row["title"], f"{row['mean_cycles']:.1f}", f"{row['mean_ns']:.2f}", format_percent(row["share"], 1))
        for row in breakdown["parts"]
    ]
    total = breakdown["mean_cycles"]
    rows.append(("total", f"{total:.1f}", f"{total / summary['clock_ghz']:.2f}", format_percent(1.0, 1)))
    return section("Latency by part", table(("part", "cycles", "ns", "share"), rows, label="Parts of an operation"))


def rack_section(summary: Summary) -> Html | None:
    """Creates the map and the table of the chips of a rack; None without a rack."""
    if "rack" not in summary:
        return None
    rows = [
        (
            str(row["chip"]),
            ", ".join(map(str, row["at"])),
            str(row["operations"]),
            "" if row["latency"] is None else f"{row['latency']['mean_cycles']:.1f}",
            f"{row['bandwidth']['application_gb_per_s']:.1f}",
            row["link"],
            format_percent(row["share"], 1),
        )
        for row in summary["chips"]
    ]
    return section(
        "The chips of the rack",
        element("figure", rack_map(summary), heat_legend(map_scale(summary["chips"]))),
        table(("chip", "at", "operations", "cycles", "GB/s", "fullest link", "busy"), rows, label="Chips"),
        note="Planes of the torus side by side. A chip is filled as its fullest link is busy.",
    )


def links_table(summary: Summary) -> Html:
    """Creates the table of the busiest links."""
    peak = summary["noc"]["link_gb_per_s"]
    rows = [
        (row["link"], format_percent(row["share"], 1), f"{row['share'] * peak:.2f}", str(row["flits"]))
        for row in summary["noc"]["links"][:LINKS]
    ]
    return table(("link: column, row", "busy", "GB/s", "flits"), rows, label="The fullest links")

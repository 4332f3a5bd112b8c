"""Report of a run of a chip: latency breakdown, bandwidth, and busy links."""

from __future__ import annotations

from typing import Any

from hostnet.report.chip_descriptions import chip_headline, chip_notes, chip_reason, chip_workload
from hostnet.report.chip_map import chip_map, rack_map
from hostnet.report.html import Html, element, fact_list, section, table
from hostnet.report.page import page
from hostnet.report.svg import text
from hostnet.units import format_percent

Summary = dict[str, Any]

WIDTH = 900.0
LINKS = 12
"""Number of links in the table; all of them are in summary.json."""
FILLS = ("fill-a", "fill-b", "fill-c", "fill-d", "fill-n")
LABELLED = 0.05
"""Smallest share of a part that is labelled with its cycles."""


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
        breakdown_section(summary),
        rack_section(summary),
        section(
            "How busy the links are",
            element("figure", chip_map(summary)),
            links_table(summary),
            note="From grey, idle, to red, a flit in every cycle. Units are filled as the way to them is busy."
            + (" Shares are the mean of all chips." if "rack" in summary else ""),
        ),
        element("footer", f"configuration {summary['config_hash']}, result {summary['result_hash']}"),
    )


def breakdown_section(summary: Summary) -> Html | None:
    """Creates the bar and the table of the parts of the latency; None without operations."""
    breakdown = summary["breakdown"]
    if not breakdown["operations"]:
        return None
    rows = [
        (row["title"], f"{row['mean_cycles']:.1f}", f"{row['mean_ns']:.2f}", format_percent(row["share"], 1))
        for row in breakdown["parts"]
    ]
    total = breakdown["mean_cycles"]
    rows.append(("total", f"{total:.1f}", f"{total / summary['clock_ghz']:.2f}", format_percent(1.0, 1)))
    return section(
        "Parts of an operation",
        element("figure", bar(breakdown)),
        table(("part", "cycles", "ns", "share"), rows, label="Parts of an operation"),
        note="Mean cycles, in chronological order. For operations of several lines, those of the last line to arrive.",
    )


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
        element("figure", rack_map(summary)),
        table(("chip", "at", "operations", "cycles", "GB/s", "fullest link", "busy"), rows, label="Chips"),
        note="Planes of the torus side by side. A chip is filled as its fullest link is busy.",
    )


def bar(breakdown: Summary) -> Html:
    """Draws the parts side by side, in proportion to their times."""
    pieces, start = [], 0.0
    for index, row in enumerate(breakdown["parts"]):
        width = row["share"] * WIDTH
        title = f"{row['title']}: {row['mean_cycles']:.1f} cycles"
        fill = FILLS[index % len(FILLS)]
        pieces.append(
            element(
                "rect",
                element("title", title),
                x=round(start, 1),
                y=4,
                width=round(max(width - 1, 0.5), 1),
                height=34,
                class_=f"bar {fill}",
            )
        )
        if row["share"] >= LABELLED:
            pieces.append(text(f"{row['mean_cycles']:.0f}", start + width / 2, 54, anchor="middle"))
        start += width
    label = f"The parts of {breakdown['mean_cycles']:.1f} cycles"
    return element("svg", element("title", label), *pieces, viewBox=f"0 0 {WIDTH:g} 60", role="img", aria_label=label)


def links_table(summary: Summary) -> Html:
    """Creates the table of the busiest links."""
    peak = summary["noc"]["link_gb_per_s"]
    rows = [
        (row["link"], format_percent(row["share"], 1), f"{row['share'] * peak:.2f}", str(row["flits"]))
        for row in summary["noc"]["links"][:LINKS]
    ]
    return table(("link: column, row", "busy", "GB/s", "flits"), rows, label="The fullest links")

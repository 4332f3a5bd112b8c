"""Page of a network on a chip alone: latency under load, maps of links, and latency distributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hostnet.files import write_file
from hostnet.report.charts import ChartAxis, legend, line_chart
from hostnet.report.html import Html, element, fact_list, section, table
from hostnet.report.noc_descriptions import most_loaded_link, network_text, packets_text, saturation_text
from hostnet.report.noc_map import map_legend, noc_map
from hostnet.report.numbers import number, percent
from hostnet.report.page import page
from hostnet.report.series import KINDS, ChartSeries, SeriesPoint

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    Row = dict[str, Any]

MAPS_MAX = 12
"""Maximum number of runs that have a map each."""

SPREADS_MAX = 4
"""Maximum number of lines of a chart."""

KNEE = 10.0
"""Latencies above this multiple of the zero-load latency are not plotted, because queues dominate them."""

LINKS_MAX = 12

HOW_TO_READ = (
    "Share of the cycles in which a link is busy: a line for each direction between routers, on its right-hand side, "
    "and in the square of a router the link to its node."
)


@dataclass(frozen=True)
class NocRun:
    """A run on the page: its title, the curve that it belongs to, and its summary."""

    title: str
    curve: str
    summary: Row


def write_noc(path: Path, runs: Sequence[NocRun]) -> None:
    """Writes the page of one or several runs.

    Raises:
        OSError: The page cannot be written.
    """
    write_file(path, noc_page(runs).encode())


def noc_page(runs: Sequence[NocRun]) -> str:
    """Returns the page."""
    first = runs[0].summary
    measured = [run for run in runs if most_loaded_link(run.summary) is not None]
    return page(
        "Network on a chip – hostnet",  # noqa: RUF001
        header(runs),
        curves_section(runs) if len({run.summary["rate"]["offered"] for run in runs}) > 1 else None,
        runs_section(runs) if len(runs) > 1 else None,
        *pictures(measured),
        links_section(measured[0].summary) if len(measured) == 1 else None,
        element("footer", f"hostnet noc, configuration {first['config_hash']}"),
    )


def header(runs: Sequence[NocRun]) -> Html:
    """Creates the title with the main results."""
    summary = runs[0].summary
    single = len(runs) == 1
    alike = all(run.summary["config"]["noc"] == summary["config"]["noc"] for run in runs)
    rate, latency = summary["rate"], summary["latency"]
    bound = summary["bound"]
    lead = saturation_text(summary) if single else f"{len(runs)} runs."
    shown: list[tuple[str, str | None]] = [
        ("Cycles measured", str(summary["cycles"]["measured"])),
        ("A link is full at", f"{number(bound['rate'])} flits/node/cycle" if bound and alike else None),
    ]
    if single:
        shown += [
            ("Offered", f"{number(rate['offered'])} flits/node/cycle"),
            ("Accepted", f"{number(rate['accepted'])} flits/node/cycle"),
            ("Mean latency", f"{number(latency['packet']['mean_cycles'])} cycles"),
            ("99th percentile", f"{number(latency['packet']['p99_cycles'])} cycles"),
            ("The same packets alone", f"{number(latency['zero_load']['mean_cycles'])} cycles"),
        ]
    return element(
        "header",
        element("p", network_text(summary) if alike else "Values of several networks", class_="eyebrow"),
        element("h1", packets_text(summary) if single else "Network on a chip"),
        element("p", lead, class_="lead"),
        fact_list(shown),
    )


def curves_section(runs: Sequence[NocRun]) -> Html:
    """Creates the charts of latency and accepted load over the offered load."""
    cards = []
    curves = list(dict.fromkeys(run.curve for run in runs))
    for start in range(0, len(curves), len(KINDS)):
        names = curves[start : start + len(KINDS)]
        own = [[run.summary for run in runs if run.curve == name] for name in names]
        latency = lines(names, own, lambda row: row["latency"]["packet"]["mean_cycles"] if is_below(row) else None)
        accepted = lines(names, own, lambda row: row["rate"]["accepted"])
        for title, series in (("Mean latency, cycles", latency), ("Accepted, flits/node/cycle", accepted)):
            axis = ChartAxis("offered, flits/node/cycle", x_floor=0.0)
            chart = element("figure", element("figcaption", title), line_chart(title, axis, series))
            cards.append(element("div", chart, legend(series) if len(series) > 1 else None, class_="card"))
    note = "Saturated loads, and latencies of more than ten times that of packets alone, are left out of the latency."
    return section("Latency under load", element("div", *cards, class_="many"), note=note)


def is_below(summary: Row) -> bool:
    """Returns True if the latency is that of the network, not of queues that grow during the run."""
    mean, alone = (summary["latency"][name]["mean_cycles"] for name in ("packet", "zero_load"))
    return not summary["saturation"]["saturated"] and mean is not None and mean < KNEE * alone


def lines(names: Sequence[str], own: Sequence[Sequence[Row]], read: Any) -> list[ChartSeries]:
    """Returns a series for each curve over the offered load."""
    series = []
    for name, kind, rows in zip(names, KINDS, own, strict=False):
        known = [row for row in rows if row["rate"]["offered"] is not None]
        values = sorted(((row["rate"]["offered"], read(row)) for row in known), key=lambda point: point[0])
        series.append(ChartSeries(name or "all", kind, tuple(SeriesPoint(x, y) for x, y in values if y is not None)))
    return [plotted for plotted in series if plotted.values]


def runs_section(runs: Sequence[NocRun]) -> Html:
    """Creates a table with a row for each run."""
    columns = ["run", "offered", "accepted", "mean cycles", "P50", "P99", "max", "fullest link", "busy", "saturated"]
    rows = []
    for run in runs:
        latency, link = run.summary["latency"]["packet"], most_loaded_link(run.summary) or {}
        saturated = run.summary["saturation"]["saturated"]
        rows.append(
            [
                run.title,
                *(number(run.summary["rate"][name]) for name in ("offered", "accepted")),
                *(number(latency[f"{name}_cycles"]) for name in ("mean", "p50", "p99", "max")),
                link.get("link", ""),
                percent(link.get("busy_share")),
                "" if saturated is None else "yes" if saturated else "no",
            ]
        )
    return section("Runs", table(columns, rows, label="Runs"))


def pictures(runs: Sequence[NocRun]) -> list[Html]:
    """Creates the maps and the latency distributions, side by side for a single run."""
    if not runs:
        return []
    if len(runs) == 1:
        cards = element("div", *maps(runs), *spreads(runs), class_="many")
        title = "How busy links are, and how latencies are spread"
        return [section(title, map_legend(), cards, note=HOW_TO_READ)]
    shown = runs if len(runs) <= MAPS_MAX else runs[-1:]
    found = [section("How busy links are", map_legend(), element("div", *maps(shown), class_="many"), note=HOW_TO_READ)]
    spread = spreads(runs)
    if spread:
        found.append(section("How latencies are spread", element("div", *spread, class_="many")))
    return found


def maps(runs: Sequence[NocRun]) -> list[Html]:
    """Creates a map of the links for each run."""
    return [
        element("figure", element("figcaption", run.title) if run.title else None, noc_map(run.summary), class_="card")
        for run in runs
    ]


def spreads(runs: Sequence[NocRun]) -> list[Html]:
    """Creates the cumulative latency distribution of one run, or of a few below saturation."""
    step = -(-len(runs) // SPREADS_MAX)
    series = [
        ChartSeries(
            run.title or "packets",
            kind,
            tuple(
                SeriesPoint(cycles, share)
                for share, cycles in enumerate(run.summary["latency"]["packet"]["percentiles_cycles"])
            ),
        )
        for run, kind in zip(runs[::step], KINDS, strict=False)
        if run.summary["latency"]["packet"]["percentiles_cycles"] and (len(runs) == 1 or is_below(run.summary))
    ]
    if not series:
        return []
    title = "Packets that took no longer, percent"
    chart = line_chart(title, ChartAxis("cycles", "%", x_floor=0.0, whole_x=False), series)
    figure = element("figure", element("figcaption", title), chart)
    return [element("div", figure, legend(series) if len(series) > 1 else None, class_="card")]


def links_section(summary: Row) -> Html:
    """Creates the table of the busiest links."""
    rows = sorted(summary["links"], key=lambda row: -row["flits"])[:LINKS_MAX]
    offered = summary["rate"]["offered"]
    expected = [None if row["load"] is None else row["load"] * offered for row in rows]
    return section(
        "Fullest links",
        table(
            ["link", "busy", "by routes, if all is accepted", "flits"],
            [
                [row["link"], percent(row["busy_share"]), percent(routed), f"{row['flits']:,}"]
                for row, routed in zip(rows, expected, strict=True)
            ],
            label="Fullest links",
        ),
    )

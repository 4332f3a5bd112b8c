"""Page of a network on a chip alone: latency under load, maps of links, and latency distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.files import write_file
from hostnet.report.distributions import Distribution, distribution_cards, of_percentiles
from hostnet.report.html import Html, element, fact_list, section, table
from hostnet.report.link_lines import heat_legend, heat_scale
from hostnet.report.noc_curves import NocRun, curves_section
from hostnet.report.noc_descriptions import most_loaded_link, network_text, packets_text, saturation_text
from hostnet.report.noc_map import noc_map
from hostnet.report.numbers import number, percent
from hostnet.report.page import page

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    Row = dict[str, Any]

MAPS_MAX = 12
"""Maximum number of runs that have a map each."""

SPREADS_MAX = 4
"""Maximum number of lines of a chart."""

LINKS_MAX = 12

HOW_TO_READ = (
    "Share of the cycles in which a link is busy: a line for each direction between routers, on its right-hand side, "
    "and in the square of a router the link to its node."
)


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
        *pictures(measured),
        runs_section(runs) if len(runs) > 1 else None,
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
    """Creates the maps and the latency distributions."""
    if not runs:
        return []
    shown = runs if len(runs) <= MAPS_MAX else runs[-1:]
    full = heat_scale(max(row["busy_share"] or 0.0 for run in shown for row in run.summary["links"]))
    maps = element("div", *(map_card(run, full) for run in shown), class_="many" if len(shown) > 2 else "pair fixed")
    found = [section("How busy links are", heat_legend(full), maps, note=HOW_TO_READ)]
    spread = spreads(runs)
    if spread:
        found.append(section("How latencies are spread", element("div", *spread, class_="pair fixed")))
    return found


def map_card(run: NocRun, full: float) -> Html:
    """Creates the map of the links of a run."""
    caption = element("figcaption", run.title) if run.title else None
    return element("figure", caption, noc_map(run.summary, full), class_="card")


def spreads(runs: Sequence[NocRun]) -> list[Html]:
    """Creates the latency distribution of one run, or of a few below saturation."""
    shown = runs if len(runs) == 1 else [run for run in runs if not run.summary["saturation"]["saturated"]]
    step = max(-(-len(shown) // SPREADS_MAX), 1)
    found = [packet_distribution(run) for run in shown[::step]]
    return distribution_cards("Packet latency", "packets", [one for one in found if one is not None], unit="cycles")


def packet_distribution(run: NocRun) -> Distribution | None:
    """Returns the latencies of the packets of a run; None without any."""
    packet = run.summary["latency"]["packet"]
    known = packet["percentiles_cycles"]
    return of_percentiles(
        run.title or "packets",
        {share / 100: cycles for share, cycles in enumerate(known or ()) if share},
        packet["count"],
    )


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

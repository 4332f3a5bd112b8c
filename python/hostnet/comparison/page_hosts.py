"""Section on the page of a comparison with the pictures of both hosts beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hostnet.report.domains import sockets_grid
from hostnet.report.host import host_of
from hostnet.report.html import Html, element, section
from hostnet.report.links import links_picture
from hostnet.report.load import RunFiles
from hostnet.report.picture import host_picture
from hostnet.report.sockets import links_of, sockets_of

if TYPE_CHECKING:
    from hostnet.comparison.compare_runs import Comparison
    from hostnet.comparison.sides import Side

NOTE = (
    "Bars show the mean number of entries in use out of all, and numbered lanes the domains of credits. A thick lane "
    "and a framed bar limit a workload."
)


def hosts_section(found: Comparison) -> Html | None:
    """Creates the section; None unless both runs are of single servers."""
    if any("servers" in side.summary for side in (found.a, found.b)):
        return None
    cards = [host_card(name, side) for name, side in (("A", found.a), ("B", found.b))]
    known = [card for card in cards if card is not None]
    if len(known) < len(cards):
        return None
    return section("The hosts", element("div", *known, class_="sockets few"), note=NOTE)


def host_card(name: str, side: Side) -> Html | None:
    """Creates the picture of the host of a run, or those of its sockets and of their links; None without any."""
    run = run_files(side)
    host = host_of(run)
    if not host.pools:
        return None
    heading = element("h3", f"{name}: {side.label}")
    sockets, links = sockets_of(run, host), links_of(run)
    if sockets and links:
        return element("div", heading, links_picture(links), sockets_grid(sockets), class_="card socket")
    return element("div", heading, host_picture(host), class_="card socket")


def run_files(side: Side) -> RunFiles:
    """Returns the contents of a run directory that pictures of hosts need."""
    return RunFiles(
        directory=Path(side.label),
        summary=side.summary,
        manifest={"config": side.config},
        domains=side.tables.get("domains", []),
        series=[],
        flows=[],
        config=None,
        config_file=None,
        explanation=None,
        why={},
    )

"""Section on the page of a comparison with the pictures of both hosts beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hostnet.report.html import Html, element, section
from hostnet.report.load import RunFiles
from hostnet.report.server import markup, server_report

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
    pictures = markup(server_report(run_files(side)).host)
    return (
        None
        if pictures is None
        else element("div", element("h3", f"{name}: {side.label}"), pictures, class_="card socket")
    )


def run_files(side: Side) -> RunFiles:
    """Returns the contents of a run directory that pictures of hosts need."""
    return RunFiles(
        directory=Path(side.label),
        summary=side.summary,
        manifest={"config": side.config},
        domains=side.tables.get("domains", []),
    )

"""Section with the picture of a network and the cards of its classes of traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.report.clusters.arrangement import HOSTS_MAX, arrange
from hostnet.report.clusters.cards import class_cards
from hostnet.report.clusters.grid_map import grid_map, is_grid
from hostnet.report.clusters.network import ClusterNetwork, network_of
from hostnet.report.clusters.network_map import cable_text, hottest, network_map
from hostnet.report.html import Html, element, section
from hostnet.report.link_lines import heat_legend, heat_scale

if TYPE_CHECKING:
    from hostnet.report.load import RunFiles

NOTE = (
    "Each cable has a line for each direction, on its right-hand side, coloured by its load; numbers are Gbps, with ≤ "
    "the largest of several cables, whose line has the colour of their mean. "
    "Triangles are the classes of traffic that a host begins and serves. A numbered badge marks the limit of a class."
)

GRID_NOTE = (
    "Each cable between switches has a line for each direction, on its right-hand side, coloured by its load; the "
    "colour of a switch is the load of the busiest cable between it and its hosts. A badge marks the limit of a class."
)

BUSIEST = 4
"""Number of cables in the list of the busiest ones."""


def network_section(run: RunFiles) -> Html | None:
    """Creates the section; None for a run without a network and without traffic."""
    network = network_of(run)
    cards = class_cards(run)
    if network is None:
        return section("What limits it", element("div", *cards, class_="ways many-ways")) if cards else None
    full = heat_scale(network.load_max)
    grid = is_grid(network)
    drawing = grid_map(network, full) if grid else network_map(arrange(network), full)
    picture = element("div", drawing, heat_legend(full), busiest_list(network), class_="card picture")
    content = element("div", picture, element("div", *cards, class_="ways"), class_="map")
    return section("The network and its limits", content, note=GRID_NOTE if grid else NOTE)


def busiest_list(network: ClusterNetwork) -> Html | None:
    """Lists the busiest cables of a network that is too large for a number at each."""
    if len(network.hosts) <= HOSTS_MAX and max(network.levels.values()) <= 1:
        return None
    lines = [element("li", cable_text(cable)) for cable in hottest(network.cables, BUSIEST)]
    return element("div", element("p", "Busiest cables", class_="sub"), element("ul", *lines, class_="evidence"))

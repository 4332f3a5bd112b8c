"""Section of a page: how far results of the presets of a run are off from measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.error_cards import HEADS, ErrorCard, error_card
from hostnet.report.html import Html, element, join, section, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostnet.report.load import RunFiles

NOTE = "Of the presets as they are shipped: keys that the configuration changes, and its workloads, are not covered."


def card_section(run: RunFiles) -> Html | None:
    """Creates the section with the error card of each preset of the run; None if it has none."""
    cards = [card for name in presets_of(run.manifest.get("config") or {}) if (card := error_card(name)) is not None]
    return section("How wrong it may be", *map(draw_card, cards), note=NOTE) if cards else None


def presets_of(config: Mapping[str, Any]) -> list[str]:
    """Returns the presets that the server or the hosts of a configuration name, each once."""
    tables = [config, *(config.get("host") or {}).values()]
    found = [place.get("preset") for entry in tables for place in (entry, entry.get("server") or {})]
    return [str(name) for name in dict.fromkeys(found) if name]


def draw_card(card: ErrorCard) -> Html:
    """Creates the name, the label and the table of a card."""
    heads = [head.replace("\n", " ") for head in HEADS]
    rows = card.rows()
    return join(
        [
            element("p", element("b", card.preset), f": {card.headline}"),
            *([table(heads, rows, label=f"Errors of {card.preset} by share of reads")] if rows else []),
        ]
    )

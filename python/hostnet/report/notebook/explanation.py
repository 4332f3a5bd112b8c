"""Explanations as the output of a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.regimes import regime_headline
from hostnet.report.html import details, element
from hostnet.report.notebook.block import block, headline, notes_list
from hostnet.report.server import draw_explanation

if TYPE_CHECKING:
    from collections.abc import Mapping


def explanation_block(why: dict[str, Any], causes: Mapping[str, str | None], text: str) -> str:
    """Returns the output of a cell: regime, limit and latency of each workload, causes, and what would help.

    `why` is the explanation for JSON, `causes` has sentences on what load adds to the latency of each workload, and
    `text` is the page of plain text, which has further details.
    """
    regime = why["regime"]
    drawn = draw_explanation(why)
    whole = element("pre", text)
    return block(
        headline(str(why["name"]), f"on {why['server']}"),
        element("p", regime_headline(regime), class_="verdict"),
        notes_list([*regime["evidence"], *(f"{name}: {cause}" for name, cause in causes.items() if cause)]),
        drawn,
        notes_list([*why["missing"], *why["notes"]]),
        details("As text", whole) if drawn else whole,
    )

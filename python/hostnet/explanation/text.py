"""The explanation as a page of plain text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hostnet import _core

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostnet.explanation.page import Page

PARTS = tuple(_core.latency_parts())
"""Parts of a latency, and their names."""

wrapped = _core.wrap_text


def page_text(page: Page) -> str:
    """Returns the page, at most 80 columns wide."""
    further = (page.nonuniform, page.mesh)
    details = {
        "channels": [] if page.together is None else list(page.together.channels),
        "events": dict(page.events),
        "paragraphs": [found.lines() for found in further if found is not None],
    }
    return _core.explanation_text(json.dumps(page.as_dict()), json.dumps(details))


def added_text(row: dict[str, Any], latency: dict[str, Any], events: Mapping[str, str]) -> str | None:
    """Describes the main cause of what load adds to a latency; None if load adds little."""
    return _core.describe_added_latency(json.dumps(row), json.dumps(latency), json.dumps(dict(events)))

"""The part of a run's page that says why it came out as it did."""

from __future__ import annotations

from hostnet.report.html import Html, element, section
from hostnet.report.load import RunFiles


def explanation_section(run: RunFiles) -> Html | None:
    """The explanation that lies in the run directory, as it was written; nothing when there is none."""
    if run.explanation is None:
        return None
    block = element("div", element("pre", run.explanation), class_="block")
    return section("Why", block)

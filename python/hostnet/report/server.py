"""Sections on a single server. Browsers make them, too: the native module has no need of files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.glossary import native
from hostnet.report.html import Html

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostnet.report.load import RunFiles


def server_report(run: RunFiles) -> _core.ServerReport:
    """Returns the sections of the page of a run."""
    known = {"folder": run.directory.name, "summary": run.summary, "manifest": run.manifest, "domains": run.domains}
    return _core.ServerReport(json.dumps({**known, "why": run.why, "explanation": run.explanation}), native())


def die_section(summary: Mapping[str, Any], title: str) -> Html | None:
    """Creates the maps of the dies of a server, and the table of its routes; None without a mesh."""
    return markup(_core.ServerReport(json.dumps({"summary": summary}), native()).die(title))


def draw_explanation(why: Mapping[str, Any]) -> Html | None:
    """Draws an explanation: a card per workload and the table of remedies; None if it cannot be read."""
    return markup(_core.draw_explanation(json.dumps(why), native()))


def markup(section: str | None) -> Html | None:
    """Returns a section as markup."""
    return None if section is None else Html(section)

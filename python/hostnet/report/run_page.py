"""Report of a run: workloads, limits, latencies, and how to reproduce it."""

from __future__ import annotations

import json

from hostnet import _core
from hostnet.report.caches import caches_section
from hostnet.report.die import die_section
from hostnet.report.energy import energy_sections
from hostnet.report.explanation import explanation_section
from hostnet.report.html import Html, element
from hostnet.report.load import RunFiles
from hostnet.report.over_time import series_section
from hostnet.report.page import page
from hostnet.report.reproduce import notes_section, reproduce_section
from hostnet.report.tables import channels_section, domains_section, links_section, workloads_section


def run_page(run: RunFiles) -> str:
    """Returns the page."""
    name = str(run.summary.get("name", run.directory.name))
    report = server_report(run)
    return page(
        f"{name} – hostnet",  # noqa: RUF001
        markup(report.header),
        markup(report.results),
        markup(report.picture),
        explanation_section(run),
        series_section(run),
        caches_section(run),
        workloads_section(run),
        domains_section(run),
        channels_section(run),
        links_section(run),
        *energy_sections(run),
        die_section(run.summary),
        notes_section(run),
        reproduce_section(run),
        element(
            "footer", f"hostnet {run.manifest.get('version', '')}, configuration {run.summary.get('config_hash', '')}"
        ),
    )


def server_report(run: RunFiles) -> _core.ServerReport:
    """Returns the sections of the page that browsers make, too."""
    known = {"folder": run.directory.name, "summary": run.summary, "manifest": run.manifest}
    return _core.ServerReport(json.dumps({**known, "domains": run.domains, "why": run.why}))


def markup(section: str | None) -> Html | None:
    """Returns a section as markup."""
    return None if section is None else Html(section)

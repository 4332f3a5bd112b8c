"""Report of a run: workloads, limits, latencies, and how to reproduce it."""

from __future__ import annotations

from hostnet.report.caches import caches_section
from hostnet.report.die import die_section
from hostnet.report.domains import picture_section
from hostnet.report.energy import energy_sections
from hostnet.report.explanation import explanation_section
from hostnet.report.headline import header, result_section
from hostnet.report.html import element
from hostnet.report.load import RunFiles
from hostnet.report.over_time import series_section
from hostnet.report.page import page
from hostnet.report.reproduce import notes_section, reproduce_section
from hostnet.report.tables import channels_section, domains_section, links_section, workloads_section


def run_page(run: RunFiles) -> str:
    """Returns the page."""
    name = str(run.summary.get("name", run.directory.name))
    return page(
        f"{name} – hostnet",  # noqa: RUF001
        header(run, name),
        result_section(run),
        picture_section(run),
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

"""Report of a run: workloads, limits, latencies, and how to reproduce it."""

from __future__ import annotations

from hostnet.report.caches import cache_charts
from hostnet.report.energy import energy_sections
from hostnet.report.error_card import card_section
from hostnet.report.html import Html, element, join
from hostnet.report.load import RunFiles
from hostnet.report.over_time import series_section
from hostnet.report.page import page
from hostnet.report.reproduce import notes_section, reproduce_section
from hostnet.report.server import server_report


def run_page(run: RunFiles) -> str:
    """Returns the page."""
    name = str(run.summary.get("name", run.directory.name))
    sections = {key: Html(section) for key, section in server_report(run).sections(join(cache_charts(run)))}
    return page(
        f"{name} – hostnet",  # noqa: RUF001
        *(sections.get(key) for key in ("header", "results", "picture", "why")),
        series_section(run),
        *(sections.get(key) for key in ("caches", "workloads", "domains", "channels", "links")),
        *energy_sections(run),
        sections.get("mesh"),
        card_section(run),
        notes_section(run),
        reproduce_section(run),
        element(
            "footer", f"hostnet {run.manifest.get('version', '')}, configuration {run.summary.get('config_hash', '')}"
        ),
    )

"""Report of a run of a cluster: pictures of its jobs, network, distributions and power, and the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.notes import STOPPED, forward_notes
from hostnet.report.clusters.inside import inside_section
from hostnet.report.clusters.jobs import job_sections
from hostnet.report.clusters.latency import distributions_section
from hostnet.report.clusters.network_section import network_section
from hostnet.report.clusters.over_time import over_time_section
from hostnet.report.clusters.tables import tables_section
from hostnet.report.error_card import card_section
from hostnet.report.html import element
from hostnet.report.numbers import time_from_ns
from hostnet.report.page import page
from hostnet.report.power import power_section
from hostnet.report.reproduce import notes_section, reproduce_section
from hostnet.report.server import die_section

if TYPE_CHECKING:
    from hostnet.report.html import Html
    from hostnet.report.load import Row, RunFiles

NAMED_MAX = 6
"""Maximum number of classes that the first sentence names."""


def cluster_page(run: RunFiles) -> str:
    """Returns the page as self-contained HTML."""
    summary = run.summary
    name = str(summary.get("name", run.directory.name))
    return page(
        f"{name} – hostnet",  # noqa: RUF001
        header(run, name),
        *job_sections(run),
        network_section(run),
        power_section(summary, run.power_series),
        distributions_section(run),
        inside_section(run),
        over_time_section(run.series),
        *(die_section(server, f"Mesh of {host}") for host, server in summary.get("servers", {}).items()),
        tables_section(run),
        card_section(run),
        notes_section(run),
        reproduce_section(run),
        element("footer", f"hostnet {run.manifest.get('version', '')}, configuration {summary.get('config_hash', '')}"),
    )


def header(run: RunFiles, name: str) -> Html:
    """Creates the title, a description of the run, and warnings."""
    summary = run.summary
    unvalidated = summary.get("unvalidated")
    return element(
        "header",
        element("p", "Cluster run", class_="eyebrow"),
        element("h1", name),
        element("p", about(summary), class_="lead"),
        None if summary.get("complete", True) else warning(STOPPED),
        warning(str(unvalidated)) if unvalidated else None,
        *(warning(note) for note in forward_notes(summary)),
    )


def warning(message: str) -> Html:
    """Creates a prominent warning."""
    return element("p", element("b", "Note: "), message, class_="warning", role="note")


def about(summary: Row) -> str:
    """Describes the run in one sentence."""
    servers = len(summary.get("hosts", ()))
    names = [f"“{row['class']}”" for row in summary.get("classes", ())]
    more = f" and {len(names) - NAMED_MAX} more" if len(names) > NAMED_MAX else ""
    length = f"{time_from_ns(summary.get('window_ns'))} after {time_from_ns(summary.get('warm_up_ns'))} of warm-up"
    if not summary.get("warm_up_ns"):
        length = f"{time_from_ns(summary.get('window_ns'))} from its start"
    what = f"{servers} server{'s' if servers > 1 else ''}" if servers else "no server with a host network"
    traffic = f", traffic {', '.join(names[:NAMED_MAX])}{more}" if names else ""
    return f"Simulated for {length}: {what}{traffic}."

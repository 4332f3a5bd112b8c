"""Page of an explanation: the regime, the limits and latencies of each workload as bars, the remedies, and the text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hostnet.explanation.text import added_text, page_text
from hostnet.files import write_file
from hostnet.report.html import element, section
from hostnet.report.load import RunFiles
from hostnet.report.page import page
from hostnet.report.server import markup, server_report

if TYPE_CHECKING:
    from hostnet.explanation.page import Page


def write_explanation_page(file: Path, explained: Page) -> None:
    """Writes the page of an explanation.

    Raises:
        OSError: The page cannot be written.
    """
    write_file(file, explanation_page(explained).encode())


def notebook_output(explained: Page) -> str:
    """Returns the output of a notebook's cell."""
    from hostnet.report.notebook.explanation import explanation_block

    rows = [row for row in explained.explanation["workloads"] if row["latency"] is not None]
    causes = {row["workload"]: added_text(row, row["latency"], explained.events) for row in rows}
    return explanation_block(explained.as_dict(), causes, page_text(explained))


def explanation_page(explained: Page) -> str:
    """Returns the page."""
    files = RunFiles(Path(), {}, {}, explanation=page_text(explained), why=explained.as_dict())
    report = server_report(files)
    notes = element("ul", *(element("li", note) for note in explained.notes), class_="notes")
    return page(
        f"{explained.name}, explained \u2013 hostnet",
        element(
            "header",
            element("p", "Explanation", class_="eyebrow"),
            element("h1", explained.name),
            element("p", f"On {explained.server}.", class_="lead"),
        ),
        markup(report.regime),
        markup(report.why),
        section("Notes", notes) if explained.notes else None,
        element("footer", "hostnet explain"),
    )

"""The report of a run of a cluster: its tables on one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.report.html import details, element, section, table
from hostnet.report.numbers import MISSING, number
from hostnet.report.page import page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.report.html import Html

SECTIONS = {
    "classes": "Classes of traffic",
    "latencies": "Latencies of requests",
    "hosts": "Hosts",
    "memory": "Memory bandwidth",
    "queues": "Queues",
}
"""The tables of the summary, in their order on the page."""


def cluster_page(summary: dict[str, Any], manifest: dict[str, Any]) -> str:
    """The page as HTML that needs nothing beside it."""
    parts = [section(title, _rows(title, summary[name])) for name, title in SECTIONS.items() if summary.get(name)]
    window_ms, warm_up_ms = summary["window_ns"] / 1e6, summary["warm_up_ns"] / 1e6
    about = f"seed {summary['seed']}, {window_ms:g} ms measured after {warm_up_ms:g} ms of warm-up"
    hashes = f"configuration {manifest['config_hash'][:12]}, results {manifest['result_hash'][:12]}"
    version = element("p", f"hostnet {manifest['version']}, {hashes}")
    name = str(summary["name"])
    return page(name, element("h1", name), element("p", about), *parts, details("Versions", version))


def _rows(title: str, rows: Sequence[dict[str, Any]]) -> Html:
    names = list(rows[0])
    cells = [[_cell(row[name]) for name in names] for row in rows]
    return table([name.replace("_", " ") for name in names], cells, label=title)


def _cell(value: Any) -> str:
    if value is None:
        return MISSING
    return value if isinstance(value, str) else number(value)

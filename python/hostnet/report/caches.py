"""Section on caches and DDIO of a run's page."""

from __future__ import annotations

from hostnet.report.areas import area_chart
from hostnet.report.cache_series import DDIO, MISSES, owners, shares
from hostnet.report.charts import ChartAxis, legend, line_chart
from hostnet.report.html import Html, element, section
from hostnet.report.load import Row, RunFiles
from hostnet.report.series import ReferenceLine, thinned
from hostnet.report.tables import page_table
from hostnet.server_columns import DDIO as DDIO_COLUMNS
from hostnet.server_view import cache_tables

TIME = "time, µs"

NOTE = (
    "Hits are lines that a cache had when a device wrote them; leaks are lines that left for memory before anything "
    "had read them, both as shares of the lines that devices wrote to the LLC."
)

PREFETCH_NOTE = (
    "Prefetched lines are shown per L2 lookup; used lines per prefetched line, counted at the first use. Lines that "
    "were prefetched during the warm-up count when they are used, so that more may be used than were prefetched."
)


def caches_section(run: RunFiles) -> Html | None:
    """Creates the section on LLC contents, hits and leaks; None for a server without caches."""
    rows: list[Row] = run.summary.get("caches", [])
    if not rows:
        return None
    tables = cache_tables(run.summary)
    notes = [PREFETCH_NOTE] if any(row["prefetch_filled"] for row in rows) else []
    notes += [NOTE] if any(table.columns is DDIO_COLUMNS for table in tables) else []
    charts = [chart for chart in (held_card(run), *ddio_cards(run), *miss_cards(run)) if chart is not None]
    return section(
        "Caches",
        element("div", *charts, class_="pair") if charts else None,
        *map(page_table, tables),
        note=" ".join(notes) or None,
    )


def held_card(run: RunFiles) -> Html | None:
    """Creates the chart of LLC contents by owner."""
    drawn = [thinned(plotted) for plotted in owners(run.series)]
    if not drawn:
        return None
    llc = run.summary.get("llc") or {}
    levels = [ReferenceLine("LLC", llc["mib"])] if llc.get("mib") else []
    heading = "What the LLC holds, MiB"
    chart = area_chart(f"{heading}, by owner over time", ChartAxis(TIME, "MiB", whole_x=False), drawn, levels)
    return element("div", element("h3", heading), legend(drawn, levels), chart, class_="card wide")


def ddio_cards(run: RunFiles) -> list[Html]:
    """Creates the charts of hits and leaks of device writes."""
    return share_cards(run, "DDIO, % of lines written", DDIO)


def miss_cards(run: RunFiles) -> list[Html]:
    """Creates the charts of LLC misses of the cores, by workload."""
    return share_cards(run, "LLC misses, % of reads", MISSES)


def share_cards(run: RunFiles, heading: str, quantities: dict[str, str]) -> list[Html]:
    """Creates charts of shares over time, a few series in each."""
    cards = []
    for group in shares(run.series, quantities):
        drawn = [thinned(plotted) for plotted in group]
        axis = ChartAxis(TIME, "%", whole_x=False, x_floor=0.0)
        names = ", ".join(plotted.name for plotted in drawn)
        chart = line_chart(f"{heading}, over time: {names}", axis, drawn, wide=True)
        cards.append(element("div", element("h3", heading), legend(drawn), chart, class_="card wide"))
    return cards

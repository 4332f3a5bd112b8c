"""The part of a run's page that is about caches and DDIO."""

from __future__ import annotations

from hostnet.report.areas import area_chart
from hostnet.report.cache_series import DDIO, MISSES, owners, shares
from hostnet.report.charts import Axis, legend, line_chart
from hostnet.report.html import Html, element, section
from hostnet.report.load import Row, RunFiles
from hostnet.report.series import Level, thinned
from hostnet.report.tables import numeric, record_table, share, words

TIME = "time, µs"

CORES = (
    words("Caches", "workload", "name"),
    share("L2 misses", "l2_miss_ratio"),
    share("LLC misses", "llc_miss_ratio"),
    numeric("In the LLC MiB", "llc_mib_core"),
    numeric("L2 lookups", "l2_lookups"),
    numeric("Prefetched lines", "prefetch_filled"),
    numeric("Of them used", "prefetch_used"),
    numeric("LLC lookups", "llc_lookups", minor=True),
    numeric("Dirty evictions", "core_evictions", minor=True),
    numeric("Lost by cores", "back_invalidations", minor=True),
)

DEVICES = (
    words("DDIO", "workload", "name"),
    share("Hits", "ddio_hit_ratio"),
    share("Leaks", "ddio_leak_ratio"),
    numeric("In the LLC MiB", "llc_mib_io"),
    numeric("Updates", "ddio_updates"),
    numeric("Allocations", "ddio_allocations"),
    numeric("Leaked lines", "ddio_leaks"),
    numeric("Evicted lines", "ddio_evictions"),
    numeric("Reads", "io_reads", minor=True),
    numeric("Reads that hit", "io_read_hits", minor=True),
)

NOTE = (
    "Hits are lines that a cache had when a device wrote them; leaks are lines that left for memory before anything "
    "had read them, both as shares of the lines that devices wrote to the LLC."
)


def caches_section(run: RunFiles) -> Html | None:
    """What the LLC held, and what hit and leaked; nothing of a server without caches."""
    rows: list[Row] = run.summary.get("caches", [])
    if not rows:
        return None
    devices = [row for row in rows if row["ddio_hit_ratio"] is not None or row["io_reads"]]
    charts = [chart for chart in (held_card(run), *ddio_cards(run), *miss_cards(run)) if chart is not None]
    return section(
        "Caches",
        element("div", *charts, class_="pair") if charts else None,
        record_table("Caches", CORES, [row for row in rows if row["l2_lookups"]] or rows[:1]),
        record_table("DDIO", DEVICES, devices) if devices else None,
        note=NOTE if devices else None,
    )


def held_card(run: RunFiles) -> Html | None:
    """What the LLC holds, by owner."""
    drawn = [thinned(plotted) for plotted in owners(run.series)]
    if not drawn:
        return None
    llc = run.summary.get("llc") or {}
    levels = [Level("LLC", llc["mib"])] if llc.get("mib") else []
    heading = "What the LLC holds, MiB"
    chart = area_chart(f"{heading}, by owner over time", Axis(TIME, "MiB", whole_x=False), drawn, levels)
    return element("div", element("h3", heading), legend(drawn, levels), chart, class_="card wide")


def ddio_cards(run: RunFiles) -> list[Html]:
    """Hits and leaks of what devices write."""
    return share_cards(run, "DDIO, % of lines written", DDIO)


def miss_cards(run: RunFiles) -> list[Html]:
    """LLC misses of the cores of each workload."""
    return share_cards(run, "LLC misses, % of reads", MISSES)


def share_cards(run: RunFiles, heading: str, quantities: dict[str, str]) -> list[Html]:
    """Shares over time, a chart for every few of them."""
    cards = []
    for group in shares(run.series, quantities):
        drawn = [thinned(plotted) for plotted in group]
        axis = Axis(TIME, "%", whole_x=False, x_floor=0.0)
        names = ", ".join(plotted.name for plotted in drawn)
        chart = line_chart(f"{heading}, over time: {names}", axis, drawn, wide=True)
        cards.append(element("div", element("h3", heading), legend(drawn), chart, class_="card wide"))
    return cards

"""Charts of caches and DDIO over time."""

from __future__ import annotations

from hostnet.report.areas import area_chart
from hostnet.report.cache_series import DDIO, MISSES, owners, shares
from hostnet.report.charts import ChartAxis, legend, line_chart
from hostnet.report.html import Html, element
from hostnet.report.load import RunFiles
from hostnet.report.series import ReferenceLine, thinned

TIME = "time, µs"


def cache_charts(run: RunFiles) -> list[Html]:
    """Creates the charts over time of LLC contents, hits and leaks; empty for a server without caches."""
    return [chart for chart in (held_card(run), *ddio_cards(run), *miss_cards(run)) if chart is not None]


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

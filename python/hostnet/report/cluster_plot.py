"""Pictures of a run of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.cluster_view import TAIL, percentiles
from hostnet.report.cluster_page import OVER_TIME
from hostnet.report.looks import COLOURS, DASHES, new_figure, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hostnet.report.load import Row, RunFiles

HOSTS_MAX = len(COLOURS)
"""Hosts of one picture: as many as there are colours."""

HEADROOM = 1.06
"""How much higher than what is drawn a picture is: a line along the top would not be seen."""


def draw_goodput(run: RunFiles) -> Figure:
    """What applications of each class received."""
    rows = run.summary["classes"]
    figure = new_figure(6.4, 1.2 + 0.32 * len(rows))
    axes = figure.subplots()
    places = list(range(len(rows)))[::-1]
    spread = [row["goodput_ci95"] or 0.0 for row in rows]
    axes.barh(places, [row["goodput_gbps"] for row in rows], xerr=spread, color=COLOURS["a"], height=0.62)
    axes.set_yticks(places, [plain(row["class"]) for row in rows])
    axes.set_xlabel("goodput, Gbps")
    return figure


def draw_latencies(run: RunFiles) -> Figure:
    """Percentiles of the latencies of the first few classes with requests."""
    every = latency_rows(run)
    rows = every[: len(COLOURS)]
    figure = new_figure(6.4, 3.2)
    axes = figure.subplots()
    for row, kind in zip(rows, COLOURS, strict=False):
        known = percentiles(row)
        places = [list(TAIL).index(key) for key in known]
        colour, dash = COLOURS[kind], DASHES[kind]
        axes.plot(places, list(known.values()), color=colour, linestyle=dash, marker="o", label=plain(row["class"]))
    told = max(len(percentiles(row)) for row in rows)
    axes.set_xticks(range(told), [name for name, _ in list(TAIL.values())[:told]])
    axes.set_ylim(0, HEADROOM * axes.get_ylim()[1])
    axes.set(xlabel="percentile", ylabel="latency of requests, µs")
    left_out = len(every) - len(rows)
    axes.legend(title=f"{left_out} more are not drawn" if left_out else None)
    return figure


def latency_rows(run: RunFiles) -> list[Row]:
    """The classes whose latencies have percentiles."""
    return [row for row in run.summary.get("latencies", ()) if percentiles(row)]


def draw_cluster_series(run: RunFiles) -> Figure:
    """Every quantity over time, of the first few servers."""
    told = [name for name in OVER_TIME if any(row[name] for row in run.series)]
    hosts = list(dict.fromkeys(row["host"] for row in run.series))[:HOSTS_MAX]
    figure = new_figure(6.4, 1.4 * max(len(told), 1) + 0.6)
    every = figure.subplots(max(len(told), 1), 1, sharex=True, squeeze=False)[:, 0]
    for axes, name in zip(every, told, strict=False):
        title, unit = OVER_TIME[name]
        for host, kind in zip(hosts, COLOURS, strict=False):
            own = [row for row in run.series if row["host"] == host and row[name] is not None]
            style = {"color": COLOURS[kind], "linestyle": DASHES[kind], "linewidth": 1.2, "label": plain(host)}
            axes.plot([row["time_us"] / 1000 for row in own], [row[name] for row in own], **style)
        axes.set_title(f"{title}{f', {unit}' if unit else ''}", fontsize=9, loc="left")
        axes.set_ylim(0, HEADROOM * axes.get_ylim()[1])
    every[0].legend()
    every[-1].set_xlabel("time, ms")
    return figure

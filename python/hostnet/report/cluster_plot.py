"""Plots of a run of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.cluster_view import TAIL, percentiles
from hostnet.report.clusters.over_time import OVER_TIME
from hostnet.report.style import COLOURS, DASHES, new_figure, plain
from hostnet.stages import STAGES, stage_means

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hostnet.report.load import Row, RunFiles

HOSTS_MAX = len(COLOURS)
"""Maximum number of hosts in one plot: the number of colours."""

STAGED_MAX = 12
"""Maximum number of classes and directions of datagrams in one plot."""

HEADROOM = 1.06
"""Factor of the upper limit over the largest value, so that a line along the top stays visible."""


def draw_goodput(run: RunFiles) -> Figure:
    """Plots the goodput of each class."""
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
    """Plots the latency percentiles of the first classes with requests."""
    every = latency_rows(run)
    rows = every[: len(COLOURS)]
    figure = new_figure(6.4, 3.2)
    axes = figure.subplots()
    for row, kind in zip(rows, COLOURS, strict=False):
        known = percentiles(row)
        places = [list(TAIL).index(key) for key in known]
        colour, dash = COLOURS[kind], DASHES[kind]
        axes.plot(places, list(known.values()), color=colour, linestyle=dash, marker="o", label=plain(row["class"]))
    percentile_count = max(len(percentiles(row)) for row in rows)
    axes.set_xticks(range(percentile_count), [name for name, _ in list(TAIL.values())[:percentile_count]])
    axes.set_ylim(0, HEADROOM * axes.get_ylim()[1])
    axes.set(xlabel="percentile", ylabel="latency of requests, µs")
    left_out = len(every) - len(rows)
    axes.legend(title=f"{left_out} more are not drawn" if left_out else None)
    return figure


def draw_stages(run: RunFiles) -> Figure:
    """Plots the stages of the datagrams of the first classes, one after the other."""
    rows = stage_means(run.summary["stages"])[:STAGED_MAX]
    figure = new_figure(6.4, 1.6 + 0.34 * len(rows))
    axes = figure.subplots()
    places = list(range(len(rows)))[::-1]
    left = [0.0] * len(rows)
    for index, (stage, heading) in enumerate(STAGES.items()):
        widths = [row.get(stage, 0.0) for row in rows]
        if any(widths):
            axes.barh(places, widths, left=left, color=f"C{index}", height=0.62, label=heading)
            left = [begin + width for begin, width in zip(left, widths, strict=True)]
    axes.set_yticks(places, [plain(f"{row['class']}, {row['way']}") for row in rows])
    axes.set_xlabel("mean time from one application to the other, µs")
    figure.legend(loc="outside upper center", ncols=4)
    return figure


def latency_rows(run: RunFiles) -> list[Row]:
    """Returns the classes whose latencies have percentiles."""
    return [row for row in run.summary.get("latencies", ()) if percentiles(row)]


def draw_cluster_series(run: RunFiles) -> Figure:
    """Plots every quantity over time, for the first servers."""
    shown = [name for name in OVER_TIME if any(row[name] for row in run.series)]
    hosts = list(dict.fromkeys(row["host"] for row in run.series))[:HOSTS_MAX]
    figure = new_figure(6.4, 1.4 * max(len(shown), 1) + 0.6)
    every = figure.subplots(max(len(shown), 1), 1, sharex=True, squeeze=False)[:, 0]
    for axes, name in zip(every, shown, strict=False):
        title, unit = OVER_TIME[name]
        for host, kind in zip(hosts, COLOURS, strict=False):
            own = [row for row in run.series if row["host"] == host and row[name] is not None]
            style = {"color": COLOURS[kind], "linestyle": DASHES[kind], "linewidth": 1.2, "label": plain(host)}
            axes.plot([row["time_us"] / 1000 for row in own], [row[name] for row in own], **style)
        axes.set_title(f"{title}{f', {unit}' if unit else ''}", fontsize=9, loc="left")
        axes.set_ylim(0, HEADROOM * axes.get_ylim()[1])
    if shown:
        every[0].legend()
    every[-1].set_xlabel("time, ms")
    return figure

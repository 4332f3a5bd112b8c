"""Plots of frequencies over time and of the time of cores in each state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.power_view import AFTER, BEFORE, core_states
from hostnet.report.style import COLOURS, DASHES, new_figure, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hostnet.report.load import Row, RunFiles

HOSTS_MAX = 8
"""Maximum number of hosts in one plot."""

DOMAINS_MAX = len(COLOURS)
"""Maximum number of frequency domains of a host: the number of colours."""

CORES_MAX = 64
"""Maximum number of cores of a host."""

BAR_INCH = 0.24
"""Smallest height of a bar, in inches."""

HEADROOM = 1.06
"""Factor of the upper limit over the largest value, so that a line along the top stays visible."""

OVER_TIME: tuple[tuple[str, dict[str, tuple[str, float]]], ...] = (
    ("packets, Gbps", {"received_gbps": ("received", 1), "sent_gbps": ("sent", 1)}),
    ("cores, %", {"running_share": ("at work", 100), "asleep_share": ("asleep", 100)}),
    ("mean, GHz", {"ghz_mean": ("frequency", 1)}),
    ("power, W", {"power_w": ("all cores", 1)}),
)
"""Plots over time from top to bottom: columns, their names and factors."""

STATES = {"C0": "#c2500a", "poll": "#e8a33d", "wake": "#8a4f9e", "halt": "#5a636d"}
"""Colours of the states other than C-states: warm while a core is awake."""

SLEEP = "Blues"
"""Colour map of C-states: darker for deeper states."""


def power_plots(run: RunFiles) -> dict[str, Callable[[RunFiles], Figure]]:
    """Returns the plots that a run with frequencies and sleep states has data for, by file name."""
    plots = {"frequencies": draw_frequencies, "power_states": draw_states}
    over_time = {"power_series": draw_over_time} if run.power_series else {}
    return {**{name: draw for name, draw in plots.items() if run.summary.get(name)}, **over_time}


def draw_over_time(run: RunFiles) -> Figure:
    """Plots packets, busy and sleeping cores, frequency and power of the first server over time."""
    rows = run.power_series
    host = hosts_of(rows)[0]
    return draw_cores([row for row in rows if row["host"] == host], host)


def draw_cores(rows: Sequence[Row], title: str) -> Figure:
    """Plots packets, busy and sleeping cores, frequency and power of one server over time, as steps."""
    figure = new_figure(7.2, 1.4 * len(OVER_TIME) + 0.6)
    every = figure.subplots(len(OVER_TIME), 1, sharex=True, squeeze=False)[:, 0]
    times = [row["time_us"] / 1000 for row in rows]
    for axes, (label, columns) in zip(every, OVER_TIME, strict=True):
        for (column, (name, factor)), kind in zip(columns.items(), COLOURS, strict=False):
            values = [factor * row[column] for row in rows]
            axes.step(times, values, where="pre", color=COLOURS[kind], linewidth=1.0, label=name)
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
        if len(columns) > 1:
            axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    every[0].set_title(plain(title), loc="left", fontsize=9)
    every[-1].set_xlabel("time, ms")
    figure.align_ylabels(every)
    return figure


def draw_frequencies(run: RunFiles) -> Figure:
    """Plots the frequency of the domains of each server over time, as steps."""
    rows = run.summary["frequencies"]
    hosts = hosts_of(rows)
    end_us = max(float(run.summary.get("window_ns") or 0) / 1000, *(row["at_us"] for row in rows))
    figure = new_figure(6.4, 1.0 + 1.7 * len(hosts))
    every = figure.subplots(len(hosts), 1, sharex=True, squeeze=False)[:, 0]
    for axes, host in zip(every, hosts, strict=True):
        own = [row for row in rows if row["host"] == host]
        domains = list(dict.fromkeys(row["domain"] for row in own))
        for domain, kind in zip(domains, COLOURS, strict=False):
            steps = [(row["at_us"] / 1000, row["ghz"]) for row in own if row["domain"] == domain]
            steps.append((end_us / 1000, steps[-1][1]))
            style = {"color": COLOURS[kind], "linestyle": DASHES[kind], "linewidth": 1.2, "label": f"domain {domain}"}
            axes.step([at for at, _ in steps], [ghz for _, ghz in steps], where="post", **style)
        axes.set_title(title_of(host, domains, DOMAINS_MAX, "domains"), loc="left", fontsize=9)
        axes.set_ylabel("frequency, GHz")
        axes.set_ylim(0, HEADROOM * max(row["ghz"] for row in own))
        axes.set_xlim(0, end_us / 1000)
        if len(domains) > 1:
            axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    every[-1].set_xlabel("time, ms")
    return figure


def draw_states(run: RunFiles) -> Figure:
    """Plots the share of time of each core in each state, as bars of 100 %."""
    rows = run.summary["power_states"]
    hosts = hosts_of(rows)
    shown = {host: cores_of(rows, host)[:CORES_MAX] for host in hosts}
    names = core_states(row for row in rows if row["share"] > 0)
    counts = [len(cores) for cores in shown.values()]
    figure = new_figure(6.4, 1.1 + 0.35 * len(hosts) + BAR_INCH * sum(counts))
    every = figure.subplots(len(hosts), 1, sharex=True, squeeze=False, height_ratios=counts)[:, 0]
    for axes, (host, cores) in zip(every, shown.items(), strict=True):
        shares = {(row["core"], row["state"]): row["share"] for row in rows if row["host"] == host}
        _draw_bars(axes, cores, names, shares)
        axes.set_title(title_of(host, cores_of(rows, host), CORES_MAX, "cores"), loc="left", fontsize=9)
    every[-1].set_xlabel("time, %")
    handles, labels = every[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper")
    return figure


def _draw_bars(axes: Axes, cores: Sequence[int], names: Sequence[str], shares: dict[tuple[int, str], float]) -> None:
    """Plots a bar for each core, from working to sleeping states."""
    colours = colours_of(names)
    places = list(range(len(cores)))[::-1]
    left = [0.0] * len(cores)
    for name in names:
        widths = [100 * shares.get((core, name), 0.0) for core in cores]
        axes.barh(places, widths, left=left, height=0.78, color=colours[name], label=name)
        left = [begin + width for begin, width in zip(left, widths, strict=True)]
    axes.set_yticks(places, [f"core {core}" for core in cores])
    axes.set_xlim(0, 100)
    axes.set_ylim(-0.6, len(cores) - 0.4)
    axes.grid(axis="y", visible=False)


def colours_of(names: Sequence[str]) -> dict[str, str]:
    """Returns a colour for each state."""
    import matplotlib as mpl

    asleep = [name for name in names if name not in (*BEFORE, *AFTER)]
    shades = mpl.colormaps[SLEEP]
    of_sleep = {
        name: mpl.colors.to_hex(shades(0.35 + 0.55 * (place + 1) / len(asleep))) for place, name in enumerate(asleep)
    }
    return {name: STATES.get(name) or of_sleep[name] for name in names}


def hosts_of(rows: Sequence[Row]) -> list[str]:
    """Returns the hosts of a plot."""
    return list(dict.fromkeys(str(row["host"]) for row in rows))[:HOSTS_MAX]


def cores_of(rows: Sequence[Row], host: str) -> list[int]:
    """Returns the cores of a host."""
    return list(dict.fromkeys(row["core"] for row in rows if row["host"] == host))


def title_of(host: str, known: Sequence[object], most: int, what: str) -> str:
    """Returns the name of a host, and how much of it is not plotted."""
    hidden = f", {len(known) - most} more {what} are not drawn" if len(known) > most else ""
    return plain(f"{host or 'server'}{hidden}")

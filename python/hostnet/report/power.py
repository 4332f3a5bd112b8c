"""Section on frequencies, sleep and power of cores, in a cluster or alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.power_view import AFTER, BEFORE, core_states, cores_w
from hostnet.report.areas import area_chart
from hostnet.report.charts import ChartAxis, legend, line_chart
from hostnet.report.html import Html, element, section
from hostnet.report.numbers import number, percent
from hostnet.report.series import KINDS, ChartSeries, SeriesPoint, thinned
from hostnet.report.shares import ShareRow, share_bars

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostnet.report.load import Row

HOSTS_MAX = 2
"""Maximum number of servers with charts over time: those with the most power."""

ROWS_MAX = 16
"""Maximum number of rows of bars: of cores, or else of servers."""

AWAKE = {"C0": "bar fill-b", "poll": "bar fill-e", "wake": "bar fill-d", "halt": "bar fill-n"}
"""Styles of the states other than C-states."""

SLEEP_MAX = 5
"""Number of shades of C-states, darker for deeper ones."""

OVER_TIME = {"running_share": "at work", "polling_share": "polling", "asleep_share": "asleep"}
"""Shares of the time of cores, and their names."""

HINT = " adds the packets, the sleep and the power of the cores over time to this page."


def power_section(summary: Mapping[str, Any], series: Sequence[Row]) -> Html | None:
    """Creates the section; None for a run without power management and without an energy meter."""
    rows = summary.get("power", ())
    cards = [card for host in shown_hosts(rows) for card in over_time(host, summary, series)]
    bars = [card for card in (states_card(summary), parts_card(summary)) if card is not None]
    if not cards and not bars:
        return None
    return section(
        "Power",
        element("p", element("code", "hostnet run --series 1ms"), HINT, class_="note") if rows and not series else None,
        element("div", *cards, class_="pair fixed") if cards else None,
        *bars,
    )


def shown_hosts(rows: Sequence[Row]) -> list[str]:
    """Returns the servers with the most power."""
    hosts = list(dict.fromkeys(row["host"] for row in rows))
    return sorted(hosts, key=lambda host: -(cores_w(row for row in rows if row["host"] == host) or 0.0))[:HOSTS_MAX]


def over_time(host: str, summary: Mapping[str, Any], series: Sequence[Row]) -> list[Html]:
    """Creates the charts of a server over time, one below the other or side by side."""
    own = [row for row in series if row["host"] == host]
    end_us = float(summary.get("window_ns") or 0.0) / 1000
    frequencies = [row for row in summary.get("frequencies", ()) if row["host"] == host]
    scale, unit = (1000.0, "ms") if end_us >= 10_000 else (1.0, "µs")
    where = f" of {host}" if host else ""
    cards = []
    if own:
        packets = [curve(own, f"{way}_gbps", way, kind, scale) for way, kind in (("received", "a"), ("sent", "b"))]
        cards.append(chart_card(f"Packets{where}, Gbps", packets, unit))
    if frequencies:
        steps = frequency_steps(frequencies, end_us, scale)
        left = len({row["domain"] for row in frequencies}) - len(steps)
        more = f"; {left} more domains are in the tables" if left else ""
        cards.append(chart_card(f"Frequency of cores{where}, GHz{more}", steps, unit))
    if own:
        cards.append(sleep_card(own, where, scale, unit))
        cards.append(chart_card(f"Power of cores{where}, W", [curve(own, "power_w", "all cores", "c", scale)], unit))
    return cards


def curve(rows: Sequence[Row], column: str, name: str, kind: str, scale: float) -> ChartSeries:
    """Returns a column of a time series."""
    return thinned(ChartSeries(name, kind, tuple(SeriesPoint(row["time_us"] / scale, row[column]) for row in rows)))


def frequency_steps(rows: Sequence[Row], end_us: float, scale: float) -> list[ChartSeries]:
    """Returns the frequency of the first domains, each held until the next change."""
    domains = list(dict.fromkeys(row["domain"] for row in rows))
    drawn = []
    for domain, kind in zip(domains, KINDS, strict=False):
        own = [row for row in rows if row["domain"] == domain]
        ends = [*(row["at_us"] for row in own[1:]), max(end_us, own[-1]["at_us"])]
        corners = [(at / scale, row["ghz"]) for row, end in zip(own, ends, strict=True) for at in (row["at_us"], end)]
        name = "all cores" if len(domains) == 1 else f"domain {domain}"
        drawn.append(ChartSeries(name, kind, tuple(SeriesPoint(at, ghz) for at, ghz in corners)))
    return drawn


def chart_card(heading: str, drawn: Sequence[ChartSeries], unit: str) -> Html:
    """Creates the card of a chart over time."""
    axis = ChartAxis(f"time, {unit}", whole_x=False, x_floor=0.0)
    chart = line_chart(f"{heading}, over time", axis, drawn, wide=True)
    return element("div", element("h3", heading), legend(drawn), chart, class_="card wide")


def sleep_card(rows: Sequence[Row], where: str, scale: float, unit: str) -> Html:
    """Creates the card of the states of cores over time, which add up to 100 %."""
    drawn = [
        ChartSeries(name, kind, tuple(SeriesPoint(row["time_us"] / scale, 100 * row[column]) for row in rows))
        for (column, name), kind in zip(OVER_TIME.items(), "bda", strict=True)
    ]
    rest = [100 * (1 - sum(row[column] for column in OVER_TIME)) for row in rows]
    changing = tuple(
        SeriesPoint(row["time_us"] / scale, max(share, 0.0)) for row, share in zip(rows, rest, strict=True)
    )
    drawn = [thinned(one) for one in (*drawn, ChartSeries("waking or halted", "c", changing))]
    drawn = [one for one in drawn if any(value.simulated for value in one.values)]
    heading = f"What cores do{where}, % of time"
    axis = ChartAxis(f"time, {unit}", "%", whole_x=False, x_floor=0.0)
    chart = area_chart(f"{heading}, over time", axis, drawn)
    return element("div", element("h3", heading), legend(drawn), chart, class_="card wide")


def states_card(summary: Mapping[str, Any]) -> Html | None:
    """Creates the bars of the states of each core, or the mean of each server if there are many cores."""
    power, states = summary.get("power", ()), summary.get("power_states", ())
    names = core_states(row for row in states if row["share"] > 0)
    if not names:
        return None
    several = len({row["host"] for row in power}) > 1
    if len(power) <= ROWS_MAX:
        rows = [
            state_row(f"{row['host']}, core {row['core']}" if several else f"core {row['core']}", [row], states)
            for row in power
        ]
        title = "States of cores, share of time"
    else:
        hosts = list(dict.fromkeys(row["host"] for row in power))
        groups = {host: [row for row in power if row["host"] == host] for host in hosts}
        busiest = sorted(hosts, key=lambda host: -(cores_w(groups[host]) or 0.0))[:ROWS_MAX]
        rows = [state_row(host or "server", groups[host], states) for host in hosts if host in busiest]
        left = f", the {len(rows)} with the most power of {len(hosts)}" if len(hosts) > len(rows) else ""
        title = f"States of cores, mean of each server{left}"
    bars = share_bars(title, rows, text=percent, full=1.0, order=names, fills=state_fills(names))
    return element("div", element("h3", title), bars, class_="card after")


def state_row(name: str, cores: Sequence[Row], states: Sequence[Row]) -> ShareRow:
    """Returns the mean share of time in each state of some cores, with their frequency and power."""
    own = {(row["host"], row["core"]) for row in cores}
    values: dict[str, float] = {}
    for row in states:
        if (row["host"], row["core"]) in own:
            values[row["state"]] = values.get(row["state"], 0.0) + row["share"] / len(cores)
    ghz = sum(row["ghz_mean"] for row in cores) / len(cores)
    return ShareRow(name, values, f"{number(ghz)} GHz, {number(cores_w(cores))} W")


def state_fills(names: Sequence[str]) -> dict[str, str]:
    """Returns the style of each state: warm while a core is awake, darker for deeper sleep."""
    asleep = [name for name in names if name not in (*BEFORE, *AFTER)]
    depth = {name: max(SLEEP_MAX - len(asleep) + place + 1, 1) for place, name in enumerate(asleep)}
    return {name: AWAKE.get(name) or f"bar sleep-{min(depth[name], SLEEP_MAX)}" for name in names}


def parts_card(summary: Mapping[str, Any]) -> Html | None:
    """Creates the bars of power by server and part: of an energy meter, or of cores alone."""
    energy, power = summary.get("energy", ()), summary.get("power", ())
    values: dict[str, dict[str, float]] = {}
    for row in energy:
        # Where cores have frequencies, their own table counts them.
        counted = row["part"] != "all" and not (power and row["part"].startswith("cores"))
        if counted and row["power_w"]:
            values.setdefault(row.get("host", ""), {})[row["part"]] = row["power_w"]
    for row in power:
        name = "cores" if energy else f"core {row['core']}"
        own = values.setdefault(row["host"], {})
        own[name] = own.get(name, 0.0) + row["power_w"]
    if not values:
        return None
    rows = [ShareRow(host or "server", own, watts(sum(own.values()))) for host, own in values.items()]
    rows.sort(key=lambda row: -sum(row.values.values()))
    left = f", the {ROWS_MAX} with the most of {len(rows)}" if len(rows) > ROWS_MAX else ""
    title = f"Power by part, W{left}" if energy else f"Power by core, W{left}"
    bars = share_bars(title, rows[:ROWS_MAX], text=watts)
    return element("div", element("h3", title), bars, class_="card after")


def watts(value: float) -> str:
    """Formats a power given in W."""
    return f"{number(value)} W"

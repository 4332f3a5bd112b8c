"""Section on what happens inside the servers of a cluster: cores, memory, throttling, and stages of datagrams."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from hostnet.report.html import Html, element, section
from hostnet.report.numbers import number, percent
from hostnet.report.shares import ShareRow, share_bars
from hostnet.stages import STAGES, stage_means

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hostnet.report.load import Row, RunFiles

ROWS_MAX = 12
"""Maximum number of rows of bars: those with the largest sums."""

CORES = {
    "softirq": "softirq",
    "call": "system calls",
    "copy": "copies",
    "stalled": "copies that wait for memory",
    "send": "sending",
    "serve": "requests",
}
"""Kinds of work of the cores of the network, and their names."""

LEVELS = range(5)
"""Levels of throttling."""


def inside_section(run: RunFiles) -> Html | None:
    """Creates the section; None without servers and datagrams."""
    summary = run.summary
    cards = (
        stages_card(summary.get("stages", ())),
        cores_card(summary.get("hosts", ())),
        memory_card(summary.get("memory", ())),
        levels_card(summary.get("control", ())),
    )
    shown = [card for card in cards if card is not None]
    return section("Inside the servers", element("div", *shown, class_="pair fixed")) if shown else None


def bars_card(
    title: str,
    rows: Sequence[ShareRow],
    *,
    text: Callable[[float], str],
    full: float | None = None,
    order: Sequence[str] = (),
    fills: Mapping[str, str] | None = None,
) -> Html | None:
    """Creates a card with the rows that have the largest sums; None if all rows are empty. See `share_bars`."""
    filled = [row for row in rows if sum(row.values.values()) > 0]
    if not filled:
        return None
    largest = sorted(filled, key=lambda row: -sum(row.values.values()))[:ROWS_MAX]
    left = f", the {ROWS_MAX} largest of {len(filled)}" if len(filled) > ROWS_MAX else ""
    shown = [row for row in filled if row in largest]
    bars = share_bars(title, shown, text=text, full=full, order=order, fills=fills)
    return element("div", element("h3", f"{title}{left}"), bars, class_="card")


def cores_card(hosts: Sequence[Row]) -> Html | None:
    """Creates the bars of the work of network cores, mean over the cores of a server that have any."""
    rows = []
    for row in hosts:
        values = {name: row.get(f"core_{kind}_share") or 0.0 for kind, name in CORES.items()}
        rows.append(ShareRow(row["host"], values, percent(sum(values.values()))))
    return bars_card("Cores of the network, share of time", rows, text=percent, full=1.0, order=list(CORES.values()))


def memory_card(memory: Sequence[Row]) -> Html | None:
    """Creates the bars of memory bandwidth by its cause."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for row in memory:
        found[row["host"]][row["workload"]] = row["gb_per_s"] or 0.0
    rows = [ShareRow(host, values, bandwidth_text(sum(values.values()))) for host, values in found.items()]
    return bars_card("Memory bandwidth by cause, GB/s", rows, text=bandwidth_text)


def bandwidth_text(value: float) -> str:
    """Formats a bandwidth given in GB/s."""
    return f"{number(value)} GB/s"


def levels_card(control: Sequence[Row]) -> Html | None:
    """Creates the bars of the levels of throttling, of servers that were throttled."""
    names = [f"level {level}" for level in LEVELS]
    fills = {name: f"bar level-{level}" for level, name in zip(LEVELS, names, strict=True)}
    rows = [
        ShareRow(
            row["host"],
            {name: row[f"level_{level}_share"] or 0.0 for level, name in zip(LEVELS, names, strict=True)},
            f"{row['level_changes']:,} changes",
        )
        for row in control
        if row["level_changes"] or not row["level_0_share"]
    ]
    return bars_card("Levels of throttling, share of time", rows, text=percent, full=1.0, order=names, fills=fills)


def stages_card(stages: Sequence[Row]) -> Html | None:
    """Creates the bars of the stages of datagrams from one application to the other."""
    rows = []
    for row in stage_means(stages):
        values = {heading: row[stage] for stage, heading in STAGES.items() if row.get(stage)}
        rows.append(ShareRow(f"{row['class']}, {row['way']}", values, microseconds(row["mean_us"])))
    return bars_card("Stages of datagrams, mean time", rows, text=microseconds, order=list(STAGES.values()))


def microseconds(value: float) -> str:
    """Formats a time given in µs."""
    return f"{number(value)} µs"

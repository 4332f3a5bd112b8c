"""Plot of a sweep over power policies: latency percentiles over the power of the cores."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice, product
from typing import TYPE_CHECKING, Any

from hostnet.cluster_view import TAIL, percentiles
from hostnet.report.style import COLOURS, MARKS, label_decades, new_figure, plain
from hostnet.report.subjects import subject_of
from hostnet.terminal.layout import short_paths

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hostnet.sweeps.axis import Axis

    Choice = tuple[Any, ...]

WATTS = "cores_w"
"""Column of the total power of the cores of all servers."""

SHOWN = ("p50_us", "p90_us", "p99_us", "p99_9_us")
"""Percentiles that are plotted, one line each."""

OF_POLICY = ("power", "ncap", "mitt", "coalesce", "coalesce_packets", "queues", "governor")
"""Words in the paths of parameters of a policy; each value of another parameter gets a panel."""

PANELS_MAX = 6
"""Maximum number of panels."""

PANELS_PER_ROW = 3

NAMED_MAX = 16
"""Maximum number of policies that are named."""

NAME_MAX = 32
"""Longest name; longer ones are cut."""

LABEL_DISTANCE = 0.06
"""Distance between the names of two policies, as a share of the axis."""

MARGIN = 0.05
"""Margin of x beyond the data, as a share of their range."""

TALL = 12
"""Ratio of the largest to the smallest latency above which the axis is logarithmic."""


@dataclass(frozen=True)
class Policy:
    """Power and latency of a policy: W, and percentiles in us by column."""

    name: str
    watts: float
    latencies: dict[str, float]


def draw_policies(table: Path, axes: Sequence[Axis]) -> Iterator[tuple[str, Figure]]:
    """Yields a plot for each traffic class with latencies, if servers have frequencies and sleep states."""
    import pyarrow.parquet as pq

    names = pq.read_schema(table).names
    if has_policies(names):
        content = pq.read_table(table, columns=columns_for_policies(axes))
        for name, panels in policies_of(content, axes):
            yield name, draw_panels(name, panels)


def has_policies(columns: Sequence[str]) -> bool:
    """Returns True if a table has the power and the latencies of classes."""
    return subject_of(columns) == "class" and WATTS in columns


def columns_for_policies(axes: Sequence[Axis]) -> list[str]:
    """Returns the columns that `policies_of` reads."""
    return ["class", *(axis.path for axis in axes), WATTS, "count", *SHOWN]


def policies_of(table: pa.Table, axes: Sequence[Axis]) -> Iterator[tuple[str, dict[str, list[Policy]]]]:
    """Yields the policies of each class with latencies, by the values of the other parameters.

    A class with a single policy has nothing to compare.
    """
    content = table.select(columns_for_policies(axes)).to_pylist()
    of_policy = [axis for axis in axes if set(axis.path.split(".")) & set(OF_POLICY)] or list(axes)
    others = [axis for axis in axes if axis not in of_policy]
    for name in dict.fromkeys(row["class"] for row in content):
        own = [row for row in content if row["class"] == name]
        panels = {
            _title(others, choice): _policies([row for row in own if _is_at(row, others, choice)], of_policy)
            for choice in islice(product(*(axis.columns for axis in others)), PANELS_MAX)
        }
        panels = {title: policies for title, policies in panels.items() if len(policies) > 1}
        if panels:
            yield name, panels


def _is_at(row: dict[str, Any], axes: Sequence[Axis], choice: Choice) -> bool:
    """Returns True if a row has the values of a combination."""
    return all(row[axis.path] == value for axis, value in zip(axes, choice, strict=True))


def _title(axes: Sequence[Axis], choice: Choice) -> str:
    """Returns the title of a panel."""
    names = short_paths([axis.path for axis in axes])
    return ", ".join(f"{name} = {value}" for name, value in zip(names, choice, strict=True))


def _policies(rows: Sequence[dict[str, Any]], axes: Sequence[Axis]) -> list[Policy]:
    """Returns the policies with known power and latencies, in ascending order of power; seeds are averaged."""
    found = []
    for choice in product(*(axis.columns for axis in axes)):
        own = [row for row in rows if _is_at(row, axes, choice) and row[WATTS] is not None and row["count"]]
        each = [percentiles({"p99_99_us": None, **row}) for row in own]
        known = {
            key: mean([values[key] for values in each])
            for key in SHOWN
            if own and all(key in values for values in each)
        }
        if known:
            name = ", ".join(name_of(str(value)) for value in choice)
            found.append(Policy(name, mean([row[WATTS] for row in own]), known))
    return sorted(found, key=lambda policy: policy.watts)


def name_of(value: str) -> str:
    """Returns the name of a value; for a table, the values of its keys."""
    inside = re.findall(r'=\s*"?([^"{},=]+)', value) if value.startswith("{") else []
    return ", ".join(inside) or value


def mean(values: Sequence[float]) -> float:
    """Returns the mean of some values."""
    return sum(values) / len(values)


def draw_panels(name: str, panels: dict[str, list[Policy]]) -> Figure:
    """Plots a panel for each value of the other parameters, all with the same y axis."""
    columns = min(len(panels), PANELS_PER_ROW)
    rows = -(-len(panels) // columns)
    figure = new_figure(1.2 + 5.2 * columns, 4.4 * rows)
    grid = figure.subplots(rows, columns, squeeze=False, sharey=True)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    values = [value for own in panels.values() for policy in own for value in policy.latencies.values()]
    for axes, (title, policies) in zip(grid.flat, panels.items(), strict=False):
        draw_panel(axes, policies)
        axes.set_xlabel(plain(f"power of cores, W{f' ({title})' if title else ''}"))
        set_height(axes, values)
    for axes in grid[:, 0]:
        axes.set_ylabel("latency of requests, µs")
    lines = {label: line for axes in grid.flat for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    names = [TAIL[key][0] for key in reversed(SHOWN) if TAIL[key][0] in lines]
    figure.legend([lines[label] for label in names], names, title=plain(name), loc="outside right upper")
    return figure


def set_height(axes: Axes, values: Sequence[float]) -> None:
    """Sets the y axis, which is logarithmic if latencies differ much."""
    if max(values) > TALL * min(values) > 0:
        axes.set_yscale("log")
        axes.set_ylim(min(values) / 1.2, 1.2 * max(values))
        label_decades(axes)
    else:
        axes.set_ylim(0, 1.06 * max(values))


def draw_panel(axes: Axes, policies: Sequence[Policy]) -> None:
    """Plots the percentiles of each policy at its power, one above the other, with its name on top."""
    for key, kind in zip(SHOWN, COLOURS, strict=True):
        known = [policy for policy in policies if key in policy.latencies]
        if known:
            axes.plot(
                [policy.watts for policy in known],
                [policy.latencies[key] for policy in known],
                color=COLOURS[kind],
                linestyle="",
                marker=MARKS[kind],
                markersize=5,
                label=TAIL[key][0],
            )
    for policy in policies:
        ends = min(policy.latencies.values()), max(policy.latencies.values())
        axes.vlines(policy.watts, *ends, color="#5a636d", linewidth=1.1, zorder=1)
    least, most = policies[0].watts, policies[-1].watts
    width = (most - least) or max(abs(most), 1.0)
    low, high = least - MARGIN * width, most + MARGIN * width
    axes.set_xlim(low, high)
    named = policies[:NAMED_MAX]
    shares = [(policy.watts - low) / (high - low) for policy in named]
    for policy, share, place in zip(named, shares, spread(shares), strict=True):
        axes.axvline(policy.watts, color="#c9ced3", linewidth=0.7, zorder=0)
        style: dict[str, Any] = {"color": "#c9ced3", "linewidth": 0.7, "clip_on": False, "transform": axes.transAxes}
        axes.plot([share, place], [1.0, 1.05], **style)
        text = policy.name if len(policy.name) <= NAME_MAX else f"{policy.name[: NAME_MAX - 1]}…"
        axes.text(
            place, 1.06, plain(text), transform=axes.transAxes, rotation=40, ha="left", va="bottom", fontsize=8,
            rotation_mode="anchor",
        )  # fmt: skip
    axes.grid(axis="x", visible=False)


def spread(shares: Sequence[float]) -> list[float]:
    """Returns positions close to the given ones, in the same order, that leave room for a name each."""
    places: list[float] = []
    for share in shares:
        places.append(max(share, places[-1] + LABEL_DISTANCE) if places else share)
    beyond = max(places[-1] - 1.0, 0.0)
    limit = places[-1] - beyond
    for index in range(len(places) - 1, -1, -1):
        places[index] = min(places[index], limit)
        limit = places[index] - LABEL_DISTANCE
    return places

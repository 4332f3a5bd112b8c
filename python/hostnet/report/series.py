"""What the charts draw: series of simulated and published values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from hostnet.report.load import Row

PEER_ENGINES = ("memory", "noc")
"""What runs a part alone, to be compared with other simulators of it."""

KINDS = "abcd"
"""Colours, dashes and marks of the series of one chart."""

ALL = "all"
"""The x of a published reference line."""

UNITS_UNSAID = ("x", "fraction", "cachelines")
"""Units that the title of the y axis says in words, or need none."""

PER_S = "per s"
"""The unit of rates that may be very large."""

SIZES = ((1e9, "billions "), (1e6, "millions "), (1e3, "thousands "))
"""The sizes that such rates are told in."""

TITLES = {
    "throughput_gb_per_s": ("Throughput", "GB/s"),
    "in_use_mean": ("Credits in use", ""),
    "latency_mean_ns": ("Latency", "ns"),
    "operations_per_s": ("Operations", PER_S),
    "llc_mib_core": ("In the LLC, of cores", "MiB"),
    "llc_mib_io": ("In the LLC, written by devices", "MiB"),
    "llc_miss_ratio": ("LLC misses", "share of reads"),
    "ddio_hit_ratio": ("DDIO hits", "share of lines written"),
    "ddio_leak_ratio": ("DDIO leaks", "share of lines written"),
}
"""Title and y axis of the quantities of a time series."""


GROUPS = (
    ("of the domains", ("C2M-Read", "C2M-Write", "P2M-Write", "P2M-Read")),
    ("at cores and CHA", ("LFB", "CHA TOR", "CHA->DRAM read", "CHA->MC write")),
    ("in memory controllers and on PCIe", ("RPQ", "WPQ", "PCIe posted", "PCIe non-posted")),
)
"""Domains whose time series share a chart, with what the chart is of."""

POINTS_MAX = 400
"""A chart over time has room for no more points than this."""


@dataclass(frozen=True)
class Value:
    """One point of a series; `ci95` is a half-width, `published` what was measured there, unless it is `doubtful`.

    With `published_to`, a range was published, of which `published` is the other end. `label` names the point where
    `x` does not.
    """

    x: float
    simulated: float | None
    ci95: float | None = None
    published: float | None = None
    doubtful: bool = False
    label: str = ""
    published_to: float | None = None


@dataclass(frozen=True)
class Plotted:
    """One series of a chart. `kind` (a to d) chooses colour, dash and mark."""

    name: str
    kind: str
    values: tuple[Value, ...]


def steps_per_point(steps: int) -> int:
    """How many steps of a time series make a point of a chart."""
    return -(-steps // POINTS_MAX)


def thinned(plotted: Plotted) -> Plotted:
    """The same series with points for a chart: means of equally many steps, where there are values."""
    size = steps_per_point(len(plotted.values))
    if size <= 1:
        return plotted
    points = []
    for start in range(0, len(plotted.values), size):
        part = plotted.values[start : start + size]
        known = [value.simulated for value in part if value.simulated is not None]
        points.append(Value(part[-1].x, fmean(known) if known else None))
    return replace(plotted, values=tuple(points))


@dataclass(frozen=True)
class Level:
    """A horizontal reference line."""

    name: str
    value: float


def plotted_panel(panel: Row, rows: Sequence[Row]) -> tuple[list[Plotted], list[Level]]:
    """The series of a panel of the ledger in the panel's order, and its reference lines."""
    own = [row for row in rows if row["panel"] == panel["name"]]
    drawn = [row for row in own if row["x"] != ALL]
    levels = [Level(row["series"], row["published"]) for row in own if row["x"] == ALL]
    names = [name for name in panel["series"] if any(row["series"] == name for row in drawn)]
    series = []
    for kind, name in zip(KINDS, names, strict=False):
        values = [value_of(row) for row in drawn if row["series"] == name]
        series.append(Plotted(name, kind, tuple(sorted(values, key=lambda value: value.x))))
    return series, levels


def value_of(row: Row) -> Value:
    """A row of the ledger as a point of a chart. Where x is a name, the published value stands for it.

    A published bound is no value that a chart could show beside the simulated one.
    """
    doubtful = row["verdict"] == "excluded"
    x = row["published"] if row["engine"] in PEER_ENGINES else float(row["x"])
    published = None if row["kind"] == "relation" else row["published"]
    return Value(x, row["simulated"], row["ci95"], published, doubtful, row["x"], row.get("other"))


def plotted_curves(curves: dict[str, list[list[float]]]) -> list[Plotted]:
    """Published curves that nothing simulated stands beside."""
    return [
        Plotted(name, kind, tuple(Value(x, y) for x, y in points))
        for kind, (name, points) in zip(KINDS, curves.items(), strict=False)
    ]


def series_of_run(rows: Sequence[Row], quantity: str) -> tuple[str, str, list[tuple[str, list[Plotted]]]]:
    """Title, y axis and series over time in µs of a quantity, in groups that fit into one chart, each with its name.

    Subjects without any value, and domains that hold nothing all the time, are left out.
    """
    title, unit = TITLES.get(quantity, (quantity, quantity))
    own = [row for row in rows if row["quantity"] == quantity]
    size, word = size_of(own) if unit == PER_S else (1.0, "")
    unit = f"{word}{unit}"
    values: dict[str, list[Value]] = {}
    for row in own:
        value = None if row["value"] is None else row["value"] / size
        values.setdefault(row["subject"], []).append(Value(row["time_ns"] / 1000, value))
    least = 0.0 if quantity == "in_use_mean" else -math.inf
    values = {name: points for name, points in values.items() if any(above(point, least) for point in points)}
    known = [(name, [subject for subject in subjects if subject in values]) for name, subjects in GROUPS]
    others = [subject for subject in values if not any(subject in subjects for _, subjects in GROUPS)]
    fours = [("", others[start : start + len(KINDS)]) for start in range(0, len(others), len(KINDS))]
    groups = [
        (
            name,
            [
                Plotted(subject, kind_in(name, subject, place), tuple(values[subject]))
                for place, subject in enumerate(own)
            ],
        )
        for name, own in (*known, *fours)
        if own
    ]
    return title, unit, groups


def size_of(rows: Sequence[Row]) -> tuple[float, str]:
    """The unit in which large rates are told."""
    largest = max((row["value"] for row in rows if row["value"] is not None), default=0.0)
    return next(((size, word) for size, word in SIZES if largest >= size), (1.0, ""))


def above(value: Value, least: float) -> bool:
    """Whether there is a value, and it is more than the least."""
    return value.simulated is not None and value.simulated > least


def kind_in(group: str, subject: str, place: int) -> str:
    """The kind of a subject: by its place in a named group, so that a domain has one colour everywhere."""
    return KINDS[dict(GROUPS)[group].index(subject) if group else place]


def y_title(panel: Row) -> str:
    """The title of the y axis with its unit."""
    unit = str(panel["unit"])
    return str(panel["y_label"]) + (f", {unit}" if unit not in UNITS_UNSAID else "")


def is_parity(panel: Row) -> bool:
    """Whether simulated values are drawn over published ones."""
    return panel.get("chart") == "parity"


def is_stacked(panel: Row) -> bool:
    """Whether the series of a panel add up."""
    return panel.get("chart") == "stacked" or str(panel["name"]).endswith("_membw")

"""Data of charts: series of simulated and published values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from hostnet.report.load import Row

PEER_ENGINES = ("memory", "noc")
"""Engines that simulate a part alone, which is compared with other simulators."""

KINDS = "abcd"
"""Kinds of the series of one chart, which select colour, dash and mark."""

MANY_KINDS = "abcdefgh"
"""Kinds of the series of a chart that compares more of them."""

ALL = "all"
"""The `x` of a published reference line."""

IMPLIED_UNITS = ("x", "fraction", "cachelines")
"""Units that the title of the y axis omits."""

PER_S = "per s"
"""Unit of rates that may be very large."""

SIZES = ((1e9, "billions "), (1e6, "millions "), (1e3, "thousands "))
"""Units of such large rates."""

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
"""Domains whose time series share a chart, and the title of that chart."""

POINTS_MAX = 400
"""Maximum number of points of a chart over time."""


@dataclass(frozen=True)
class SeriesPoint:
    """A point of a series; `ci95` is a half-width, `published` the published value, which may be `doubtful`.

    With `published_to`, a range was published, of which it is the other end. `label` names the point if `x` does not.
    `link` is the place on the page that says more about it.
    """

    x: float
    simulated: float | None
    ci95: float | None = None
    published: float | None = None
    doubtful: bool = False
    label: str = ""
    published_to: float | None = None
    link: str | None = None


@dataclass(frozen=True)
class ChartSeries:
    """A series of a chart. `kind` (a to h) selects colour, dash and mark."""

    name: str
    kind: str
    values: tuple[SeriesPoint, ...]


def steps_per_point(steps: int) -> int:
    """Returns the number of steps of a time series per point of a chart."""
    return -(-steps // POINTS_MAX)


def thinned(plotted: ChartSeries) -> ChartSeries:
    """Returns the series with fewer points: means over equally many steps."""
    size = steps_per_point(len(plotted.values))
    if size <= 1:
        return plotted
    points = []
    for start in range(0, len(plotted.values), size):
        part = plotted.values[start : start + size]
        known = [value.simulated for value in part if value.simulated is not None]
        points.append(SeriesPoint(part[-1].x, fmean(known) if known else None))
    return replace(plotted, values=tuple(points))


@dataclass(frozen=True)
class ReferenceLine:
    """A horizontal reference line."""

    name: str
    value: float


def plotted_panel(panel: Row, rows: Sequence[Row]) -> tuple[list[ChartSeries], list[ReferenceLine]]:
    """Returns the series of a ledger panel in its order, and its reference lines."""
    own = [row for row in rows if row["panel"] == panel["name"]]
    drawn = [row for row in own if row["x"] != ALL]
    levels = [ReferenceLine(row["series"], row["published"]) for row in own if row["x"] == ALL]
    names = [name for name in panel["series"] if any(row["series"] == name for row in drawn)]
    series = []
    for kind, name in zip(KINDS, names, strict=False):
        values = [value_of(row) for row in drawn if row["series"] == name]
        series.append(ChartSeries(name, kind, tuple(sorted(values, key=lambda value: value.x))))
    return series, levels


def value_of(row: Row) -> SeriesPoint:
    """Converts a ledger row to a point of a chart. If x is a name, the published value is used as x.

    A published bound is omitted, because a chart cannot show it as a value.
    """
    doubtful = row["verdict"] == "excluded"
    x = row["published"] if row["engine"] in PEER_ENGINES else float(row["x"])
    published = None if row["kind"] == "relation" else row["published"]
    return SeriesPoint(x, row["simulated"], row["ci95"], published, doubtful, row["x"], row.get("other"))


def plotted_curves(curves: dict[str, list[list[float]]]) -> list[ChartSeries]:
    """Returns published curves without simulated counterpart."""
    return [
        ChartSeries(name, kind, tuple(SeriesPoint(x, y) for x, y in points))
        for kind, (name, points) in zip(KINDS, curves.items(), strict=False)
    ]


def series_of_run(rows: Sequence[Row], quantity: str) -> tuple[str, str, list[tuple[str, list[ChartSeries]]]]:
    """Returns title, y axis and series over time in us of a quantity, in named groups that fit into one chart.

    Subjects without any value, and domains that are always empty, are omitted.
    """
    title, unit = TITLES.get(quantity, (quantity, quantity))
    own = [row for row in rows if row["quantity"] == quantity]
    size, word = size_of(own) if unit == PER_S else (1.0, "")
    unit = f"{word}{unit}"
    values: dict[str, list[SeriesPoint]] = {}
    for row in own:
        value = None if row["value"] is None else row["value"] / size
        values.setdefault(row["subject"], []).append(SeriesPoint(row["time_ns"] / 1000, value))
    least = 0.0 if quantity == "in_use_mean" else -math.inf
    values = {name: points for name, points in values.items() if any(is_above(point, least) for point in points)}
    known = [(name, [subject for subject in subjects if subject in values]) for name, subjects in GROUPS]
    others = [subject for subject in values if not any(subject in subjects for _, subjects in GROUPS)]
    fours = [("", others[start : start + len(KINDS)]) for start in range(0, len(others), len(KINDS))]
    groups = [
        (
            name,
            [
                ChartSeries(subject, kind_in(name, subject, place), tuple(values[subject]))
                for place, subject in enumerate(own)
            ],
        )
        for name, own in (*known, *fours)
        if own
    ]
    return title, unit, groups


def size_of(rows: Sequence[Row]) -> tuple[float, str]:
    """Returns the unit for large rates."""
    largest = max((row["value"] for row in rows if row["value"] is not None), default=0.0)
    return next(((size, word) for size, word in SIZES if largest >= size), (1.0, ""))


def is_above(value: SeriesPoint, least: float) -> bool:
    """Returns True if there is a value and it exceeds `least`."""
    return value.simulated is not None and value.simulated > least


def kind_in(group: str, subject: str, place: int) -> str:
    """Returns the kind of a subject by its position in a named group, so that a domain keeps its colour."""
    return KINDS[dict(GROUPS)[group].index(subject) if group else place]


def y_title(panel: Row) -> str:
    """Returns the title of the y axis with its unit."""
    unit = str(panel["unit"])
    return str(panel["y_label"]) + (f", {unit}" if unit not in IMPLIED_UNITS else "")


def is_parity(panel: Row) -> bool:
    """Returns True if simulated values are plotted over published ones."""
    return panel.get("chart") == "parity"


def is_stacked(panel: Row) -> bool:
    """Returns True if the series of a panel add up."""
    return panel.get("chart") == "stacked" or str(panel["name"]).endswith("_membw")

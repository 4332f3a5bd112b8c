"""Panels: what a publication shows, how it is recomputed, and how close is close enough."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

Kind = Literal["relative", "absolute", "factor", "range", "relation", "context"]
"""What an error is: a share of the published value, a difference, a factor less 1 in either direction, or a share by
which a range or a bound is missed.

A value that was not published has none: it is context.
"""

Relation = Literal[">", ">=", "<", "<="]
"""On which side of a published bound a value has to be."""

Chart = Literal["lines", "bars", "stacked", "parity"]
"""How a panel is drawn."""

SCORED = tuple(kind for kind in get_args(Kind) if kind != "context")
"""The kinds that a group of rows can have."""

POINTED = re.compile(r"\d+(?:\.\d+)+")
"""The number of a figure in a chapter."""

ALL = "all"
"""The `x` of a published reference line."""


@dataclass(frozen=True)
class Group:
    """Rows that are scored alike. `mean` is the target of the mean error, `max` the tolerance of a single row.

    `unit` is that of absolute errors. Relative errors are shares of the published value, or of `floor` where that is
    more: what is below matters no more than a difference.
    """

    name: str
    title: str
    kind: Kind
    mean: float
    max: float
    unit: str = "pp"
    floor: float = 0.0


@dataclass(frozen=True)
class Against:
    """Operating points whose quantity another is compared with; `previous` takes the point before that of the row.

    Without `quantity` and `workload`, they are those of the series.
    """

    point: str
    baseline: str | None = None
    previous: bool = False
    quantity: str | None = None
    workload: str | None = None


@dataclass(frozen=True)
class Series:
    """How one curve of a panel is recomputed. Without `group` it is context; without `quantity` it is not simulated.

    A series that is not `drawn` has rows, but no place in a chart. `against` is what the quantity is compared with, as
    a ratio or, in percent, with `compare = "change"` as a change and with `"more"` as how much more it is, which is
    negative where it is less. With `over`, a row is about all points of a family: the least, the most or the mean of
    them, the one `farthest` from the published value, whether they rise (`trend`, a rank correlation), or at which x
    they first reach `constant` (`first`). `peak` is the bandwidth in GB/s that a utilization is a share of.
    `percentile` is a column of latencies.

    Where the published formula is recomputed, `form` is its form, `timings` its constants in ns but for that of the
    domain, which is `constant`, `parts` are the components that count, `way` is the time that the publication takes off
    the time outside of the CHA, and `admission` says whether the wait for the CHA is added to the formula.
    """

    name: str
    group: str | None = None
    quantity: str | None = None
    point: str | None = None
    baseline: str | None = None
    domain: str | None = None
    workload: str | None = None
    drawn: bool = True
    against: Against | None = None
    compare: Literal["ratio", "change", "more"] = "ratio"
    over: Literal["least", "most", "mean", "farthest", "trend", "first"] | None = None
    peak: float = 0.0
    percentile: str = "p99"
    form: str | None = None
    constant: float = 0.0
    parts: Sequence[str] = ()
    way: float = 0.0
    admission: bool = False
    timings: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Published:
    """One published value, as the panel's file has it. `x` is the file's text.

    With `other`, a second published value of the same thing, the two are the ends of a range. With `relation`, `y` is a
    bound. Without `y`, nothing was published: the value is shown as context. `id` is that of its row, and `group` and
    `tolerance` hold instead of those of its series, where there are any.
    """

    figure: str
    series: str
    x: str
    x_label: str
    y: float | None
    y_label: str
    unit: str
    other: float | None = None
    relation: Relation | None = None
    id: str | None = None
    group: str | None = None
    tolerance: float | None = None


@dataclass(frozen=True)
class Panel:
    """One panel of a figure. `rows_at` picks, per series, the published points nearest to these x (empty: all).

    The labels are for drawing, where those of the panel's file are too long. `section` is the heading of the report
    that a panel is drawn under; without it, its name says.
    """

    name: str
    title: str
    series: tuple[Series, ...]
    published: tuple[Published, ...]
    rows_at: tuple[float, ...] = ()
    x_label: str | None = None
    y_label: str | None = None
    chart: Chart = "lines"
    section: str | None = None

    @property
    def figure(self) -> str:
        """The figure's number and letter, such as `7b` or `3`, with the points that its section has: `4.13a`."""
        return with_points(figure_name(self.name.split("_")[0]), self.section or "")

    def rows(self) -> list[Published]:
        """The published values that become rows of the ledger, in the file's order."""
        if not self.rows_at:
            return list(self.published)
        return [nearest(self.published, series.name, x) for series in self.series for x in self.rows_at]


@dataclass(frozen=True)
class Exclusion:
    """Published points that are known to be wrong. Without `x`, the whole series."""

    panel: str
    series: str
    reason: str
    x: tuple[str, ...] = ()

    def covers(self, panel: str, series: str, x: str) -> bool:
        """Whether the point belongs to this exclusion."""
        return (panel, series) == (self.panel, self.series) and (not self.x or x in self.x)


def figure_name(text: str) -> str:
    """`fig07b`, `07b` and `7b` all become `7b`."""
    return text.strip().lower().removeprefix("fig").removeprefix("ure").strip(" .").lstrip("0")


def with_points(figure: str, section: str) -> str:
    """`413a` becomes `4.13a` where the section speaks of 4.13: names of panels have no points."""
    for number in POINTED.findall(section):
        name, found, letter = figure.partition(number.replace(".", ""))
        if found and not name[-1:].isdigit() and not letter[:1].isdigit():
            return f"{name}{number}{letter}"
    return figure


def figure_matches(wanted: str, figure: str) -> bool:
    """Whether `figure` (`7b`) is the wanted one (`7b`), or a panel of it (`7`), with points or without."""
    wanted, figure = wanted.replace(".", ""), figure.replace(".", "")
    return figure == wanted or (figure.startswith(wanted) and figure[len(wanted) :].isalpha())


def nearest(published: tuple[Published, ...], series: str, x: float) -> Published:
    """The published point of a series that lies nearest to `x`."""
    return min((value for value in published if value.series == series), key=lambda value: abs(float(value.x) - x))

"""Panels: published values, how they are reproduced, and the tolerances."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

Kind = Literal["relative", "absolute", "factor", "range", "relation", "context"]
"""Definition of an error: a share of the published value, a difference, the larger over the smaller value minus 1, or
the share by which a range or a bound is missed. A value that was not published is context and has no error."""

Relation = Literal[">", ">=", "<", "<="]
"""Side of a published bound on which a value must be."""

Chart = Literal["lines", "bars", "stacked", "parity"]
"""Chart types of a panel."""

SCORED = tuple(kind for kind in get_args(Kind) if kind != "context")
"""Kinds that a group of rows can have."""

POINTED = re.compile(r"\d+(?:\.\d+)+")
"""Number of a figure in a chapter."""

ALL = "all"
"""The `x` of a published reference line."""


@dataclass(frozen=True)
class Group:
    """Rows that are scored alike. `mean` is the target of the mean error, `max` the tolerance of a single row.

    `unit` is the unit of absolute errors. Relative errors are shares of the published value, or of `floor` if that is
    larger, so that small values are scored by their difference.
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
    """Operating points that the quantity is compared with; `previous` selects the point before that of the row.

    Without `quantity` and `workload`, those of the series apply.
    """

    point: str
    baseline: str | None = None
    previous: bool = False
    quantity: str | None = None
    workload: str | None = None


@dataclass(frozen=True)
class Series:
    """Definition of a curve of a panel. Without `group` it is context; without `quantity` it is not simulated.

    A series that is not `drawn` has rows but is not plotted. `against` is the comparison of the quantity: `compare`
    selects a ratio, the absolute relative difference ("change") or the signed one ("more"), both in percent.

    With `over`, a row is about all points of a family: the least, the most or the mean of them, the one `farthest` from
    the published value, their rank correlation with x (`trend`), or the x at which they first reach `constant`
    (`first`).

    `peak` is the bandwidth in GB/s that a utilization refers to. `percentile` is a column of latencies. For the
    published formula, `form` is its form, `timings` its constants in ns except that of the domain, which is `constant`,
    `parts` are the components that count, `way` is the time that the publication subtracts from the time outside of the
    CHA, and `admission` is True if the wait for the CHA is added to the formula.
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
    """A published value, as in the file of the panel. `x` is the text of the file.

    With `other`, a second published value, the two are the ends of a range. With `relation`, `y` is a bound. Without
    `y`, nothing was published, and the value is context. `id` is that of its row; `group` and `tolerance` override
    those of its series.
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
    """A panel of a figure. `rows_at` selects, per series, the published points nearest to these x (empty: all).

    The labels override those of the file for plotting. `section` is the heading of the report under which the panel is
    plotted; by default it follows from the name.
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
        """Number and letter of the figure, such as `7b` or `3`, with the dots of its section: `4.13a`."""
        return with_points(figure_name(self.name.split("_")[0]), self.section or "")

    def rows(self) -> list[Published]:
        """Returns the published values that become rows of the ledger, in the order of the file."""
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
        """Returns True if the exclusion applies to the point."""
        return (panel, series) == (self.panel, self.series) and (not self.x or x in self.x)


def figure_name(text: str) -> str:
    """Normalizes the name of a figure: `fig07b`, `07b` and `7b` all become `7b`."""
    return text.strip().lower().removeprefix("fig").removeprefix("ure").strip(" .").lstrip("0")


def with_points(figure: str, section: str) -> str:
    """Returns `4.13a` for `413a` if the section mentions 4.13, because names of panels have no dots."""
    for number in POINTED.findall(section):
        name, found, letter = figure.partition(number.replace(".", ""))
        if found and not name[-1:].isdigit() and not letter[:1].isdigit():
            return f"{name}{number}{letter}"
    return figure


def figure_matches(wanted: str, figure: str) -> bool:
    """Returns True if `figure` (`7b`) is the wanted one (`7b`) or a panel of it (`7`), with or without dots."""
    wanted, figure = wanted.replace(".", ""), figure.replace(".", "")
    return figure == wanted or (figure.startswith(wanted) and figure[len(wanted) :].isalpha())


def nearest(published: tuple[Published, ...], series: str, x: float) -> Published:
    """Returns the published point of a series that is nearest to `x`."""
    return min((value for value in published if value.series == series), key=lambda value: abs(float(value.x) - x))

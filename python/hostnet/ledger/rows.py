"""The rows of the ledger: published beside simulated, and what to make of the difference."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from hostnet.ledger.errors import LedgerError
from hostnet.ledger.formula_quantities import FORMULA_QUANTITIES
from hostnet.ledger.memory_quantities import MEMORY_QUANTITIES
from hostnet.ledger.quantities import QUANTITIES, Estimate, Outcome
from hostnet.ledger.study import ALL, Exclusion, Group, Kind, Panel, Published, Series, Study, expand

Verdict = Literal["pass", "fail", "excluded", "context"]

ROUNDING = 1e-9
"""An error that exceeds the tolerance by less than this is on it: decimal fractions are not exact in binary."""


@dataclass(frozen=True)
class Row:
    """One published value and what the simulator says.

    `error` is signed. When `kind` is relative: (simulated - published) / published, or over the floor of the group
    where that is more. When it is absolute: the difference in `unit`. When it is range: the distance from the range
    between `published` and `other` as a share of the nearer end, 0 inside.
    `ci95` is the half-width of the simulated value's confidence interval in `unit`. What is unknown is None.
    """

    id: str
    study: str
    figure: str
    panel: str
    series: str
    x: str
    engine: str
    unit: str
    published: float
    simulated: float | None
    ci95: float | None
    error: float | None
    tolerance: float | None
    kind: Kind
    verdict: Verdict
    other: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """The row as an object of the `--json` file. Only rows that are compared with a range have the key `other`."""
        return {key: value for key, value in asdict(self).items() if key != "other" or value is not None}


@dataclass(frozen=True)
class Score:
    """How a group of rows did. `mean` and `max` are over the rows that have an error, None when none has one."""

    group: Group
    rows: int
    passed: int
    without_error: int
    mean: float | None
    max: float | None

    @property
    def on_target(self) -> bool:
        """Whether every row has an error, and their mean is within its target."""
        return self.mean is not None and not self.without_error and self.mean <= self.group.mean + ROUNDING


@dataclass(frozen=True)
class Needs:
    """The operating points that a published value is computed from."""

    point: str
    baseline: str | None = None

    def names(self) -> set[str]:
        """Their names."""
        return {name for name in (self.point, self.baseline) if name is not None}


def needs(study: Study, series: Series, x: str) -> Needs | None:
    """Which operating points a value of this series needs; None when it is not simulated."""
    if series.quantity is None or series.point is None:
        return None
    baseline = None if series.baseline is None else resolve_point(study, series.baseline, x)
    return Needs(resolve_point(study, series.point, x), baseline)


def resolve_point(study: Study, name: str, x: str) -> str:
    """The operating point that `name` means at `x`: a family is taken at `x`, a single point as it is."""
    points = expand(name, study.families)
    if len(points) == 1:
        return points[0].name
    match = next((point for point in points if point.x == x), None)
    if match is None:
        raise LedgerError(f"{study.name}: {name!r} has no operating point for x = {x}")
    return match.name


def points_needed(study: Study, panels: tuple[Panel, ...]) -> set[str]:
    """Names of the operating points that the rows of these panels need."""
    return {
        name
        for panel in panels
        for value in panel.rows()
        if (need := needs(study, series_of(panel, value), value.x)) is not None
        for name in need.names()
    }


def series_of(panel: Panel, value: Published) -> Series:
    """The definition of a published value's series."""
    return next(series for series in panel.series if series.name == value.series)


def ledger_rows(study: Study, panels: tuple[Panel, ...], outcomes: Mapping[str, Outcome]) -> list[Row]:
    """The rows of these panels. Rows whose operating points were not run are left out."""
    rows = []
    for panel in panels:
        for value in panel.rows():
            series = series_of(panel, value)
            need = needs(study, series, value.x)
            if need is None:
                rows.append(make_row(study, panel, series, value, None))
            elif need.names() <= outcomes.keys():
                baseline = None if need.baseline is None else outcomes[need.baseline]
                estimate = quantity_of(series)(series, outcomes[need.point], baseline)
                rows.append(make_row(study, panel, series, value, estimate))
    return rows


def quantity_of(series: Series) -> Any:
    """The function that computes the series. Raises `LedgerError` for a name that is none."""
    known = {**QUANTITIES, **FORMULA_QUANTITIES, **MEMORY_QUANTITIES}
    if series.quantity not in known:
        raise LedgerError(f"series {series.name!r}: unknown quantity {series.quantity!r}")
    return known[series.quantity]


def make_row(study: Study, panel: Panel, series: Series, value: Published, estimate: Estimate | None) -> Row:
    """Scores one value."""
    group = study.groups[series.group] if series.group is not None and value.x != ALL else None
    kind: Kind = (
        group.kind if group else "relative" if value.y and series.quantity != "latency_inflation" else "absolute"
    )
    simulated = finite(estimate.value) if estimate else None
    error = error_of(value.y, simulated, kind, value.other, group.floor if group else 0.0)
    return Row(
        id="/".join((study.name, panel.name, slug(value.series), value.x)),
        study=study.name,
        figure=value.figure,
        panel=panel.name,
        series=value.series,
        x=value.x,
        engine=study.engine,
        unit=value.unit,
        published=value.y,
        simulated=simulated,
        ci95=finite(estimate.ci95) if estimate and simulated is not None else None,
        error=error,
        tolerance=group.max if group else None,
        kind=kind,
        verdict=verdict_of(group, error, study.exclusion(panel.name, value.series, value.x)),
        other=value.other,
    )


def slug(text: str) -> str:
    """`CHA->MC write latency` becomes `cha-mc-write-latency`."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def finite(value: float | None) -> float | None:
    """The value, or None where it says nothing."""
    return value if value is not None and math.isfinite(value) else None


def error_of(
    published: float, simulated: float | None, kind: Kind, other: float | None = None, floor: float = 0.0
) -> float | None:
    """Signed error of a simulated value; None without one, or relative to zero.

    `other` is the second end of a range; without it the range is the published value alone. A relative error is at
    least relative to `floor`.
    """
    if simulated is None:
        return None
    nearest = published
    if kind == "range" and other is not None:
        nearest = min(max(simulated, min(published, other)), max(published, other))
    difference = simulated - nearest
    if kind == "absolute":
        return difference
    whole = math.copysign(max(abs(nearest), floor), nearest)
    return difference / whole if whole else None


def verdict_of(group: Group | None, error: float | None, exclusion: Exclusion | None) -> Verdict:
    """What to make of an error. A row exactly on its tolerance passes; a scored row without a value fails."""
    if exclusion is not None:
        return "excluded"
    if group is None:
        return "context"
    return "pass" if error is not None and abs(error) <= group.max + ROUNDING else "fail"


def scores(study: Study, rows: list[Row]) -> list[Score]:
    """How every group did, in the study's order. Groups without scored rows are left out."""
    members: dict[str, list[Row]] = {name: [] for name in study.groups}
    series = {(panel.name, entry.name): entry for panel in study.panels for entry in panel.series}
    for row in rows:
        if row.verdict in ("pass", "fail"):
            members[series[row.panel, row.series].group or ""].append(row)
    return [score(study.groups[name], group_rows) for name, group_rows in members.items() if group_rows]


def score(group: Group, rows: list[Row]) -> Score:
    """Passes, mean and largest error of the scored rows of a group."""
    errors = [abs(row.error) for row in rows if row.error is not None]
    return Score(
        group=group,
        rows=len(rows),
        passed=sum(row.verdict == "pass" for row in rows),
        without_error=len(rows) - len(errors),
        mean=sum(errors) / len(errors) if errors else None,
        max=max(errors, default=None),
    )

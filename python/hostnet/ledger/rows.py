"""The rows of the ledger: published beside simulated, and what to make of the difference."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from hostnet.ledger.needs import estimate_of, needs, series_of
from hostnet.ledger.panels import ALL, Exclusion, Group, Kind, Panel, Published, Relation, Series
from hostnet.ledger.quantities import Estimate, Outcome
from hostnet.ledger.study import Study

Verdict = Literal["pass", "fail", "skipped", "excluded", "context"]

ROUNDING = 1e-9
"""An error that exceeds the tolerance by less than this is on it: decimal fractions are not exact in binary."""


@dataclass(frozen=True)
class Row:
    """One published value and what the simulator says. A row of kind context has no published value.

    `error` is signed. When `kind` is relative: (simulated - published) / published, or over the floor of the group
    where that is more. When it is absolute: the difference in `unit`. When it is factor: by how much the larger of the
    two exceeds the smaller, as a share of the smaller. When it is range: the distance from the range between
    `published` and `other` as a share of the nearer end, 0 inside. When it is relation: the distance from the
    bound `published` as a share of it, 0 on the side that `relation` names.
    `floor` is what `error` and `tolerance` are shares of, in `unit`, where it is more than the published value.
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
    published: float | None
    simulated: float | None
    ci95: float | None
    error: float | None
    tolerance: float | None
    kind: Kind
    verdict: Verdict
    other: float | None = None
    relation: Relation | None = None
    floor: float | None = None
    group: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The row as an object of the `--json` file. Only rows that are compared with a range have the key `other`.

        Only those that are compared with a bound have the key `relation`, with a floor `floor`.
        """
        optional = ("other", "relation", "floor")
        fields = asdict(self)
        del fields["group"]
        return {key: value for key, value in fields.items() if key not in optional or value is not None}


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


def ledger_rows(study: Study, panels: tuple[Panel, ...], outcomes: Mapping[str, Outcome]) -> list[Row]:
    """The rows of these panels. Rows whose operating points were not run are left out."""
    rows = []
    for panel in panels:
        for value in panel.rows():
            series = series_of(panel, value)
            need = needs(study, series, value.x)
            if need is None:
                rows.append(make_row(study, panel, series, value, None))
            elif any(outcomes[name].skipped for name in need.names() & outcomes.keys()):
                rows.append(make_row(study, panel, series, value, None, skipped=True))
            elif need.names() <= outcomes.keys():
                rows.append(make_row(study, panel, series, value, estimate_of(series, need, outcomes, value.y)))
    return rows


def make_row(
    study: Study,
    panel: Panel,
    series: Series,
    value: Published,
    estimate: Estimate | None,
    *,
    skipped: bool = False,
) -> Row:
    """Scores one value; `skipped` says that a point it needs was not run."""
    name = value.group or series.group
    group = study.groups[name] if name is not None and value.x != ALL and value.y is not None else None
    if group is not None and value.tolerance is not None:
        group = replace(group, max=value.tolerance)
    kind = kind_of(group, series, value)
    simulated = finite(estimate.value) if estimate else None
    floor = group.floor if group else 0.0
    error = error_of(value.y, simulated, kind, value.other, floor, value.relation)
    exclusion = study.exclusion(panel.name, value.series, value.x)
    return Row(
        id=value.id or "/".join((study.name, panel.name, slug(value.series), value.x)),
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
        verdict="skipped" if skipped else verdict_of(group, error, exclusion, strict=is_strict(value, simulated)),
        other=value.other,
        relation=value.relation,
        floor=floor if value.y is not None and abs(value.y) < floor else None,
        group=group.name if group else None,
    )


def kind_of(group: Group | None, series: Series, value: Published) -> Kind:
    """What the error of a row is."""
    if value.y is None:
        return "context"
    if group is not None:
        return group.kind
    if value.relation is not None:
        return "relation"
    return "relative" if value.y and series.quantity != "latency_inflation" else "absolute"


def slug(text: str) -> str:
    """`CHA->MC write latency` becomes `cha-mc-write-latency`."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def finite(value: float | None) -> float | None:
    """The value, or None where it says nothing."""
    return value if value is not None and math.isfinite(value) else None


def error_of(
    published: float | None,
    simulated: float | None,
    kind: Kind,
    other: float | None = None,
    floor: float = 0.0,
    relation: Relation | None = None,
) -> float | None:
    """Signed error of a simulated value; None without one, without a published one, or relative to zero.

    `other` is the second end of a range; without it the range is the published value alone. A relative error is at
    least relative to `floor`. `relation` is the side of a bound that has no error.
    """
    if simulated is None or published is None:
        return None
    nearest = published
    if kind == "range" and other is not None:
        nearest = min(max(simulated, min(published, other)), max(published, other))
    if kind == "relation" and relation is not None:
        nearest = max(simulated, published) if relation.startswith(">") else min(simulated, published)
    difference = simulated - nearest
    if kind == "absolute" or (difference == 0 and kind in ("range", "relation")):
        return difference
    if kind == "factor":
        least = min(simulated, published)
        return difference / least if least > 0 else None
    whole = math.copysign(max(abs(nearest), floor), nearest)
    return difference / whole if whole else None


def is_strict(value: Published, simulated: float | None) -> bool:
    """Whether a value lies on a bound that it has to be beyond."""
    return value.relation in (">", "<") and simulated == value.y


def verdict_of(
    group: Group | None, error: float | None, exclusion: Exclusion | None, *, strict: bool = False
) -> Verdict:
    """What to make of an error. A row exactly on its tolerance passes; a scored row without a value fails.

    A `strict` row is on a bound that it has to be beyond: that takes a tolerance.
    """
    if exclusion is not None:
        return "excluded"
    if group is None:
        return "context"
    if error is None or (strict and group.max == 0):
        return "fail"
    return "pass" if abs(error) <= group.max + ROUNDING else "fail"


def scores(study: Study, rows: list[Row]) -> list[Score]:
    """How every group did, in the study's order. Groups without scored rows are left out."""
    members: dict[str, list[Row]] = {name: [] for name in study.groups}
    for row in rows:
        if row.group is not None and row.verdict in ("pass", "fail"):
            members[row.group].append(row)
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

"""Rows of the ledger: published and simulated values, and the verdict on their difference."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

from hostnet.ledger.dependencies import Dependencies, dependencies_of, estimate_of, series_of
from hostnet.ledger.panels import ALL, Exclusion, Group, Kind, Panel, Published, Relation, Series
from hostnet.ledger.quantities import Estimate, Outcome
from hostnet.ledger.study import Study

Verdict = Literal["pass", "fail", "skipped", "excluded", "context"]

Role = Literal["target", "calibrated", "context"]

ROUNDING = 1e-9
"""An error that exceeds the tolerance by less than this passes, because decimal fractions are inexact in binary."""


@dataclass(frozen=True)
class Row:
    """A published value and its simulated counterpart. A row of kind context has no published value.

    `error` is signed, and its definition depends on `kind`:

    - relative: (simulated - published) / published, or over the floor of the group if that is larger.
    - absolute: the difference in `unit`.
    - factor: the larger value over the smaller one, minus 1.
    - range: the distance from the range between `published` and `other` as a share of the nearer end, 0 inside.
    - relation: the distance from the bound `published` as a share of it, 0 on the side that `relation` names.

    `floor` is the value that `error` and `tolerance` refer to, in `unit`, if it exceeds the published value. `ci95` is
    the half-width of the simulated value's confidence interval in `unit`. Unknown values are None.

    `statement` is the published result that the row is about; several rows may be about one. `role` is that of the
    row: a target is judged, a calibrated row had a constant fitted to it, and context is not judged.
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
    statement: str = ""
    role: Role = "context"

    def as_dict(self) -> dict[str, Any]:
        """Returns the row as an object of the `--json` file. `other`, `relation` and `floor` are omitted if unused."""
        optional = ("other", "relation", "floor")
        fields = asdict(self)
        del fields["group"]
        return {key: value for key, value in fields.items() if key not in optional or value is not None}


@dataclass(frozen=True)
class Score:
    """Score of a group of rows. `mean` and `max` are over the rows with an error, None if there are none."""

    group: Group
    rows: int
    passed: int
    without_error: int
    mean: float | None
    max: float | None

    @property
    def on_target(self) -> bool:
        """True if every row has an error, and their mean is within its target."""
        return self.mean is not None and not self.without_error and self.mean <= self.group.mean + ROUNDING


def ledger_rows(study: Study, panels: tuple[Panel, ...], outcomes: Mapping[str, Outcome]) -> list[Row]:
    """Returns the rows of the panels, without those whose operating points were not run."""
    rows = []
    for panel, value, series, need in values_of(study, panels):
        if need is None:
            rows.append(make_row(study, panel, series, value, None))
        elif any(outcomes[name].skipped for name in need.names() & outcomes.keys()):
            rows.append(make_row(study, panel, series, value, None, skipped=True))
        elif need.names() <= outcomes.keys():
            rows.append(make_row(study, panel, series, value, estimate_of(series, need, outcomes, value.y)))
    return rows


def rows_left_out(study: Study, panels: tuple[Panel, ...], outcomes: Mapping[str, Outcome]) -> Counter[str]:
    """Counts, by figure, the rows that `ledger_rows` omits because their operating points were not run."""
    return Counter(
        value.figure
        for _, value, _, need in values_of(study, panels)
        if need is not None and not need.names() <= outcomes.keys()
    )


def values_of(
    study: Study, panels: tuple[Panel, ...]
) -> Iterator[tuple[Panel, Published, Series, Dependencies | None]]:
    """Yields every value of the panels, with its series and the operating points that it needs."""
    for panel in panels:
        for value in panel.rows():
            series = series_of(panel, value)
            yield panel, value, series, dependencies_of(study, series, value.x)


def make_row(
    study: Study,
    panel: Panel,
    series: Series,
    value: Published,
    estimate: Estimate | None,
    *,
    skipped: bool = False,
) -> Row:
    """Scores one value; `skipped` is True if a required point was skipped."""
    of_group = value.group or series.group
    group = study.groups[of_group] if of_group is not None and value.x != ALL and value.y is not None else None
    if group is not None and value.tolerance is not None:
        group = replace(group, max=value.tolerance)
    kind = kind_of(group, series, value)
    simulated = finite(estimate.value) if estimate else None
    floor = group.floor if group else 0.0
    error = error_of(value.y, simulated, kind, value.other, floor, value.relation)
    exclusion = study.exclusion(panel.name, value.series, value.x)
    verdict = "skipped" if skipped else verdict_of(group, error, exclusion, strict=is_strict(value, simulated))
    statement = statement_of(study, panel, value)
    return Row(
        id=value.id or statement,
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
        verdict=verdict,
        other=value.other,
        relation=value.relation,
        floor=floor if value.y is not None and abs(value.y) < floor else None,
        group=group.name if group else None,
        statement=statement,
        role=role_of(study, statement, verdict),
    )


def statement_of(study: Study, panel: Panel, value: Published) -> str:
    """Returns the name of the published result that a row is about; the rows of one add to it after a slash."""
    if value.id:
        return value.id.partition("/")[0]
    return "/".join((study.name, panel.name, slug(value.series), value.x))


def role_of(study: Study, statement: str, verdict: Verdict) -> Role:
    """Returns the role of a row of a statement."""
    if verdict in ("context", "excluded") or matches(statement, study.unpublished):
        return "context"
    return "calibrated" if matches(statement, study.calibrated) else "target"


def matches(statement: str, patterns: Sequence[str]) -> bool:
    """Returns True if a statement has one of these patterns."""
    return any(fnmatchcase(statement, pattern) for pattern in patterns)


def kind_of(group: Group | None, series: Series, value: Published) -> Kind:
    """Returns the kind of the error of a row."""
    if value.y is None:
        return "context"
    if group is not None:
        return group.kind
    if value.relation is not None:
        return "relation"
    return "relative" if value.y and series.quantity != "latency_inflation" else "absolute"


def slug(text: str) -> str:
    """Converts text to a slug: `CHA->MC write latency` becomes `cha-mc-write-latency`."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def finite(value: float | None) -> float | None:
    """Returns the value, or None if it is not finite."""
    return value if value is not None and math.isfinite(value) else None


def error_of(
    published: float | None,
    simulated: float | None,
    kind: Kind,
    other: float | None = None,
    floor: float = 0.0,
    relation: Relation | None = None,
) -> float | None:
    """Returns the signed error of a simulated value; None if a value is missing or the reference is zero.

    `other` is the second end of a range; without it, the range is the published value. A relative error refers at least
    to `floor`. `relation` is the side of a bound that has no error.
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
    """Returns True if a value equals a bound that it must exceed."""
    return value.relation in (">", "<") and simulated == value.y


def verdict_of(
    group: Group | None, error: float | None, exclusion: Exclusion | None, *, strict: bool = False
) -> Verdict:
    """Returns the verdict on an error. An error equal to the tolerance passes; a scored row without a value fails.

    A `strict` row equals a bound that it must exceed, which passes only with a tolerance.
    """
    if exclusion is not None:
        return "excluded"
    if group is None:
        return "context"
    if error is None or (strict and group.max == 0):
        return "fail"
    return "pass" if abs(error) <= group.max + ROUNDING else "fail"


def scores(study: Study, rows: list[Row]) -> list[Score]:
    """Returns the scores of all groups with scored rows, in the order of the study."""
    members: dict[str, list[Row]] = {name: [] for name in study.groups}
    for row in rows:
        if row.group is not None and row.verdict in ("pass", "fail"):
            members[row.group].append(row)
    return [score(study.groups[name], group_rows) for name, group_rows in members.items() if group_rows]


def score(group: Group, rows: list[Row]) -> Score:
    """Returns the passes and the mean and largest error of the scored rows of a group."""
    errors = [abs(row.error) for row in rows if row.error is not None]
    return Score(
        group=group,
        rows=len(rows),
        passed=sum(row.verdict == "pass" for row in rows),
        without_error=len(rows) - len(errors),
        mean=sum(errors) / len(errors) if errors else None,
        max=max(errors, default=None),
    )

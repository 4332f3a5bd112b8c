"""A study: what a publication measured, how it is recomputed, and how close is close enough.

A study lives in `studies/<name>/` of the repository: `study.toml` and the published values in `panels/*.csv`.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from hostnet.ledger.errors import LedgerError
from hostnet.ledger.points import Family, OperatingPoint, PointFamily, Selection

Kind = Literal["relative", "absolute", "range"]
"""What an error is: a share of the published value, a difference, or a share by which a range is missed."""

Engine = Literal["simulation", "memory", "predict"]
"""What recomputes a study: whole servers, or the memory alone."""

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
class Series:
    """How one curve of a panel is recomputed. Without `group` it is context; without `quantity` it is not simulated.

    A series that is not `drawn` has rows, but no place in a chart. Where the published formula is recomputed, `form` is
    its form, `timings` its constants in ns but for that of the domain, which is `constant`, `parts` are the components
    that count, `way` is the time that the publication takes off the time outside of the CHA, and `admission` says
    whether the wait for the CHA is added to the formula.
    """

    name: str
    group: str | None = None
    quantity: str | None = None
    point: str | None = None
    baseline: str | None = None
    domain: str | None = None
    workload: str | None = None
    drawn: bool = True
    form: str | None = None
    constant: float = 0.0
    parts: Sequence[str] = ()
    way: float = 0.0
    admission: bool = False
    timings: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Published:
    """One published value, as the panel's file has it. `x` is the file's text.

    With `other`, a second published value of the same thing, the two are the ends of a range.
    """

    figure: str
    series: str
    x: str
    x_label: str
    y: float
    y_label: str
    unit: str
    other: float | None = None


@dataclass(frozen=True)
class Panel:
    """One panel of a figure. `rows_at` picks, per series, the published points nearest to these x (empty: all).

    The labels are for drawing, where those of the panel's file are too long.
    """

    name: str
    title: str
    series: tuple[Series, ...]
    published: tuple[Published, ...]
    rows_at: tuple[float, ...] = ()
    x_label: str | None = None
    y_label: str | None = None

    @property
    def figure(self) -> str:
        """The figure's number and letter, such as `7b` or `3`."""
        return figure_name(self.name.split("_")[0])

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


@dataclass(frozen=True)
class Study:
    """A publication's results as data."""

    name: str
    title: str
    source: str
    engine: Engine
    preset: str
    seed: int
    root: Path
    families: Mapping[str, PointFamily]
    selections: dict[str, Selection]
    groups: dict[str, Group]
    exclusions: tuple[Exclusion, ...]
    panels: tuple[Panel, ...]

    def panels_of(self, figures: Sequence[str]) -> tuple[Panel, ...]:
        """The panels of these figures (`3`, `7b`, `fig08`); all of them when the list is empty."""
        if not figures:
            return self.panels
        wanted = [figure_name(figure) for figure in figures]
        for figure in wanted:
            if not any(figure_matches(figure, panel.figure) for panel in self.panels):
                known = ", ".join(sorted({panel.figure for panel in self.panels}))
                raise LedgerError(f"{self.name} has no figure {figure}; its ledger has {known}")
        return tuple(panel for panel in self.panels if any(figure_matches(figure, panel.figure) for figure in wanted))

    def exclusion(self, panel: str, series: str, x: str) -> Exclusion | None:
        """Why this point is excluded, if it is."""
        return next((rule for rule in self.exclusions if rule.covers(panel, series, x)), None)


def figure_name(text: str) -> str:
    """`fig07b`, `07b` and `7b` all become `7b`."""
    return text.strip().lower().removeprefix("fig").removeprefix("ure").strip(" .").lstrip("0")


def figure_matches(wanted: str, figure: str) -> bool:
    """Whether `figure` (`7b`) is the wanted one (`7b`), or a panel of it (`7`)."""
    return figure == wanted or (figure.startswith(wanted) and figure[len(wanted) :].isalpha())


def nearest(published: tuple[Published, ...], series: str, x: float) -> Published:
    """The published point of a series that lies nearest to `x`."""
    return min((value for value in published if value.series == series), key=lambda value: abs(float(value.x) - x))


def studies_root() -> Path:
    """The repository's `studies` folder: beside this package's sources, or above the current directory."""
    source_root = Path(__file__).resolve().parents[3]
    here = Path.cwd().resolve()
    for root in (source_root, here, *here.parents):
        if (root / "studies" / "host_network" / "study.toml").is_file():
            return root / "studies"
    raise LedgerError(
        "the published values are not part of the installed package: run this command inside a checkout of the "
        f"hostnet repository (looked for studies/host_network/study.toml in {source_root} and above {here})"
    )


def study_names() -> list[str]:
    """The studies of the repository, sorted."""
    return sorted(path.parent.name for path in studies_root().glob("*/study.toml"))


def load_study(name: str, root: Path | None = None) -> Study:
    """Reads a study by name. Raises `LedgerError` when there is none, or when its files do not fit together."""
    folder = (root or studies_root()) / name
    file = folder / "study.toml"
    if not file.is_file():
        raise LedgerError(f"there is no study {name!r}; there are: {', '.join(study_names())}")
    try:
        return parse_study(tomllib.loads(file.read_text(encoding="utf-8")), folder)
    except (KeyError, TypeError, ValueError) as error:
        raise LedgerError(f"{file}: {error!r}") from error


def parse_study(data: dict[str, Any], folder: Path) -> Study:
    """Builds a study from the parsed `study.toml`."""
    families, panels = parse_memory(data, folder) if data["study"]["engine"] == "memory" else parse_host(data, folder)
    groups = {name: Group(name=name, **fields) for name, fields in data["groups"].items()}
    study = Study(
        **data["study"],
        root=folder,
        families=families,
        selections={name: parse_selection(name, fields, families) for name, fields in data["selections"].items()},
        groups=groups,
        exclusions=tuple(Exclusion(**{**rule, "x": tuple(rule.get("x", ()))}) for rule in data.get("excluded", ())),
        panels=panels,
    )
    check_references(study)
    return study


def parse_host(data: dict[str, Any], folder: Path) -> tuple[Mapping[str, PointFamily], tuple[Panel, ...]]:
    """Operating points and panels of a study of servers."""
    families = {name: Family(name=name, **fields) for name, fields in data["points"].items()}
    timings = data.get("formula", {})
    return families, tuple(parse_panel(fields, folder, timings) for fields in data["panels"])


def parse_memory(data: dict[str, Any], folder: Path) -> tuple[Mapping[str, PointFamily], tuple[Panel, ...]]:
    """Operating points and panels of a study of the memory alone."""
    from hostnet.ledger.peers import parse_peers

    return parse_peers(data, folder)


def parse_selection(name: str, fields: dict[str, Any], families: Mapping[str, PointFamily]) -> Selection:
    """Expands the families of a selection into operating points."""
    points = [point for text in fields["points"] for point in expand(text, families)]
    return Selection(name, fields["warmup"], fields["duration"], tuple(points))


def expand(text: str, families: Mapping[str, PointFamily]) -> list[OperatingPoint]:
    """`q1` becomes all its operating points, `q1:3` the one with three cores."""
    family, _, x = text.partition(":")
    points = [point for point in families[family].points() if not x or point.x == x]
    if not points:
        raise ValueError(f"{family} has no operating point {x!r}")
    return points


def parse_panel(fields: dict[str, Any], folder: Path, timings: Mapping[str, float]) -> Panel:
    """Joins a panel's definition with its published values."""
    published = read_published(folder / "panels" / f"{fields['name']}.csv")
    series = tuple(Series(**entry, timings=timings) for entry in fields["series"])
    return Panel(**{**fields, "series": series, "published": published, "rows_at": tuple(fields.get("rows_at", ()))})


def read_published(file: Path) -> tuple[Published, ...]:
    """The published values of one panel."""
    with file.open(newline="", encoding="utf-8") as lines:
        return tuple(
            Published(
                figure=row["figure"],
                series=row["series"],
                x=row["x"],
                x_label=row["x_label"],
                y=float(row["y"]),
                y_label=row["y_label"],
                unit=row["unit"],
            )
            for row in csv.DictReader(lines)
        )


def check_references(study: Study) -> None:
    """Every series names a group and operating points that exist, and covers what the panel's file holds."""
    for group in study.groups.values():
        if group.kind not in get_args(Kind):
            raise ValueError(f"group {group.name}: kind is {group.kind!r}, must be relative or absolute")
    for panel in study.panels:
        defined = {series.name for series in panel.series}
        for value in panel.published:
            if value.series not in defined:
                raise ValueError(f"{panel.name}: series {value.series!r} is not defined")
        for series in panel.series:
            if series.group is not None and series.group not in study.groups:
                raise ValueError(f"{panel.name}: unknown group {series.group!r}")
            for name in filter(None, (series.point, series.baseline)):
                expand(name, study.families)

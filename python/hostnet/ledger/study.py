"""Studies: published results, how they are reproduced, and the tolerances.

A study is stored in `studies/<name>/`: `study.toml` and the published values in `panels/*.csv`.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, get_args

from hostnet.files import parse_toml, read_text
from hostnet.ledger.errors import LedgerError
from hostnet.ledger.panels import (
    ALL,
    SCORED,
    Against,
    Chart,
    Exclusion,
    Group,
    Panel,
    Published,
    Relation,
    Series,
    figure_matches,
    figure_name,
)
from hostnet.ledger.points import Composition, Family, OperatingPoint, PointFamily, Selection

Engine = Literal["simulation", "memory", "noc", "chip", "cluster", "curves", "predict"]
"""Engines: servers, the memory or the network on a chip alone, chips, clusters, latency under load, or predictions."""


@dataclass(frozen=True)
class Timeline:
    """The first `us` us of the time series of a point, as shown by a figure."""

    name: str
    title: str
    point: str
    us: float


@dataclass(frozen=True)
class Study:
    """Results of a publication as data. `origin` describes how the values were extracted, if that matters.

    `calibrated` are patterns of the statements that constants were fitted to, or that the model takes as input, and
    `unpublished` of those that are judged but are no statements of the publication.
    """

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
    origin: str = ""
    timelines: tuple[Timeline, ...] = ()
    calibrated: Sequence[str] = ()
    unpublished: Sequence[str] = ()

    def panels_of(self, figures: Sequence[str]) -> tuple[Panel, ...]:
        """Returns the panels of the figures (`3`, `7b`, `fig08`); all panels if the list is empty."""
        if not figures:
            return self.panels
        wanted = [figure_name(figure) for figure in figures]
        for figure in wanted:
            if not any(figure_matches(figure, panel.figure) for panel in self.panels):
                known = ", ".join(sorted({panel.figure for panel in self.panels}))
                raise LedgerError("unknown-name", f"{self.name} has no figure {figure}; its ledger has {known}")
        return tuple(panel for panel in self.panels if any(figure_matches(figure, panel.figure) for figure in wanted))

    def exclusion(self, panel: str, series: str, x: str) -> Exclusion | None:
        """Returns the exclusion of a point, if any."""
        return next((rule for rule in self.exclusions if rule.covers(panel, series, x)), None)


def studies_root() -> Path:
    """Returns the folder of the studies: package data, and in a checkout a link to `studies/` of the repository."""
    root = Path(__file__).parents[1] / "studies"
    if not (root / "host_network" / "study.toml").is_file():
        raise LedgerError(
            "file-not-found",
            f"{root}: the published values are missing; reinstall hostnet, or in a checkout restore the link with "
            f"git checkout {root}",
        )
    return root


def study_names() -> list[str]:
    """Returns the names of the studies, sorted."""
    return sorted(path.parent.name for path in studies_root().glob("*/study.toml"))


def load_study(name: str, root: Path | None = None) -> Study:
    """Reads a study by name; raises `LedgerError` if there is none, or if its files are inconsistent."""
    folder = (root or studies_root()) / name
    file = folder / "study.toml"
    if not file.is_file():
        near = get_close_matches(name.lower(), study_names(), 1)
        hint = f'did you mean "{near[0]}"? ' if near else ""
        raise LedgerError("unknown-name", f"there is no study {name!r}; {hint}there are: {', '.join(study_names())}")
    try:
        return parse_study(parse_toml(read_text(file), file), folder)
    except (KeyError, TypeError, ValueError) as error:
        raise LedgerError("malformed-file", f"{file}: {error!r}") from error


def parse_study(data: dict[str, Any], folder: Path) -> Study:
    """Builds a study from the parsed `study.toml`."""
    families, panels = parse_points(data, folder)
    groups = {name: Group(name=name, **fields) for name, fields in data["groups"].items()}
    study = Study(
        **data["study"],
        root=folder,
        families=families,
        selections=parse_selections(data, families),
        groups=groups,
        exclusions=tuple(Exclusion(**{**rule, "x": tuple(rule.get("x", ()))}) for rule in data.get("excluded", ())),
        panels=panels,
        timelines=tuple(Timeline(**fields) for fields in data.get("timelines", ())),
    )
    check_references(study)
    return study


def parse_points(data: dict[str, Any], folder: Path) -> tuple[Mapping[str, PointFamily], tuple[Panel, ...]]:
    """Parses operating points and panels according to the engine of the study."""
    if data["study"]["engine"] == "memory":
        return parse_memory(data, folder)
    if data["study"]["engine"] == "noc":
        return parse_noc(data, folder)
    if data["study"]["engine"] in ("chip", "cluster"):
        return parse_networks(data, folder)
    if data["study"]["engine"] == "curves":
        return parse_loaded(data, folder)
    return parse_host(data, folder)


def parse_host(data: dict[str, Any], folder: Path) -> tuple[Mapping[str, PointFamily], tuple[Panel, ...]]:
    """Parses operating points and panels of a study of servers."""
    fragments = data.get("fragments", {})
    families = {name: parse_family(name, fields, fragments) for name, fields in data["points"].items()}
    timings = data.get("formula", {})
    return families, tuple(parse_panel(fields, folder, timings) for fields in data["panels"])


def parse_family(name: str, fields: dict[str, Any], fragments: Mapping[str, Any]) -> PointFamily:
    """Parses a family of streams and drives, or one that is composed of fragments of the configuration."""
    if "config" not in fields:
        return Family(name=name, **fields)
    parts = tuple(fragments[part] for part in fields["config"])
    return Composition(name, fields["title"], parts, tuple(fields.get("x", ())), fields.get("preset"))


def parse_memory(data: dict[str, Any], folder: Path) -> tuple[Mapping[str, PointFamily], tuple[Panel, ...]]:
    """Parses operating points and panels of a study of the memory alone."""
    from hostnet.ledger.peers import parse_peers

    return parse_peers(data, folder)


def parse_noc(data: dict[str, Any], folder: Path) -> tuple[Mapping[str, PointFamily], tuple[Panel, ...]]:
    """Parses operating points and panels of a study of the network on a chip alone."""
    from hostnet.ledger.noc_peers import NocFamily, read_noc
    from hostnet.ledger.peers import parse_peers

    return parse_peers(data, folder, NocFamily, read_noc)


def parse_networks(data: dict[str, Any], folder: Path) -> tuple[Mapping[str, PointFamily], tuple[Panel, ...]]:
    """Parses operating points and panels of a study of chips or clusters."""
    from hostnet.ledger.clusters import parse_clusters

    return parse_clusters(data, folder)


def parse_loaded(data: dict[str, Any], folder: Path) -> tuple[Mapping[str, PointFamily], tuple[Panel, ...]]:
    """Parses operating points and panels of a study of latency under load."""
    from hostnet.ledger.curve_study import parse_curves

    return parse_curves(data, folder)


def parse_selections(data: dict[str, Any], families: Mapping[str, PointFamily]) -> dict[str, Selection]:
    """Parses the selections, whose points are listed unless they are those of curves."""
    if data["study"]["engine"] == "curves":
        from hostnet.ledger.curve_study import select_points

        return {name: select_points(name, fields, families) for name, fields in data["selections"].items()}
    return {name: parse_selection(name, fields, families) for name, fields in data["selections"].items()}


def parse_selection(name: str, fields: dict[str, Any], families: Mapping[str, PointFamily]) -> Selection:
    """Expands the families of a selection into operating points."""
    points = [point for text in fields["points"] for point in expand(text, families)]
    return Selection(name, fields["warmup"], fields["duration"], tuple(points))


def expand(text: str, families: Mapping[str, PointFamily]) -> list[OperatingPoint]:
    """Returns operating points: `q1` stands for the whole family, `q1:3,4` for those with three and four cores."""
    family, _, wanted = text.partition(":")
    points = families[family].points()
    if not wanted:
        return list(points)
    known = {point.x: point for point in points}
    for x in wanted.split(","):
        if x not in known:
            raise ValueError(f"{family} has no operating point {x!r}")
    return [known[x] for x in wanted.split(",")]


def parse_panel(fields: dict[str, Any], folder: Path, timings: Mapping[str, float]) -> Panel:
    """Joins the definition of a panel with its published values."""
    published = read_published(folder / "panels" / f"{fields['name']}.csv")
    series = tuple(parse_series(entry, timings) for entry in fields["series"])
    return Panel(**{**fields, "series": series, "published": published, "rows_at": tuple(fields.get("rows_at", ()))})


def parse_series(entry: dict[str, Any], timings: Mapping[str, float]) -> Series:
    """Parses a curve of a panel."""
    against = Against(**entry["against"]) if "against" in entry else None
    return Series(**{**entry, "against": against}, timings=timings)


def read_published(file: Path) -> tuple[Published, ...]:
    """Reads the published values of one panel."""
    with file.open(newline="", encoding="utf-8") as lines:
        return tuple(
            Published(
                figure=row["figure"],
                series=row["series"],
                x=row["x"],
                x_label=row["x_label"],
                y=float(row["y"]) if row["y"] else None,
                y_label=row["y_label"],
                unit=row["unit"],
                other=float(row["y_to"]) if row.get("y_to") else None,
                relation=parse_relation(row.get("relation")),
            )
            for row in csv.DictReader(lines)
        )


def parse_relation(text: str | None) -> Relation | None:
    """Parses the side of a bound; None if the value is no bound."""
    if text and text not in get_args(Relation):
        raise ValueError(f"relation is {text!r}, must be one of {', '.join(get_args(Relation))}")
    return next((relation for relation in get_args(Relation) if relation == text), None)


def check_references(study: Study) -> None:
    """Checks that groups, operating points and series that the study refers to exist."""
    for group in study.groups.values():
        if group.kind not in SCORED:
            raise ValueError(f"group {group.name}: kind is {group.kind!r}, must be one of {', '.join(SCORED)}")
    for timeline in study.timelines:
        expand(timeline.point, study.families)
    for panel in study.panels:
        check_panel(study, panel)


def check_panel(study: Study, panel: Panel) -> None:
    """Checks the references of one panel."""
    if panel.chart not in get_args(Chart):
        raise ValueError(f"{panel.name}: chart is {panel.chart!r}, must be one of {', '.join(get_args(Chart))}")
    defined = {series.name: series for series in panel.series}
    for series in panel.series:
        if series.group is not None and series.group not in study.groups:
            raise ValueError(f"{panel.name}: unknown group {series.group!r}")
        against = (series.against.point, series.against.baseline) if series.against else ()
        for name in filter(None, (series.point, series.baseline, *against)):
            expand(name, study.families)
    for value in panel.published:
        if value.series not in defined:
            raise ValueError(f"{panel.name}: series {value.series!r} is not defined")
        check_kind(study, panel, value, defined[value.series].group)


def check_kind(study: Study, panel: Panel, value: Published, group: str | None) -> None:
    """Checks that bounds, and only bounds, are scored as bounds."""
    group = value.group or group
    if group is None or value.y is None or value.x == ALL:
        return
    if group not in study.groups:
        raise ValueError(f"{panel.name}: unknown group {group!r}")
    if (study.groups[group].kind == "relation") != (value.relation is not None):
        raise ValueError(f"{panel.name}, {value.series}, {value.x}: does not fit the kind of group {group!r}")

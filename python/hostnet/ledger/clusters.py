"""Studies of clusters or chips: published values, and the configurations that are run to reproduce them."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from hostnet.ledger.panels import Against, Panel, Published, Relation, Series
from hostnet.ledger.points import merge_tables

Value = int | str
"""Value that distinguishes the points of a family: a count, or a text such as a size."""


@dataclass(frozen=True)
class ClusterFamily:
    """Clusters, chips or, without hosts, servers, composed of fragments of the configuration for several `x`.

    Later fragments override earlier ones and the run of the selection. `{x}` in the name and the texts of a fragment is
    the value of x, and `{last}` one less; a text that is only `{x}` becomes the value itself. With `series`, time
    series are recorded with this step. `skip` is the reason why its points cannot be run yet, if any. `again` lists
    further ways to run each point, such as "2 threads" and "2 processes", whose results are compared.
    """

    name: str
    title: str
    parts: tuple[str, ...]
    fragments: Mapping[str, Any]
    x: tuple[Value, ...] = ()
    series: str | None = None
    skip: str | None = None
    again: tuple[str, ...] = ()

    def points(self) -> list[ClusterPoint]:
        """Returns the operating points in the order of `x`, or a single one without `x`."""
        return [ClusterPoint(self, x) for x in self.x] or [ClusterPoint(self, None)]


@dataclass(frozen=True)
class ClusterPoint:
    """One cluster or chip of a family."""

    family: ClusterFamily
    value: Value | None

    @property
    def name(self) -> str:
        """Unique name, such as `dctcp:3`."""
        return self.family.name if self.value is None else f"{self.family.name}:{self.value}"

    @property
    def x(self) -> str:
        """Value of x as text; "0" if there is none."""
        return str(self.value if self.value is not None else 0)

    def config(self, preset: str, run: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the configuration. Fragments may refer to `preset`; the key `ledger` is read only by the ledger."""
        family = self.family
        own = {"series": family.series, "skip": family.skip, "again": list(family.again)}
        config: dict[str, Any] = {"run": {"name": self.name, **run}, "ledger": own}
        values = {"preset": preset, "x": self.value, "last": self.value - 1 if isinstance(self.value, int) else None}
        for part in family.parts:
            config = merge_tables(config, fill_templates(values, family.fragments[part.replace("{x}", self.x)]))
        if "until" in config["run"]:
            # This run lasts as long as its jobs, so the times of the selection do not apply.
            config["run"] = {key: value for key, value in config["run"].items() if key not in ("warmup", "duration")}
        return config


def fill_templates(values: Mapping[str, Any], fragment: Any) -> Any:
    """Substitutes the values in the texts of a fragment."""
    if isinstance(fragment, Mapping):
        return {key: fill_templates(values, value) for key, value in fragment.items()}
    if isinstance(fragment, list):
        return [fill_templates(values, value) for value in fragment]
    if not isinstance(fragment, str):
        return fragment
    for name, value in values.items():
        if fragment == f"{{{name}}}":
            return value
        fragment = fragment.replace(f"{{{name}}}", str(value))
    return fragment


def parse_clusters(data: Mapping[str, Any], folder: Path) -> tuple[Mapping[str, ClusterFamily], tuple[Panel, ...]]:
    """Parses operating points and panels of `study.toml`, with the values of `claims.csv`."""
    fragments = data.get("fragments", {})
    families = {name: parse_family(name, fields, fragments) for name, fields in data["points"].items()}
    claims = read_claims(folder / "claims.csv")
    panels = tuple(parse_panel(fields, families, claims.pop(fields["name"], [])) for fields in data["panels"])
    if claims:
        raise ValueError(f"claims.csv: there is no panel {next(iter(claims))!r}")
    return families, panels


def parse_family(name: str, fields: Mapping[str, Any], fragments: Mapping[str, Any]) -> ClusterFamily:
    """Parses a family and checks that its fragments exist."""
    family = ClusterFamily(
        name=name,
        title=fields["title"],
        parts=tuple(fields["config"]),
        fragments=fragments,
        x=tuple(fields.get("x", ())),
        series=fields.get("series"),
        skip=fields.get("skip"),
        again=tuple(fields.get("again", ())),
    )
    for part, point in ((part, point) for part in family.parts for point in family.points()):
        if part.replace("{x}", point.x) not in fragments:
            raise ValueError(f"{point.name}: there is no fragment {part.replace('{x}', point.x)!r}")
    return family


def read_claims(file: Path) -> dict[str, list[dict[str, str]]]:
    """Reads the published values by panel."""
    claims: dict[str, list[dict[str, str]]] = {}
    with file.open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            claims.setdefault(row["panel"], []).append(row)
    return claims


def parse_panel(
    fields: Mapping[str, Any], families: Mapping[str, ClusterFamily], claims: Sequence[Mapping[str, str]]
) -> Panel:
    """Parses a panel: its published values, and all other points of its drawn series as context."""
    series = tuple(
        Series(**{**entry, "against": Against(**entry["against"]) if "against" in entry else None})
        for entry in fields["series"]
    )
    published = [published_of(fields, claim) for claim in claims]
    known = {(value.series, value.x) for value in published}
    published += [value for value in context_of(fields, series, families) if (value.series, value.x) not in known]
    return Panel(
        name=fields["name"],
        title=fields["title"],
        series=series,
        published=tuple(published),
        chart=fields.get("chart", "lines"),
        section=fields["section"],
    )


def published_of(fields: Mapping[str, Any], claim: Mapping[str, str]) -> Published:
    """Parses a line of `claims.csv`."""
    relation = claim["relation"]
    if relation and relation not in get_args(Relation):
        raise ValueError(f"relation is {relation!r}, must be one of {', '.join(get_args(Relation))}")
    return Published(
        figure=fields["name"].split("_")[0],
        series=claim["series"],
        x=claim["x"],
        x_label=fields["x_label"],
        y=float(claim["y"]),
        y_label=fields["y_label"],
        unit=claim["unit"] or fields["unit"],
        other=float(claim["y_to"]) if claim["y_to"] else None,
        relation=next((known for known in get_args(Relation) if known == relation), None),
        id=claim["id"] or None,
        group=claim["group"] or None,
        tolerance=float(claim["tolerance"]) if claim["tolerance"] else None,
    )


def context_of(
    fields: Mapping[str, Any], series: Sequence[Series], families: Mapping[str, ClusterFamily]
) -> Iterator[Published]:
    """Yields points of drawn series that have no published value."""
    for entry in series:
        family, _, wanted = (entry.point or "").partition(":")
        if not entry.drawn or family not in families:
            continue
        for point in families[family].points():
            if not wanted or point.x in wanted.split(","):
                yield Published(
                    figure=fields["name"].split("_")[0],
                    series=entry.name,
                    x=point.x,
                    x_label=fields["x_label"],
                    y=None,
                    y_label=fields["y_label"],
                    unit=fields["unit"],
                )

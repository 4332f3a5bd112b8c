"""Studies of latency under load: measured curves of servers, as a table of values by share of reads."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hostnet.ledger.panels import Panel, Published, Series
from hostnet.ledger.points import OperatingPoint, PointFamily, Selection

IDLE, MOST, LATENCY = "idle_ns", "most_gb_per_s", "latency_ns"
"""Quantities of the table."""


@dataclass(frozen=True)
class Value:
    """A measured value of a curve: a line of `curves.csv`."""

    server: str
    share: str
    """Share of reads in percent, as text."""
    quantity: str
    fraction: str
    """Fraction of the maximum bandwidth, as text: 0 without load, and 1 at the most."""
    value: float

    @property
    def family(self) -> str:
        """Name of the operating points that it belongs to: a curve, or one end of all curves of the server."""
        return f"{self.server}-{self.share if self.quantity == LATENCY else self.quantity.partition('_')[0]}"

    @property
    def x(self) -> str:
        """Place of the value in its family: the fraction of the maximum bandwidth, or the share of reads in percent."""
        return self.fraction if self.quantity == LATENCY else self.share


@dataclass(frozen=True)
class CurvePoint:
    """A point of a simulated curve that has a measured counterpart."""

    value: Value

    @property
    def name(self) -> str:
        """Unique name, such as `xeon-gold-5218-75:0.3`."""
        return f"{self.value.family}:{self.x}"

    @property
    def x(self) -> str:
        """Fraction of the maximum bandwidth, or share of reads."""
        return self.value.x

    def config(self, preset: str, run: Mapping[str, Any]) -> dict[str, Any]:
        """Returns what is traced, and the quantity that is read from it."""
        del preset
        curve = {"reads": float(self.value.share) / 100, "fraction": float(self.value.fraction)}
        return {
            "server": {"preset": self.value.server},
            "curve": {**curve, "quantity": self.value.quantity},
            "run": {"name": self.name, **run},
        }


@dataclass(frozen=True)
class CurveFamily:
    """The points of a curve, or one end of all curves of a server."""

    name: str
    title: str
    members: tuple[CurvePoint, ...]

    def points(self) -> Sequence[CurvePoint]:
        """Returns the operating points, in the order of the table."""
        return self.members


def read_values(file: Path) -> tuple[Value, ...]:
    """Reads the table of measured values."""
    with file.open(newline="", encoding="utf-8") as lines:
        return tuple(
            Value(
                row["server"],
                f"{float(row['read_share_percent']):g}",
                row["quantity"],
                row["fraction_of_most"],
                float(row["value"]),
            )
            for row in csv.DictReader(lines)
        )


def parse_curves(data: Mapping[str, Any], folder: Path) -> tuple[Mapping[str, CurveFamily], tuple[Panel, ...]]:
    """Parses operating points and panels of `study.toml`, with the values of `curves.csv`."""
    titles = {name: fields["title"] for name, fields in data["points"].items()}
    values = read_values(folder / "curves.csv")
    unknown = {value.server for value in values} - titles.keys()
    if unknown:
        raise ValueError(f"curves.csv: there is no machine {min(unknown)!r}")
    grouped: dict[str, list[CurvePoint]] = {}
    for value in values:
        grouped.setdefault(value.family, []).append(CurvePoint(value))
    families = {
        name: CurveFamily(name, titles[points[0].value.server], tuple(points)) for name, points in grouped.items()
    }
    return families, tuple(panel for fields in data["panels"] for panel in panels_of(fields, values, titles))


def panels_of(fields: Mapping[str, Any], values: Sequence[Value], titles: Mapping[str, str]) -> Iterator[Panel]:
    """Yields the panels of a quantity: one for each server with latencies, one for all with one end of the curves."""
    own = [value for value in values if value.quantity == fields["quantity"]]
    if fields["quantity"] != LATENCY:
        yield panel_of(fields, fields["name"], fields["title"], own)
        return
    for server, title in titles.items():
        name = f"{fields['name']}_{server}"
        yield panel_of(fields, name, title, [value for value in own if value.server == server])


def panel_of(fields: Mapping[str, Any], name: str, title: str, values: Sequence[Value]) -> Panel:
    """Returns the panel of some values of a quantity, with a series for each family of operating points."""
    is_latency = fields["quantity"] == LATENCY
    series = {
        value.family: Series(
            f"{value.share} % reads" if is_latency else value.server, None, "curve_value", point=value.family
        )
        for value in values
    }
    published = tuple(
        Published(
            figure=fields["name"],
            series=series[value.family].name,
            x=value.x,
            x_label="fraction of the maximum bandwidth" if is_latency else "reads, % of the traffic",
            y=value.value,
            y_label=fields["title"],
            unit=fields["unit"],
            group=fields["group"] if float(value.fraction) < fields.get("below", 2.0) else None,
        )
        for value in values
    )
    return Panel(name, title, tuple(series.values()), published, section=fields.get("section", fields["title"]))


def select_points(name: str, fields: Mapping[str, Any], families: Mapping[str, PointFamily]) -> Selection:
    """Returns the points of a selection: those at its shares of reads and fractions, all without such a list."""
    points = [point for family in families.values() for point in family.points() if is_chosen(point, fields)]
    return Selection(name, fields["warmup"], fields["duration"], tuple(points))


def is_chosen(point: OperatingPoint, fields: Mapping[str, Any]) -> bool:
    """Returns True if a point is at a share of reads and, if it is a latency, at a fraction of the selection."""
    assert isinstance(point, CurvePoint)
    value, fractions = point.value, fields.get("fractions")
    if float(value.share) not in fields.get("shares", (float(value.share),)):
        return False
    return value.quantity != LATENCY or fractions is None or float(value.fraction) in fractions

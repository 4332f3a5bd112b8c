"""Studies of the memory alone: results of other simulators for the same traffic."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hostnet.ledger.panels import Panel, Published, Series
from hostnet.ledger.points import PointFamily

KNEE = 0.985
"""If the achieved bandwidth is a smaller share of the offered one, latency only reflects the length of queues."""

LOADS = {"p30": 0.3, "p60": 0.6, "p80": 0.8}
"""Offered load of open arrivals as a share of the peak; all others are back to back."""

Result = Mapping[str, str]
"""A simulated point of another simulator, as in its file."""


@dataclass(frozen=True)
class TrafficPoint:
    """A simulated point: a controller with one traffic. With `whole`, there is no warm-up and all commands count."""

    family: str
    controller: Mapping[str, Any]
    whole: bool
    result: Result

    @property
    def name(self) -> str:
        """Unique name, such as `rowhit_q32:seq-A-100-sat`."""
        return f"{self.family}:{self.x}"

    @property
    def x(self) -> str:
        """Pattern, address map, percentage of reads and arrivals."""
        return self.result["name"]

    def config(self, preset: str, run: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the configuration of the memory; `preset` is the device."""
        result = self.result
        load = {"load": LOADS[result["arrival"]]} if result["arrival"] in LOADS else {}
        return {
            "memory": {"device": preset, "map": result["map"], **self.controller},
            "traffic": {
                "pattern": result["pattern"],
                "reads": int(result["read_pct"]) / 100,
                "requests": int(result["requests"]),
                "seed": run["seed"],
                **load,
            },
            "run": {"outstanding": int(result["closed_reads"]), "warmup": 0.0 if self.whole else run["warmup"]},
        }


@dataclass(frozen=True)
class TrafficFamily:
    """A controller with all traffic for which the file of another simulator has results of `variant`."""

    name: str
    title: str
    file: Path
    variant: str
    controller: Mapping[str, Any]
    whole: bool = False

    def points(self) -> list[TrafficPoint]:
        """Returns the operating points in the order of the file."""
        results = read_results(self.file)
        return [
            TrafficPoint(self.name, self.controller, self.whole, result)
            for result in results
            if result["variant"] == self.variant
        ]


@cache
def read_results(file: Path) -> tuple[Result, ...]:
    """Reads the simulated points of a file."""
    with file.open(newline="", encoding="utf-8") as lines:
        return tuple({**row, "name": traffic_name(row), "knee": knee(row)} for row in csv.DictReader(lines))


def knee(result: Result) -> str:
    """Returns whether the latency of a point can be compared: `below` the knee, or `beyond` it."""
    if result["closed_reads"] != "0":
        return "below"
    offered = float(result["offered_GBps"] or "inf")
    return "below" if float(result["achieved_GBps"]) >= KNEE * offered else "beyond"


def traffic_name(result: Result) -> str:
    """Returns the name of the traffic of a point, such as `rand-B-50-p60`."""
    return "-".join(result[column] for column in ("pattern", "map", "read_pct", "arrival"))


def parse_peers(
    data: dict[str, Any],
    folder: Path,
    family: Callable[..., PointFamily] = TrafficFamily,
    read: Callable[[Path], tuple[Result, ...]] = read_results,
) -> tuple[Mapping[str, PointFamily], tuple[Panel, ...]]:
    """Parses operating points and panels of `study.toml`: families of this kind, of files that `read` reads."""
    families = {
        name: family(name=name, **{**fields, "file": folder / fields["file"]})
        for name, fields in data["points"].items()
    }
    panels = [panel for fields in data["panels"] for panel in panels_of(fields, folder, read)]
    return families, tuple(panels)


def panels_of(
    fields: dict[str, Any], folder: Path, read: Callable[[Path], tuple[Result, ...]] = read_results
) -> Iterator[Panel]:
    """Yields a panel for every variant of the other simulator that has such results."""
    results = read(folder / fields["file"])
    for variant in dict.fromkeys(result["variant"] for result in results):
        if variant in fields.get("variants", (variant,)):
            own = [result for result in results if result["variant"] == variant]
            panel = panel_of(fields, variant, own, read_twins(fields, folder))
            if panel.published:
                yield panel


def read_twins(fields: dict[str, Any], folder: Path) -> dict[str, Result]:
    """Returns the results of a second simulator by traffic, which form ranges with those of the first."""
    if "twin" not in fields:
        return {}
    results = read_results(folder / fields["twin"]["file"])
    return {result["name"]: result for result in results if result["variant"] == fields["twin"]["variant"]}


def panel_of(fields: dict[str, Any], variant: str, results: list[Result], twins: Mapping[str, Result]) -> Panel:
    """Returns the panel of one quantity and variant. A value belongs to the first series whose conditions it meets."""
    point = fields["point"].format(variant=variant)
    used: dict[str, Series] = {}
    published = []
    for result in results:
        twin = twins.get(result["name"])
        entry = next((entry for entry in fields["series"] if satisfies(entry.get("where", {}), result, twin)), None)
        value = value_of(fields, result)
        if entry is None or value is None:
            continue
        series = Series(
            entry["name"],
            entry.get("group"),
            fields["quantity"],
            point,
            drawn=fields["drawn"] and entry.get("drawn", True),
        )
        used[series.name] = series
        published.append(
            Published(
                figure=fields["name"].split("_")[0],
                series=series.name,
                x=result["name"],
                x_label=f"{fields['simulator']}, {fields['unit']}",
                y=value,
                y_label="hostnet",
                unit=fields["unit"],
                other=None if twin is None else value_of(fields, twin),
            )
        )
    name, title = f"{fields['name']}_{variant}", f"{fields['title']}: {variant}"
    return Panel(name, title, tuple(used.values()), tuple(published))


def satisfies(conditions: Mapping[str, Any], result: Result, twin: Result | None) -> bool:
    """Returns True if a point, and its twin if any, has one of the allowed texts in each column of the conditions."""
    return all(
        candidate[column] in allowed
        for candidate in (result, twin)
        if candidate is not None
        for column, allowed in conditions.items()
    )


def value_of(fields: Mapping[str, Any], result: Result) -> float | None:
    """Returns the value of a panel at a point: a column, or that of a closed form; None if there is none."""
    if "closed_form" in fields:
        return float(fields["closed_form"])
    text = result[fields["column"]]
    return float(text) if text else None

"""Effects of the mesh of a die: distances of lines, waiting times, and alternative placements."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet._core import ConfigError
from hostnet.explanation.placements import Config
from hostnet.units import format_percent, share_text

if TYPE_CHECKING:
    from hostnet.explanation.steps import Progress

OF_DEVICES = ("IIO to CHA", "CHA to IIO")
"""Legs of the routes of device traffic."""

CLUSTERS = (1, 2, 4)
"""Numbers of sub-NUMA clusters that a die may have."""

NAMED_MAX = 3
"""Maximum number of workloads in a line of the page."""


@dataclass(frozen=True)
class MeshLegs:
    """Legs of a workload between its devices or cores and the slices: mean time, mean over the die and waits, in ns.

    `link` is the port with the longest waits, and `busy_share` its busy share, 0 to 1.
    """

    workload: str
    of_devices: bool
    way_ns: float
    mean_way_ns: float
    waited_ns: float
    link: str | None
    busy_share: float


@dataclass(frozen=True)
class DieChange:
    """A change of the die: throughput in GB/s, latency in ns and gain of throughput, by workload."""

    what: str
    gb_per_s: dict[str, float]
    latency_ns: dict[str, float | None]
    gain: dict[str, float]


@dataclass(frozen=True)
class MeshEffects:
    """Effects of the mesh on the workloads of a server; `host` is its name on a network.

    The first of `places` is the current die; others are present once simulated.
    """

    host: str | None
    stops: int
    workloads: tuple[MeshLegs, ...]
    places: tuple[DieChange, ...]

    def as_dict(self) -> dict[str, Any]:
        """Returns the result, ready for JSON."""
        return asdict(self)

    def simulate_alternatives(self, config: Config, base_dir: str, progress: Progress | None) -> MeshEffects:
        """Simulates devices at other stops, other clusters and wider links, each as long as the run.

        Raises:
            SimulationError: One of the runs failed.
            KeyboardInterrupt: The progress callback stopped them.
        """
        allowed = [(what, plan) for what, other in self._others(config) if (plan := _plan(other, base_dir))]
        results = _core.run_many([plan for _, plan in allowed], progress=progress)
        if not all(result.complete for result in results):
            raise KeyboardInterrupt
        now = self.places[0]
        found = []
        for (what, _), result in zip(allowed, results, strict=True):
            there = _measured(what, _of_server(json.loads(result.summary_json), self.host))
            gain = {name: there.gb_per_s[name] / rate - 1 for name, rate in now.gb_per_s.items() if rate}
            found.append(replace(there, gain=gain))
        return replace(self, places=(now, *found))

    def _others(self, config: Config) -> Iterator[tuple[str, Config]]:
        """Yields every change to try."""
        entry = _entry(config, self.host)
        drives = any(workload["kind"] == "fio" for workload in entry["workload"].values())
        devices = [("nic", "the NIC")] if self.host is not None else []
        devices += [("drives", "all drives")] if drives else []
        first = {"nic": "iio0"}
        for key, what in devices:
            for stop in (f"iio{number}" for number in range(self.stops)):
                if entry["noc"].get(key, first.get(key)) != stop:
                    yield f"{what} at {stop}", self._with(config, key, stop)
        for clusters in CLUSTERS:
            if clusters != entry["noc"]["clusters"]:
                what = f"{clusters} sub-NUMA clusters" if clusters > 1 else "no sub-NUMA clusters"
                yield what, self._with(config, "clusters", clusters)
        number, _, unit = str(entry["noc"]["link"]).partition(" ")
        yield "links twice as wide", self._with(config, "link", f"{2 * float(number):g} {unit}")

    def _with(self, config: Config, key: str, value: object) -> Config:
        """Returns the configuration with another value of a key of the mesh."""
        changed = deepcopy(dict(config))
        _entry(changed, self.host)["noc"][key] = value
        return changed

    def lines(self) -> list[str]:
        """Returns the paragraph of a page, whose first line is to be wrapped."""
        lines = ["Mesh: " + " ".join(_sentence(travelled) for travelled in self.workloads)]
        if len(self.places) > 1:
            lines += self._table()
        return lines

    def _table(self) -> list[str]:
        """Returns a table of throughput, change and latency of each workload at other places."""
        names = [travelled.workload for travelled in self.workloads][:NAMED_MAX]
        width = max(len(place.what) for place in self.places)
        heads = "".join(f"  {name[:24]:>24}" for name in names)
        rows = []
        for place in self.places:
            cells = "".join(f"  {_cell(place, name):>24}" for name in names)
            rows.append(f"  {place.what:{width}}{cells}")
        return [f"  {'':{width}}{heads}", *rows]


def mesh_effects(summary: Mapping[str, Any], host: str | None) -> MeshEffects | None:
    """Returns the effects of the mesh of a server, or None without a die."""
    server = _of_server(summary, host)
    if "dies" not in server:
        return None
    parts = [part for stop in server["dies"][0]["stops"] for part in stop["parts"]]
    stops = sum(part.startswith("iio") for part in parts)
    found = (_mesh_legs(server, row["workload"]) for row in server["workloads"])
    workloads = sorted((one for one in found if one), key=lambda one: not one.of_devices)
    return MeshEffects(host, stops, tuple(workloads), (_measured("as it is", server),))


def _mesh_legs(server: Mapping[str, Any], workload: str) -> MeshLegs | None:
    """Returns the legs of a workload to and from slices: those of its devices, if any, or else of its cores."""
    own = [row for row in server["mesh_ways"] if row["workload"] == workload and "MC" not in row["leg"]]
    devices = [row for row in own if row["leg"] in OF_DEVICES]
    legs = devices or own
    if not legs:
        return None
    messages = sum(row["messages"] for row in legs)

    def mean(key: str) -> float:
        return float(sum(row[key] * row["messages"] for row in legs) / messages)

    lost = [worst for die in server["dies"] for worst in die["most_waited"] if worst["workload"] == workload]
    worst = max(lost, key=lambda worst: worst["busy_share"], default=None)
    link = worst and f"{worst['ring']}, column {worst['column']} row {worst['row']} {worst['side']}"
    busy = worst["busy_share"] if worst else 0.0
    return MeshLegs(workload, bool(devices), mean("way_ns"), mean("mean_way_ns"), mean("waited_ns"), link, busy)


def _sentence(one: MeshLegs) -> str:
    """Describes the legs of a workload."""
    whose = "the stop of its devices" if one.of_devices else "its cores"
    text = (
        f"{one.workload}: from {whose} to a slice {one.way_ns:.1f} ns (mean of the die {one.mean_way_ns:.1f}), of "
        f"which each message loses {one.waited_ns:.2f} ns more to others"
    )
    return text + (f", most at {one.link}, {share_text(one.busy_share)} busy." if one.link else ".")


def _cell(change: DieChange, name: str) -> str:
    """Formats throughput, change and latency of a workload."""
    rate, latency = change.gb_per_s.get(name, 0.0), change.latency_ns.get(name)
    change_text = f" {format_percent(change.gain[name], 1, '+')}" if name in change.gain else ""
    return f"{rate:.2f} GB/s{change_text}" + ("" if latency is None else f" {latency:.0f} ns")


def _measured(what: str, server: Mapping[str, Any]) -> DieChange:
    """Returns the measured values of a change."""
    rows = {row["workload"]: row for row in server["workloads"]}
    rates = {name: float(row["throughput_gb_per_s"] or 0.0) for name, row in rows.items()}
    return DieChange(what, rates, {name: row["latency_mean_ns"] for name, row in rows.items()}, {})


def _of_server(summary: Mapping[str, Any], host: str | None) -> Mapping[str, Any]:
    """Returns the summary of a server."""
    of_host: Mapping[str, Any] = summary if host is None else summary["servers"][host]
    return of_host


def _entry(config: Any, host: str | None) -> dict[str, Any]:
    """Returns the table of a server. A table of several equal hosts names each by its own name and a number."""
    hosts: Mapping[str, Any] = config["host"] if host is not None else {}
    entry: dict[str, Any] = hosts.get(host) or hosts[host.rpartition("-")[0]] if host is not None else config
    return entry


def _plan(config: Config, base_dir: str) -> _core.Plan | None:
    """Resolves a change; None if it is invalid."""
    try:
        return _core.resolve(json.dumps(config), format="json", file="<place>", base_dir=base_dir)
    except ConfigError:
        return None

"""The mesh of a die: how far lines go, what they lose on the way, and what other places would give."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet._core import ConfigError
from hostnet.explain.placements import Config
from hostnet.units import format_percent, share_in_words

if TYPE_CHECKING:
    from hostnet.explain.steps import Progress

OF_DEVICES = ("IIO to CHA", "CHA to IIO")
"""Legs of the ways of lines of devices."""

CLUSTERS = (1, 2, 4)
"""Sub-NUMA clusters that a die may have."""

NAMED_MAX = 3
"""Workloads that a line of the page has room for."""


@dataclass(frozen=True)
class Travelled:
    """The legs between devices or cores and slices of a workload: mean way, that of the die, what is lost, in ns.

    `link` is the port where most is lost, in words, and `busy_share` the share of time that it is busy.
    """

    workload: str
    of_devices: bool
    way_ns: float
    mean_way_ns: float
    waited_ns: float
    link: str | None
    busy_share: float


@dataclass(frozen=True)
class OtherPlace:
    """A change of the die, and what it gives: GB/s and latency in ns of every workload, and gains of throughput."""

    what: str
    gb_per_s: dict[str, float]
    latency_ns: dict[str, float | None]
    gain: dict[str, float]


@dataclass(frozen=True)
class OnMesh:
    """What the mesh does to the workloads of a server; `host` is its name on a network.

    The first of `places` is as it is; others are there when they were simulated.
    """

    host: str | None
    stops: int
    workloads: tuple[Travelled, ...]
    places: tuple[OtherPlace, ...]

    def as_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    def tried(self, config: Config, base_dir: str, progress: Progress | None) -> OnMesh:
        """With devices at other stops, other clusters and wider links, each simulated as long as the run.

        Raises:
            SimulationError: One of the runs could not go on.
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
        """Every change that may be tried."""
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
        changed = deepcopy(dict(config))
        _entry(changed, self.host)["noc"][key] = value
        return changed

    def lines(self) -> list[str]:
        """The paragraph of a page, the first lines to be wrapped."""
        lines = ["Mesh: " + " ".join(_sentence(travelled) for travelled in self.workloads)]
        if len(self.places) > 1:
            lines += self._table()
        return lines

    def _table(self) -> list[str]:
        """What other places give: throughput, change and latency of each workload."""
        names = [travelled.workload for travelled in self.workloads][:NAMED_MAX]
        width = max(len(place.what) for place in self.places)
        heads = "".join(f"  {name[:24]:>24}" for name in names)
        rows = []
        for place in self.places:
            cells = "".join(f"  {_cell(place, name):>24}" for name in names)
            rows.append(f"  {place.what:{width}}{cells}")
        return [f"  {'':{width}}{heads}", *rows]


def on_mesh(summary: Mapping[str, Any], host: str | None) -> OnMesh | None:
    """What the mesh of a server did, or nothing where its parts lie on none."""
    server = _of_server(summary, host)
    if "dies" not in server:
        return None
    parts = [part for stop in server["dies"][0]["stops"] for part in stop["parts"]]
    stops = sum(part.startswith("iio") for part in parts)
    found = (_travelled(server, row["workload"]) for row in server["workloads"])
    workloads = sorted((one for one in found if one), key=lambda one: not one.of_devices)
    return OnMesh(host, stops, tuple(workloads), (_measured("as it is", server),))


def _travelled(server: Mapping[str, Any], workload: str) -> Travelled | None:
    """The legs to and from slices of a workload: those of its devices, if it has any, or those of its cores."""
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
    return Travelled(workload, bool(devices), mean("way_ns"), mean("mean_way_ns"), mean("waited_ns"), link, busy)


def _sentence(one: Travelled) -> str:
    whose = "the stop of its devices" if one.of_devices else "its cores"
    text = (
        f"{one.workload}: from {whose} to a slice {one.way_ns:.1f} ns (mean of the die {one.mean_way_ns:.1f}), of "
        f"which each message loses {one.waited_ns:.2f} ns more to others"
    )
    return text + (f", most at {one.link}, {share_in_words(one.busy_share)} busy." if one.link else ".")


def _cell(place: OtherPlace, name: str) -> str:
    rate, latency = place.gb_per_s.get(name, 0.0), place.latency_ns.get(name)
    change = f" {format_percent(place.gain[name], 1, '+')}" if name in place.gain else ""
    return f"{rate:.2f} GB/s{change}" + ("" if latency is None else f" {latency:.0f} ns")


def _measured(what: str, server: Mapping[str, Any]) -> OtherPlace:
    rows = {row["workload"]: row for row in server["workloads"]}
    rates = {name: float(row["throughput_gb_per_s"] or 0.0) for name, row in rows.items()}
    return OtherPlace(what, rates, {name: row["latency_mean_ns"] for name, row in rows.items()}, {})


def _of_server(summary: Mapping[str, Any], host: str | None) -> Mapping[str, Any]:
    """What a summary says of a server."""
    of_host: Mapping[str, Any] = summary if host is None else summary["servers"][host]
    return of_host


def _entry(config: Any, host: str | None) -> dict[str, Any]:
    """The table of a server; of many equal hosts each has a number behind the name of their table."""
    hosts: Mapping[str, Any] = config["host"] if host is not None else {}
    entry: dict[str, Any] = hosts.get(host) or hosts[host.rpartition("-")[0]] if host is not None else config
    return entry


def _plan(config: Config, base_dir: str) -> _core.Plan | None:
    """The plan of a change, if it is allowed."""
    try:
        return _core.resolve(json.dumps(config), format="json", file="<place>", base_dir=base_dir)
    except ConfigError:
        return None

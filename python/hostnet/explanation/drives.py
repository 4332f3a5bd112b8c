"""Nonuniform DMA of storage: jobs whose memory is on another socket than their drive, and alternative placements."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.explanation.placements import CROSSING, Config, cores_of_socket, parse_cores, socket_of
from hostnet.sockets import server_sockets
from hostnet.units import GB_PER_S, format_percent, format_rate

if TYPE_CHECKING:
    from hostnet.explanation.steps import Progress


@dataclass(frozen=True)
class DrivePlacement:
    """A placement of jobs and drives: throughput of the workloads and traffic between sockets, in GB/s."""

    what: str
    app_gb_per_s: float
    crossing_gb_per_s: float
    gain: float = 0.0


@dataclass(frozen=True)
class DistantDrives:
    """Storage whose data cross sockets.

    `workloads` are their names, `drives` the drives that are accessed across sockets, `device` the sockets of the
    drives, and `sockets` those of the memory. The first of `placements` is the current one; others are present once
    simulated.
    """

    workloads: tuple[str, ...]
    drives: tuple[int, ...]
    sockets: tuple[int, ...]
    device: tuple[int, ...]
    placements: tuple[DrivePlacement, ...]
    tried_all: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Returns the result, ready for JSON."""
        return asdict(self)

    def simulate_alternatives(self, config: Config, base_dir: str, progress: Progress | None) -> DistantDrives:
        """Simulates alternative placements, each as long as the run.

        Raises:
            SimulationError: One of the runs failed.
            KeyboardInterrupt: The progress callback stopped them.
        """
        others = [*self._moved(config), *self._drives_moved(config), *_with_paths(config)]
        plans = [_core.resolve(json.dumps(other), format="json", base_dir=base_dir) for _, other in others]
        results = _core.run_many(plans, progress=progress)
        if not all(result.complete for result in results):
            raise KeyboardInterrupt
        found, now = [], self.placements[0]
        for (what, _), result in zip(others, results, strict=True):
            there = _measured(what, json.loads(result.summary_json), self.workloads)
            gain = there.app_gb_per_s / now.app_gb_per_s - 1 if now.app_gb_per_s else 0.0
            found.append(replace(there, gain=gain))
        ordered = sorted(found, key=lambda placement: -placement.gain)
        return replace(self, placements=(now, *ordered), tried_all=True)

    def _moved(self, config: Config) -> list[tuple[str, Config]]:
        """Moves the jobs and their memory to free cores on the sockets of their drives, if there are enough."""
        moved = deepcopy(dict(config))
        free = _FreeCores(config)
        for name in self.workloads:
            workload = moved["workload"][name]
            if workload.get("memory") == "interleave" or None in _cores(workload):
                return []
            jobs = [{**job, "core": core} for job, core in zip(workload["jobs"], _cores(workload), strict=True)]
            for job in jobs:
                core = free.instead_of(job["core"], _socket_of_drive(config, job["ssd"]))
                if core is None:
                    return []
                job["core"] = core
            moved["workload"][name] = {
                **{key: value for key, value in workload.items() if key not in ("cores", "memory")},
                "jobs": jobs,
            }
        sockets = " and ".join(map(str, self.device))
        return [(f"the jobs and their memory on socket {sockets}", moved)]

    def _drives_moved(self, config: Config) -> list[tuple[str, Config]]:
        """Moves all drives to the socket of the memory, if all storage shares it and drives can move."""
        fio = [name for name, workload in config["workload"].items() if workload["kind"] == "fio"]
        if config["ssd"].get("sockets") is None or len(self.sockets) > 1 or set(fio) != set(self.workloads):
            return []
        socket = self.sockets[0]
        changed = {**config, "ssd": {**config["ssd"], "sockets": socket}}
        own = {name: {**tables, "ssd": {**tables["ssd"], "sockets": socket}} for name, tables in _tables(config)}
        return [(f"the drives on socket {socket}", {**changed, "socket": own} if own else changed)]

    def lines(self) -> list[str]:
        """Returns the paragraph of a page."""
        drives, device, sockets = (", ".join(map(str, own)) for own in (self.drives, self.device, self.sockets))
        crossing = format_rate(self.placements[0].crossing_gb_per_s, GB_PER_S)
        lines = [
            f"Nonuniform DMA: data of {', '.join(self.workloads)} between drive{'s'[: len(self.drives) > 1]} {drives} "
            f"on socket {device} and memory of socket {sockets}. {crossing} of lines cross between "
            "sockets."
        ]
        if len(self.placements) > 1:
            width = max(len(placement.what) for placement in self.placements)
            lines += [
                f"  {placement.what:{width}}  {format_rate(placement.app_gb_per_s, GB_PER_S):>9}  "
                f"{format_percent(placement.gain, sign='+'):>6}  "
                f"{format_rate(placement.crossing_gb_per_s, GB_PER_S):>9} cross"
                for placement in self.placements
            ]
        return lines


class _FreeCores:
    """Assigns idle cores by socket."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.taken = {core for workload in config["workload"].values() for core in _used_cores(workload)}
        self.place: dict[tuple[int, int], int] = {}

    def instead_of(self, core: int, socket: int) -> int | None:
        """Returns a core of the socket for a job: its own core if it is there, or a replacement."""
        if socket_of(self.config, core) == socket:
            return core
        if (core, socket) not in self.place:
            first, count = cores_of_socket(self.config, socket)
            free = next((other for other in range(first, first + count) if other not in self.taken), None)
            if free is None:
                return None
            self.taken.add(free)
            self.place[core, socket] = free
        return self.place[core, socket]


def find_distant_drives(config: Config, summary: Mapping[str, Any]) -> DistantDrives | None:
    """Returns the storage of a server whose data cross sockets, or None."""
    if config["server"].get("sockets", 1) < 2 or config["ssd"].get("mode") == "octo":
        return None
    away: dict[str, list[tuple[int, tuple[int, ...]]]] = {}
    for name, workload in config["workload"].items():
        if workload["kind"] != "fio":
            continue
        for job, core in zip(workload["jobs"], _cores(workload), strict=True):
            memory = _memory(config, workload, core)
            if memory and set(memory) != {_socket_of_drive(config, job["ssd"])}:
                away.setdefault(name, []).append((job["ssd"], memory))
    if not away:
        return None
    jobs = [job for own in away.values() for job in own]
    drives = tuple(sorted({drive for drive, _ in jobs}))
    sockets = tuple(sorted({socket for _, memory in jobs for socket in memory}))
    device = tuple(sorted({_socket_of_drive(config, drive) for drive in drives}))
    return DistantDrives(tuple(away), drives, sockets, device, (_measured("as it is", summary, tuple(away)),))


def _memory(config: Config, workload: Mapping[str, Any], core: int | None) -> tuple[int, ...]:
    """Returns the sockets of the memory of a job; empty if unknown."""
    place = str(workload.get("memory") or "local")
    if place == "interleave":
        return tuple(range(config["server"]["sockets"]))
    if place.startswith("node:"):
        return (int(place.removeprefix("node:")),)
    return () if core is None else (socket_of(config, core),)


def _cores(workload: Mapping[str, Any]) -> list[int | None]:
    """Returns the core of each job; None for a job that was assigned a free core."""
    own = parse_cores(str(workload.get("cores") or ""))
    return [job.get("core", own[at % len(own)] if own else None) for at, job in enumerate(workload["jobs"])]


def _used_cores(workload: Mapping[str, Any]) -> list[int]:
    """Returns the cores that a workload uses."""
    named = [parse_cores(str(workload.get(key) or "")) for key in ("cores", "clients")]
    return [
        *(core for cores in named for core in cores),
        *(job["core"] for job in workload.get("jobs", ()) if "core" in job),
    ]


def _socket_of_drive(config: Config, drive: int) -> int:
    """Returns the socket of a drive."""
    return next(place.number for place in server_sockets(dict(config)) if drive in place.parts["ssd"])


def _tables(config: Config) -> list[tuple[str, dict[str, Any]]]:
    """Returns the tables of sockets."""
    return list((config.get("socket") or {}).items())


def _with_paths(config: Config) -> list[tuple[str, Config]]:
    """Gives each drive a path to every socket."""
    own = {name: {**tables, "ssd": {**tables["ssd"], "mode": "octo"}} for name, tables in _tables(config)}
    changed = {**config, "ssd": {**config["ssd"], "mode": "octo"}}
    return [
        ('a path of each drive to every socket (ssd.mode = "octo")', {**changed, "socket": own} if own else changed)
    ]


def _measured(what: str, summary: Mapping[str, Any], workloads: tuple[str, ...]) -> DrivePlacement:
    """Returns the measured values of a placement."""
    moved = sum(float(row["app_gb_per_s"]) for row in summary["workloads"] if row["workload"] in workloads)
    rows = (row for row in summary["domains"] if row["domain"] == CROSSING and row["part"] == row["workload"] == "all")
    return DrivePlacement(what, moved, sum(float(row["throughput_gb_per_s"]) for row in rows))

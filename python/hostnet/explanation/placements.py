"""Nonuniform DMA: flows whose cores are on another socket than the NIC, and alternative placements."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.units import GB_PER_S, format_percent, format_rate

if TYPE_CHECKING:
    from hostnet.explanation.steps import Progress

Config = Mapping[str, Any]

DDIO_LOST = (
    " What the NIC writes goes to memory and is read from it again: DDIO does not reach the caches of another socket."
)
"""Cost of crossing sockets with DDIO."""

CROSSING = "CHA->UPI"
"""Domain of lines that one socket requests from another."""

SIDES = (("from", "from_cores"), ("to", "to_cores"))
"""Ends of a flow, and the keys of their cores."""


@dataclass(frozen=True)
class Placement:
    """A placement of flows and NIC functions: goodput of the flows in Gbps, and traffic between sockets in GB/s."""

    what: str
    goodput_gbps: float
    crossing_gb_per_s: float
    gain: float = 0.0


@dataclass(frozen=True)
class NonuniformDma:
    """Flows whose cores reach their function of the NIC across sockets.

    `flows` are their names, `cores` and `sockets` where they run, and `device` is the socket of the first function. The
    first of `placements` is the current one; others are present once simulated. `ddio_lost` is True if received data
    would enter the LLC through DDIO without crossing; `tried_all` is True once alternative placements have been tried.
    """

    host: str
    flows: tuple[str, ...]
    cores: tuple[int, ...]
    sockets: tuple[int, ...]
    device: int
    placements: tuple[Placement, ...]
    ddio_lost: bool = False
    tried_all: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Returns the result, ready for JSON."""
        return asdict(self)

    def simulate_alternatives(self, config: Config, base_dir: str, progress: Progress | None) -> NonuniformDma:
        """Simulates alternative placements, each as long as the run.

        Raises:
            SimulationError: One of the runs failed.
            KeyboardInterrupt: The progress callback stopped them.
        """
        others = [*self._moved(config), *self._with_functions(config)]
        plans = [_core.resolve(json.dumps(other), format="json", base_dir=base_dir) for _, other in others]
        results = _core.run_many(plans, progress=progress)
        if not all(result.complete for result in results):
            raise KeyboardInterrupt
        found = []
        now = self.placements[0]
        for (what, _), result in zip(others, results, strict=True):
            there = _measured(what, json.loads(result.summary_json), self.host, _classes(config, self.flows))
            found.append(replace(there, gain=there.goodput_gbps / now.goodput_gbps - 1 if now.goodput_gbps else 0.0))
        ordered = sorted(found, key=lambda placement: -placement.gain)
        return replace(self, placements=(now, *ordered), tried_all=True)

    def _moved(self, config: Config) -> list[tuple[str, Config]]:
        """Moves the flows to free cores on the socket of the device, if there are enough."""
        entry = _entry(config, self.host)
        first, count = cores_of_socket(entry, self.device)
        taken = {core for name in config["flow"] for core in _cores(config, name, self.host)}
        workloads = entry["workload"].values()
        if any("cores" not in workload or {"clients", "jobs", "job"} & set(workload) for workload in workloads):
            # The cores of such workloads are not stated in the configuration, so no core is known to be free.
            return []
        taken |= {core for workload in workloads for core in parse_cores(str(workload["cores"]))}
        taken |= set(parse_cores(str(entry["stack"].get("cores") or "")))
        free = [core for core in range(first, first + count) if core not in taken]
        if len(free) < len(self.cores):
            return []
        place = dict(zip(self.cores, free, strict=False))
        moved = deepcopy(dict(config))
        for name in self.flows:
            for side, key in SIDES:
                if _is_at(config["flow"][name][side], self.host, config) and config["flow"][name].get(key):
                    moved["flow"][name].pop("move", None)
                    cores = [place.get(core, core) for core in _cores(config, name, self.host)]
                    moved["flow"][name][key] = ",".join(map(str, cores))
        named = ", ".join(str(place[core]) for core in self.cores)
        return [(f"core{'s' if len(self.cores) > 1 else ''} {named} on socket {self.device}", moved)]

    def _with_functions(self, config: Config) -> list[tuple[str, Config]]:
        """Gives the NIC a function on each socket of the cores, or makes each socket use its own one."""
        changed = deepcopy(dict(config))
        nic = _entry(changed, self.host)["nic"]
        there = [function["socket"] for function in nic.get("functions") or [{"socket": self.device}]]
        every = [*there, *(socket for socket in self.sockets if socket not in there)]
        if len(every) > int(nic["pcie"]["lanes"]):
            return []
        nic["mode"] = "octo"
        if any("serves" in function for function in nic.get("functions") or ()):
            nic["functions"] = [{**function, "serves": function["socket"]} for function in nic["functions"]]
            return [("each function for the cores of its socket", changed)]
        if every == there:
            return [('nic.mode = "octo"', changed)]
        # The functions share the lanes of the card, because more lanes would make it another card.
        nic["functions"] = [{"socket": socket} for socket in every]
        sockets = " and ".join(str(socket) for socket in self.sockets)
        return [(f"a function of the card on socket {sockets} too, lanes shared", changed)]

    def lines(self) -> list[str]:
        """Returns the paragraph of a page."""
        one = len(self.cores) == 1
        cores, sockets = (", ".join(map(str, numbers)) for numbers in (self.cores, self.sockets))
        crossing = format_rate(self.placements[0].crossing_gb_per_s, GB_PER_S)
        lines = [
            f"Nonuniform DMA: {', '.join(self.flows)} on core{'' if one else 's'} {cores} of socket {sockets}, reached "
            f"by the function of the NIC on socket {self.device}. {crossing} of lines cross between "
            "sockets." + (DDIO_LOST if self.ddio_lost else "")
        ]
        if self.tried_all and len(self.placements) == 1:
            lines.append(
                "  No other placement could be tried: no core is known to be free there, nor has the card lanes."
            )
        if len(self.placements) > 1:
            width = max(len(placement.what) for placement in self.placements)
            lines += [
                f"  {placement.what:{width}}  {format_rate(placement.goodput_gbps, 'Gbps'):>9}  "
                f"{format_percent(placement.gain, sign='+'):>6}  "
                f"{format_rate(placement.crossing_gb_per_s, GB_PER_S):>9} cross"
                for placement in self.placements
            ]
        return lines


def find_nonuniform_dma(config: Config, host: str, summary: Mapping[str, Any]) -> NonuniformDma | None:
    """Returns the flows of a host that cross sockets to the NIC, or None."""
    entry = _entry(config, host)
    if "nic" not in entry or not any(row["domain"] == CROSSING for row in summary["servers"][host]["domains"]):
        return None
    functions = [function["socket"] for function in entry["nic"].get("functions") or [{"socket": 0}]]
    away: dict[str, list[int]] = {}
    for name in config["flow"]:
        cores = [
            core
            for core in _cores(config, name, host)
            if _reached_from(entry["nic"], core_at := socket_of(entry, core)) != core_at
        ]
        if cores:
            away[name] = cores
    if not away:
        return None
    cores = sorted({core for own in away.values() for core in own})
    sockets = sorted({socket_of(entry, core) for core in cores})
    now = _measured("as it is", summary, host, _classes(config, tuple(away)))
    lost = any(_is_at(config["flow"][name]["to"], host, config) for name in away) and _has_ddio(entry)
    return NonuniformDma(host, tuple(away), tuple(cores), tuple(sockets), functions[0], (now,), lost)


def _reached_from(nic: Mapping[str, Any], socket: int) -> int:
    """Returns the socket of the function that the flows of a socket use."""
    functions = nic.get("functions") or [{"socket": 0}]
    serving = functions if nic.get("mode", "octo") == "octo" else ()
    own = (function["socket"] for function in serving if function.get("serves", function["socket"]) == socket)
    return int(next(own, functions[0]["socket"]))


def _has_ddio(entry: Mapping[str, Any]) -> bool:
    """Returns True if local writes of the NIC go to the LLC, and writes across sockets to memory."""
    crossing = (entry.get("upi") or {}).get("ddio", "memory")
    return bool(entry["nic"].get("ddio")) and crossing == "memory" and entry["nic"].get("rings", "core") == "core"


def parse_cores(cores: str) -> list[int]:
    """Parses a list of cores such as "0-3, 8"."""
    found: list[int] = []
    for part in filter(None, (part.strip() for part in cores.split(","))):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def _measured(what: str, summary: Mapping[str, Any], host: str, classes: tuple[str, ...]) -> Placement:
    """Returns the measured values of a placement."""
    goodput = {row["class"]: float(row["goodput_gbps"] or 0.0) for row in summary["classes"]}
    rows = summary["servers"][host]["domains"]
    whole = (row for row in rows if row["domain"] == CROSSING and row["part"] == row["workload"] == "all")
    crossing = sum(float(row["throughput_gb_per_s"]) for row in whole)
    return Placement(what, sum(goodput.get(name, 0.0) for name in classes), crossing)


def _classes(config: Config, flows: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the classes of flows, by which goodput is reported."""
    return tuple(dict.fromkeys(str(config["flow"][name].get("class") or name) for name in flows))


def _entry(config: Config, host: str) -> dict[str, Any]:
    """Returns the table of a host. A table of several equal hosts names each by its own name and a number."""
    entry: dict[str, Any] = config["host"].get(host) or config["host"][host.rpartition("-")[0]]
    return entry


def _is_at(end: object, host: str, config: Config) -> bool:
    """Returns True if an end of a flow, or one of several, is the host or its table."""
    table = host if host in config["host"] else host.rpartition("-")[0]
    return any(name in (host, table) for name in (end if isinstance(end, list | tuple) else (end,)))


def _cores(config: Config, flow: str, host: str) -> list[int]:
    """Returns the cores of a flow at a host; for threads that move, those that they move to last."""
    entry = config["flow"][flow]
    found: list[int] = []
    for side, key in SIDES:
        if _is_at(entry[side], host, config):
            last = [move["core"] for move in entry.get("move") or () if move.get("end", _moving(config, flow)) == side]
            found += last[-1:] or parse_cores(str(entry.get(key) or ""))
    return found


def _moving(config: Config, flow: str) -> str:
    """Returns the side whose threads move if a move does not name one."""
    to = config["flow"][flow]["to"]
    hosts = to if isinstance(to, list | tuple) else (to,)
    return "from" if any(config["host"][name].get("kind") == "endpoint" for name in hosts) else "to"


def cores_of_socket(entry: Mapping[str, Any], socket: int) -> tuple[int, int]:
    """Returns the first core of a socket and its number of cores."""
    own = entry.get("socket") or {}

    def count(number: int) -> int:
        table: Mapping[str, Any] = own.get(str(number), entry)
        return int(table["core"]["count"])

    return sum(count(number) for number in range(socket)), count(socket)


def socket_of(entry: Mapping[str, Any], core: int) -> int:
    """Returns the socket of a core."""
    socket = 0
    while core >= sum(cores_of_socket(entry, socket)):
        socket += 1
    return socket

"""What a tail of latency may come from, and configurations without each of these causes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from hostnet.explain.raises import SCALES

Config = dict[str, Any]

NETWORK_FACTOR = 10
"""How much faster cables are where the network is taken away."""

MITT_LEAST = "1 us"
"""The shortest timer of a card that needs one."""

STORAGE_LEAST = "1 ns"
"""What a read of storage takes where storage is taken away."""


@dataclass(frozen=True)
class Cause:
    """A cause by its name, what is done to be without it, and who does that to a configuration and its servers.

    `without` changes the configuration, and returns false where there is nothing to take away.
    """

    name: str
    done: str
    without: Callable[[Config, Sequence[str]], bool]


def table_of(config: Config, host: str) -> Config:
    """The table of a host; of many equal ones each has a number behind the name of their table."""
    tables: Config = config["host"]
    own: Config = tables[host] if host in tables else tables[host.rpartition("-")[0]]
    return own


def services_at(config: Config, hosts: Sequence[str]) -> list[Config]:
    """The tables of flows whose workers are at these hosts."""
    names = {*hosts, *(host.rpartition("-")[0] for host in hosts if host not in config["host"])}
    found = []
    for flow in config.get("flow", {}).values():
        to = flow["to"] if isinstance(flow["to"], list) else [flow["to"]]
        if flow.get("kind") == "service" and names.intersection(to):
            found.append(flow)
    return found


def half_the_load(config: Config, hosts: Sequence[str]) -> bool:
    """Half the requests: bursts of half the size as often as before, or single requests half as often."""
    for flow in services_at(config, hosts):
        service = flow["service"]
        burst = int(service.get("burst", 1))
        if burst > 1:
            service["burst"] = burst // 2
        service["rate"] = float(service["rate"]) * (burst // 2 / burst if burst > 1 else 0.5)
    return True


def fastest(config: Config, hosts: Sequence[str]) -> bool:
    """The fastest P-state alone, so that NCAP finds no other either."""
    changed = False
    for host in hosts:
        power = table_of(config, host).get("power")
        if power is None or len(pstates(power)) == 1 or kind_of(power["governor"]) == "performance":
            continue
        power["pstates"], power["governor"] = pstates(power)[-1:], {"kind": "performance"}
        changed = True
    return changed


def kind_of(governor: Any) -> Any:
    """The name of a governor, which may have a table."""
    return governor.get("kind") if isinstance(governor, dict) else governor


def pstates(power: Config) -> list[Any]:
    """The list of P-states, or the two ends of a range."""
    states = power["pstates"]
    return [states["from"], states["to"]] if isinstance(states, dict) else list(states)


def awake(config: Config, hosts: Sequence[str]) -> bool:
    """Cores that poll instead of sleeping."""
    changed = False
    for host in hosts:
        power = table_of(config, host).get("power")
        if power is not None and power["idle"] != "poll":
            power["idle"] = "poll"
            changed = True
    return changed


def unmoderated(config: Config, hosts: Sequence[str]) -> bool:
    """Interrupts that go out at once; of a card whose timer cannot be left out, the shortest timer."""
    changed = False
    for host in hosts:
        nic = table_of(config, host).get("nic") or {}
        if nic.get("mitt") is not None and nic.get("ncap") is not None:
            changed |= nic["mitt"] != MITT_LEAST
            nic["mitt"] = MITT_LEAST
        elif nic.get("mitt") is not None or nic.get("coalesce", "0 us") not in ("0 us", "0 ps", "0 ns"):
            for key in ("mitt", "icr"):
                nic.pop(key, None)
            nic["coalesce"], nic["coalesce_packets"] = "0 us", 1
            changed = True
    return changed


def without_storage(config: Config, hosts: Sequence[str]) -> bool:
    """Reads of storage that take no time."""
    reading = [flow["service"]["io"] for flow in services_at(config, hosts) if flow["service"].get("io")]
    for io in reading:
        io["latency"] = STORAGE_LEAST
    return bool(reading)


def alone(config: Config, hosts: Sequence[str]) -> bool:
    """No other workloads at the servers, and so nobody else who moves data to and from memory."""
    tables = [table_of(config, host) for host in hosts]
    busy = [table for table in tables if table.get("workload")]
    for table in busy:
        table["workload"] = {}
    return bool(busy)


def faster_network(config: Config, _hosts: Sequence[str]) -> bool:
    """Cables of ten times the rate and a tenth of the delay."""
    tables = [config.get("network"), *config.get("host", {}).values(), *_entries(config.get("cable"))]
    network = config.get("network") or {}
    tables += [network.get(key) for key in ("core", "global", "bottleneck")]
    for table in filter(None, tables):
        for key, scale in (("rate", "rate"), ("latency", "less")):
            if isinstance(table.get(key), str):
                table[key] = SCALES[scale](table[key], NETWORK_FACTOR) or table[key]
    return True


def _entries(tables: Any) -> list[Any]:
    return list(tables.values()) if isinstance(tables, dict) else list(tables or ())


CAUSES = (
    Cause("queueing", "half the load", half_the_load),
    Cause("frequency", "always the fastest P-state", fastest),
    Cause("exit latency of C-states", "idle cores poll", awake),
    Cause("interrupt moderation", "interrupts at once", unmoderated),
    Cause("storage", "reads of storage at once", without_storage),
    Cause("memory", "no other workloads", alone),
    Cause("network", "cables 10 times as fast", faster_network),
)
"""Everything that is taken away, alone and together."""


def without(config: Config, hosts: Sequence[str], causes: Sequence[Cause]) -> Config | None:
    """The configuration without these causes, or nothing where there is none of them."""
    changed = deepcopy(config)
    found = [cause.without(changed, hosts) for cause in causes]
    return changed if any(found) else None

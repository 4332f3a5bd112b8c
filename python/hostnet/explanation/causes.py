"""Possible causes of tail latency, and the configuration without each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from hostnet import _core

Config = dict[str, Any]

NETWORK_FACTOR = 10
"""Factor by which cables are sped up to remove the network as a cause."""

MITT_MIN = "1 us"
"""Shortest timer of a NIC that requires one."""

STORAGE_MIN = "1 ns"
"""Latency of storage reads when storage is removed as a cause."""


@dataclass(frozen=True)
class Cause:
    """A cause: its name, the change that removes it, and the function that applies the change.

    `without` changes the configuration of the given servers, and returns False if there is nothing to remove.
    """

    name: str
    done: str
    without: Callable[[Config, Sequence[str]], bool]


def host_table(config: Config, host: str) -> Config:
    """Returns the table of a host. A table of several equal hosts names each by its own name and a number."""
    tables: Config = config["host"]
    own: Config = tables[host] if host in tables else tables[host.rpartition("-")[0]]
    return own


def services_at(config: Config, hosts: Sequence[str]) -> list[Config]:
    """Returns the tables of flows whose workers are on the hosts."""
    names = {*hosts, *(host.rpartition("-")[0] for host in hosts if host not in config["host"])}
    found = []
    for flow in config.get("flow", {}).values():
        to = flow["to"] if isinstance(flow["to"], list) else [flow["to"]]
        if flow.get("kind") == "service" and names.intersection(to):
            found.append(flow)
    return found


def halved_load(config: Config, hosts: Sequence[str]) -> bool:
    """Halves the load: bursts of half the size at the same rate, or single requests at half the rate."""
    for flow in services_at(config, hosts):
        service = flow["service"]
        burst = int(service.get("burst", 1))
        if burst > 1:
            service["burst"] = burst // 2
        service["rate"] = float(service["rate"]) * (burst // 2 / burst if burst > 1 else 0.5)
    return True


def fastest_pstate_only(config: Config, hosts: Sequence[str]) -> bool:
    """Keeps only the fastest P-state, so that NCAP cannot choose another one."""
    changed = False
    for host in hosts:
        power = host_table(config, host).get("power")
        if power is None or len(pstates(power)) == 1 or kind_of(power["governor"]) == "performance":
            continue
        power["pstates"], power["governor"] = pstates(power)[-1:], {"kind": "performance"}
        changed = True
    return changed


def kind_of(governor: Any) -> Any:
    """Returns the name of a governor, which may be a table."""
    return governor.get("kind") if isinstance(governor, dict) else governor


def pstates(power: Config) -> list[Any]:
    """Returns the list of P-states, or both ends of a range."""
    states = power["pstates"]
    return [states["from"], states["to"]] if isinstance(states, dict) else list(states)


def polling_cores(config: Config, hosts: Sequence[str]) -> bool:
    """Makes idle cores poll instead of sleeping."""
    changed = False
    for host in hosts:
        power = host_table(config, host).get("power")
        if power is not None and power["idle"] != "poll":
            power["idle"] = "poll"
            changed = True
    return changed


def without_interrupt_moderation(config: Config, hosts: Sequence[str]) -> bool:
    """Disables interrupt moderation; a NIC that requires a timer gets the shortest one."""
    changed = False
    for host in hosts:
        nic = host_table(config, host).get("nic") or {}
        if nic.get("mitt") is not None and nic.get("ncap") is not None:
            changed |= nic["mitt"] != MITT_MIN
            nic["mitt"] = MITT_MIN
        elif nic.get("mitt") is not None or nic.get("coalesce", "0 us") not in ("0 us", "0 ps", "0 ns"):
            for key in ("mitt", "icr"):
                nic.pop(key, None)
            nic["coalesce"], nic["coalesce_packets"] = "0 us", 1
            changed = True
    return changed


def without_storage(config: Config, hosts: Sequence[str]) -> bool:
    """Makes storage reads take no time."""
    reading = [flow["service"]["io"] for flow in services_at(config, hosts) if flow["service"].get("io")]
    for io in reading:
        io["latency"] = STORAGE_MIN
    return bool(reading)


def without_other_workloads(config: Config, hosts: Sequence[str]) -> bool:
    """Removes the other workloads of the servers, and with them all other memory traffic."""
    tables = [host_table(config, host) for host in hosts]
    busy = [table for table in tables if table.get("workload")]
    for table in busy:
        table["workload"] = {}
    return bool(busy)


def faster_network(config: Config, _hosts: Sequence[str]) -> bool:
    """Gives cables ten times the rate and a tenth of the delay."""
    tables = [config.get("network"), *config.get("host", {}).values(), *_entries(config.get("cable"))]
    network = config.get("network") or {}
    tables += [network.get(key) for key in ("core", "global", "bottleneck")]
    for table in filter(None, tables):
        for key, scale in (("rate", "rate"), ("latency", "less")):
            if isinstance(table.get(key), str):
                table[key] = _core.raise_value(table[key], scale, NETWORK_FACTOR) or table[key]
    return True


def _entries(tables: Any) -> list[Any]:
    """Returns the entries of a table or a list."""
    return list(tables.values()) if isinstance(tables, dict) else list(tables or ())


CAUSES = (
    Cause("queueing", "half the load", halved_load),
    Cause("frequency", "always the fastest P-state", fastest_pstate_only),
    Cause("exit latency of C-states", "idle cores poll", polling_cores),
    Cause("interrupt moderation", "interrupts at once", without_interrupt_moderation),
    Cause("storage", "reads of storage at once", without_storage),
    Cause("memory", "no other workloads", without_other_workloads),
    Cause("network", "cables 10 times as fast", faster_network),
)
"""All causes, which are removed one by one and together."""


def without(config: Config, hosts: Sequence[str], causes: Sequence[Cause]) -> Config | None:
    """Returns the configuration without the causes, or None if none of them is present."""
    changed = deepcopy(config)
    found = [cause.without(changed, hosts) for cause in causes]
    return changed if any(found) else None

"""Places of a NIC, and runs with the NIC at each of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from hostnet._core import ConfigError
from hostnet.running import simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from hostnet._core import Plan
    from hostnet.running.results import Results, Source
    from hostnet.running.simulate import AnyConfig

PLACES = {"pcie": "at its PCIe link", "onchip": "on the die", "dimm": "in a DIMM", "cxl": "at a CXL link"}
"""Values of `nic.attach`, and their meaning."""


@dataclass(frozen=True)
class PlacedRun:
    """A run with the NICs at one place."""

    place: str
    results: Results


def parse_places(text: str) -> list[str]:
    """Parses a list of places, such as "pcie,onchip".

    Raises:
        ConfigError: There is no such place, or a place is listed twice.
    """
    places = [place.strip() for place in text.split(",")]
    for index, place in enumerate(places):
        if place not in PLACES:
            near = get_close_matches(place, PLACES, 1)
            hint = f'did you mean "{near[0]}"?' if near else f"a NIC can sit at {', '.join(PLACES)}"
            raise ConfigError("unknown-name", f'--attach: there is no place "{place}"; {hint}')
        if place in places[:index]:
            raise ConfigError("duplicate", f'--attach: "{place}" is named twice; name each place once')
    return places


def what_if(
    config: AnyConfig,
    attach: Sequence[str] = tuple(PLACES),
    *,
    hosts: Sequence[str] = (),
    overrides: Sequence[str] = (),
    seed: int | None = None,
    threads: int | None = None,
    progress: Callable[[dict[str, Any]], bool | None] | None = None,
) -> list[PlacedRun]:
    """Runs a cluster with the NICs of its servers at each place, and nothing else changed.

    Args:
        config: Configuration of hosts on a network, as for `hostnet.run`.
        attach: The places, see `PLACES`.
        hosts: Tables of the hosts whose NIC moves; all servers by default.
        overrides: Assignments that override values, as for `--set`.
        seed: Seed that overrides the one of the configuration.
        threads: Runs at a time; by default the number of cores. The results do not depend on it.
        progress: As for `hostnet.run_many`.

    Raises:
        ConfigError: The configuration or an argument is invalid, or a NIC cannot be at one of the places.
        SimulationError: A run failed.
        OSError: The file cannot be read.
    """
    places = parse_places(",".join(attach))
    source = simulate.source_of(config, tuple(overrides))
    base = simulate.resolve(source, seed)
    plans = []
    for place in places:
        own = simulate.source_of(config, (*overrides, *_changes(base, source, place, hosts)))
        plans.append((simulate.resolve(own, seed), own))
    found = simulate.run_plans(plans, threads=threads, progress=progress)
    return [PlacedRun(place, results) for place, results in zip(places, found, strict=True)]


def possible_places(
    config: AnyConfig, *, hosts: Sequence[str] = (), overrides: Sequence[str] = (), seed: int | None = None
) -> tuple[list[str], dict[str, str]]:
    """Returns the places that are possible for the NICs of a cluster, and the errors of the other places.

    Raises:
        ConfigError: The configuration or an argument is invalid, or no place is possible.
        OSError: The file cannot be read.
    """
    source = simulate.source_of(config, tuple(overrides))
    base = simulate.resolve(source, seed)
    possible, refused = [], {}
    for place in PLACES:
        changes = _changes(base, source, place, hosts)
        try:
            simulate.resolve(simulate.source_of(config, (*overrides, *changes)), seed)
        except ConfigError as error:
            refused[place] = error
        else:
            possible.append(place)
    if not possible:
        raise next(iter(refused.values()))
    return possible, {place: str(error) for place, error in refused.items()}


def _changes(base: Plan, source: Source, place: str, hosts: Sequence[str]) -> list[str]:
    """Returns the assignments that move the NICs to a place."""
    return [*_meters(base), *(f"host.{host}.nic.attach={place}" for host in _moved(base, source, hosts))]


def _meters(plan: Plan) -> list[str]:
    """Returns the assignments that add an energy meter to every server that lacks one and can have one."""
    tables = json.loads(plan.effective_json()).get("host", {})
    servers = (name for name, host in tables.items() if host.get("kind") != "endpoint" and "energy" not in host)
    lines = (name for name in servers if tables[name].get("fidelity", "line") == "line")
    return [f"host.{name}.energy.profile=server" for name in lines if "pool" not in tables[name]]


def _moved(plan: Plan, source: Source, hosts: Sequence[str]) -> list[str]:
    """Returns the tables of the hosts whose NIC moves.

    Raises:
        ConfigError: The configuration has no hosts on a network, or a name is not that of a server.
    """
    tables = json.loads(plan.effective_json()).get("host", {}) if plan.is_cluster else {}
    servers = [name for name, host in tables.items() if host.get("kind") != "endpoint" and "nic" in host]
    if not servers:
        missing = "there is no server with a NIC on a network; `hostnet new --cluster ping` writes one"
        raise ConfigError("wrong-kind", f"{source.file}: host: {missing}")
    for host in hosts:
        if host not in servers:
            near = get_close_matches(host, servers, 1)
            hint = f'did you mean "{near[0]}"?' if near else f"the servers are {', '.join(servers)}"
            raise ConfigError("does-not-exist", f'--host: there is no server "{host}"; {hint}')
    return list(hosts) or servers

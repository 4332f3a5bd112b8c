"""Configurations of a server without some of its workloads: one side only, or all but a few."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from hostnet.explanation.steps import CORE_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from hostnet.explanation.raises import Config

    Row = Mapping[str, Any]
    Kept = Callable[[str, Row], bool]

OF_CORES = (*CORE_KINDS, "remote")
"""Kinds of workloads whose traffic is that of cores, including cores of other sockets."""

OF_JOBS = "each side without the other was not simulated: jobs cannot be separated from their hosts"
"""Reason why the sides of a host with jobs are unknown."""


class SideNotSimulatedError(Exception):
    """Raised if a side was not simulated without the other; the message states the reason."""


def side_of(config: Config, host: str | None, side: str) -> Config:
    """Returns the configuration with one side of a server only: its cores ("stream") or its devices ("fio")."""
    of_cores = side == "stream"
    return _reduced(
        config, host, lambda _, workload: (workload["kind"] in OF_CORES) == of_cores, lambda *_: not of_cores
    )


def without(config: Config, host: str | None, names: Collection[str]) -> Config:
    """Returns the configuration without some workloads of a server.

    Raises:
        NotPartedError: One of them is no workload of the server and no flow to or from it.
    """
    found: set[str] = set()

    def kept(name: str, _: Row) -> bool:
        found.update({name}.intersection(names))
        return name not in names

    changed = _reduced(config, host, kept, kept)
    if len(found) < len(set(names)):
        raise SideNotSimulatedError(OF_JOBS)
    return changed


def _reduced(config: Config, host: str | None, kept: Kept, kept_flow: Kept) -> Config:
    """Returns the configuration with some workloads of a server only, and some flows to and from it.

    The functions receive the name and the table of each, and return True to keep it.
    """
    part: dict[str, Any] = deepcopy(dict(config))
    if host is None:
        return {**part, "workload": _kept_tables(part.get("workload", {}), kept)}
    if part.get("job"):
        raise SideNotSimulatedError(OF_JOBS)
    name = host if host in part["host"] else host.rpartition("-")[0]
    part["flow"] = _kept_tables(
        part.get("flow", {}), lambda key, flow: not _touches(flow, host, name) or kept_flow(key, flow)
    )
    return _with_workloads(part, name, _kept_tables(part["host"][name].get("workload", {}), kept))


def _kept_tables(tables: Config, kept: Kept) -> Config:
    """Returns the tables that are kept."""
    return {name: table for name, table in tables.items() if kept(name, table)}


def _with_workloads(part: Config, name: str, kept: Config) -> Config:
    """Replaces the workloads of a host."""
    place = {**part["host"][name], "workload": kept}
    return {**part, "host": {**part["host"], name: place}}


def _touches(flow: Mapping[str, Any], host: str, name: str) -> bool:
    """Returns True if a flow starts or ends at a host, or may do so."""
    ends = json.dumps([flow.get("from"), flow.get("to")])
    return host in ends or name in ends

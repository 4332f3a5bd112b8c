"""A server without some of its workloads: one side only, or all but a few."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from hostnet.explain.steps import CORE_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from hostnet.explain.raises import Config

    Row = Mapping[str, Any]
    Kept = Callable[[str, Row], bool]

OF_CORES = (*CORE_KINDS, "remote")
"""Kinds of workloads that are traffic of cores, those of other sockets included."""

OF_JOBS = "each side without the other was not simulated: jobs cannot be separated from their hosts"
"""The reason why sides of a host with jobs are not known."""


class NotPartedError(Exception):
    """A side was not simulated without the other; the message says why."""


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
        raise NotPartedError(OF_JOBS)
    return changed


def _reduced(config: Config, host: str | None, kept: Kept, kept_flow: Kept) -> Config:
    """Returns the configuration with some workloads of a server only, and some flows to and from it.

    Either is kept if a function of its name and its table says so.
    """
    part: dict[str, Any] = deepcopy(dict(config))
    if host is None:
        return {**part, "workload": _those(part.get("workload", {}), kept)}
    if part.get("job"):
        raise NotPartedError(OF_JOBS)
    name = host if host in part["host"] else host.rpartition("-")[0]
    part["flow"] = _those(
        part.get("flow", {}), lambda key, flow: not _touches(flow, host, name) or kept_flow(key, flow)
    )
    return _with_workloads(part, name, _those(part["host"][name].get("workload", {}), kept))


def _those(tables: Config, kept: Kept) -> Config:
    return {name: table for name, table in tables.items() if kept(name, table)}


def _with_workloads(part: Config, name: str, kept: Config) -> Config:
    place = {**part["host"][name], "workload": kept}
    return {**part, "host": {**part["host"], name: place}}


def _touches(flow: Mapping[str, Any], host: str, name: str) -> bool:
    """Returns True if a flow begins or ends at a host, or may do so."""
    ends = json.dumps([flow.get("from"), flow.get("to")])
    return host in ends or name in ends

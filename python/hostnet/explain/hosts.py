"""Which server of a cluster is explained."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hostnet.running.results import ServerNotNamedError, named_server, server_config

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostnet._core import Plan
    from hostnet.running.results import Results


def explained_server(plan: Plan, host: str | None) -> str:
    """The server that is meant: the one of that name, or the only one that can be explained; "" without a network.

    Raises:
        ServerNotNamedError: None is named, and several can be explained.
        ConfigError: There is no such server.
    """
    lines = of_lines(json.loads(plan.effective_json()), plan.servers)
    if host is not None or not lines:
        return named_server(plan, host)
    if len(lines) > 1:
        raise ServerNotNamedError(lines, "host")
    return lines[0]


def explainable(results: Results) -> list[str]:
    """The names of the servers of a run that can be explained; "" is that of a server without a network."""
    servers = results.servers
    hosts = of_lines(json.loads(results.plan.effective_json()), list(servers))
    return [host for host in hosts if "counters" in servers[host].summary]


def of_lines(config: Mapping[str, Any], hosts: Sequence[str]) -> list[str]:
    """Those of these servers that are simulated line by line."""
    return [host for host in hosts if not host or fidelity(config, host) == "line"]


def fidelity(config: Mapping[str, Any], host: str) -> str:
    """How finely a host is simulated."""
    return str(server_config(config, host).get("fidelity", "line"))

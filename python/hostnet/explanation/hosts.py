"""Selects the server of a cluster to explain."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.running.results import ServerNotNamedError, named_server, server_config

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostnet._core import Plan
    from hostnet.running.results import Results


def explained_server(plan: Plan, host: str | None) -> str:
    """Returns the server `host`, by default the only one that can be explained; "" without a network.

    Raises:
        ServerNotNamedError: `host` is None and several servers can be explained.
        ConfigError: There is no such server.
    """
    if plan.is_cluster and not plan.servers:
        limits = "`hostnet run` says what limits its jobs and flows"
        raise ConfigError("wrong-host-kind", f"host: none of the hosts is a server with a host network; {limits}")
    lines = line_level_hosts(json.loads(plan.effective_json()), plan.servers)
    if host is not None or not lines:
        return named_server(plan, host)
    if len(lines) > 1:
        raise ServerNotNamedError(lines, "host")
    return lines[0]


def server_of_results(results: Results, host: str | None) -> str:
    """Returns the server of results to explain, as `explained_server` does.

    Raises:
        ConfigError: The results are a prediction, or there is no such server.
    """
    if results.summary["engine"] == "predict":
        raise ConfigError("wrong-kind", "a prediction has no counters to explain; run the configuration")
    return explained_server(results.plan, host)


def explainable(results: Results) -> list[str]:
    """Returns the servers of a run that can be explained; "" stands for a server without a network."""
    servers = results.servers
    hosts = line_level_hosts(json.loads(results.plan.effective_json()), list(servers))
    return [host for host in hosts if "counters" in servers[host].summary]


def line_level_hosts(config: Mapping[str, Any], hosts: Sequence[str]) -> list[str]:
    """Returns the hosts whose cache lines are simulated individually."""
    return [host for host in hosts if not host or fidelity(config, host) == "line"]


def fidelity(config: Mapping[str, Any], host: str) -> str:
    """Returns the fidelity of the simulation of a host; "" stands for a server without a network."""
    server = server_config(config, host)
    return str(server.get("fidelity") or server.get("server", {}).get("fidelity") or "line")

"""What a run measured, and where it came from."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.notes import notes_of, some

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike
    from pathlib import Path

    import pandas
    import polars
    import pyarrow as pa

    from hostnet._core import Plan, RunResult
    from hostnet.processes.effort import Shares


@dataclass(frozen=True)
class Source:
    """The configuration as the user gave it."""

    text: str
    """The file's text, or the JSON of a `hostnet.Config`."""
    format: str
    """"toml" or "json"."""
    file: str
    """The name that error messages show."""
    base_dir: str
    """The folder that relative paths in the configuration start from."""
    overrides: tuple[str, ...] = ()
    """Assignments "path.to.key=value" that replace what the text says."""


@dataclass(frozen=True)
class Timing:
    """When and how a run was made. It differs between two equal runs, so it stays out of the results."""

    started: str
    """Wall-clock start, ISO 8601 in UTC."""
    wall_time_s: float
    """Seconds that the run took; for runs made together, all of them."""
    events_per_s: float
    """Events handled per second of wall time, all runs made together."""
    threads: int
    """Threads the user asked for, in each process."""
    processes: int = 1
    """Processes that shared the run."""
    shares: Shares | None = None
    """Where their time went; None with one process."""


SERIES = ("series", "host_series", "power_series")
"""The tables that are there only if asked for."""


@dataclass(frozen=True)
class ServerResults:
    """What one server did: what a summary says of it."""

    summary: dict[str, Any]
    """Its part of the summary."""

    @property
    def workloads(self) -> dict[str, dict[str, Any]]:
        """The rows of table workloads by workload name."""
        return {row["workload"]: row for row in self.summary["workloads"]}

    @property
    def domains(self) -> dict[str, dict[str, Any]]:
        """The rows of table domains that are about the whole server and all workloads, by domain name."""
        return {row["domain"]: row for row in self.summary["domains"] if row["workload"] == "all"}

    @property
    def channels(self) -> dict[int, dict[str, Any]]:
        """The rows of table channels by channel number; -1 is all of them."""
        return {row["channel"]: row for row in self.summary["channels"]}

    @property
    def caches(self) -> dict[str, dict[str, Any]]:
        """The rows of table caches by workload name; "all" is all of them. Empty without caches."""
        return {row["workload"]: row for row in self.summary.get("caches", [])}

    @property
    def upi(self) -> dict[tuple[int, int], dict[str, Any]]:
        """The rows of table upi by the socket that sends and the one that it sends to. Empty with one socket."""
        return {(row["from"], row["to"]): row for row in self.summary.get("upi", [])}

    @property
    def mesh(self) -> dict[tuple[int, int, int, str], dict[str, Any]]:
        """The rows of table mesh by socket, column, row and side. Empty without a die."""
        rows = self.summary.get("mesh", [])
        return {(row["socket"], row["column"], row["row"], row["side"]): row for row in rows}

    @property
    def mesh_ways(self) -> dict[tuple[int, str, str], dict[str, Any]]:
        """The rows of table mesh_ways by socket, workload and leg. Empty without a die."""
        return {(row["socket"], row["workload"], row["leg"]): row for row in self.summary.get("mesh_ways", [])}


@dataclass(frozen=True, repr=False)
class Results:
    """What a run measured, of a server or of hosts on a network.

    Two runs of one configuration and seed are equal bit for bit, whatever `threads` was.
    """

    native: RunResult = field(repr=False)
    """The simulator's own results."""
    plan: Plan = field(repr=False)
    """The resolved configuration."""
    source: Source = field(repr=False)
    """The configuration as it was given."""
    timing: Timing
    """When and how the run was made."""
    has_series: bool = False
    """Whether the run recorded time series."""
    looked_at: str = field(default="", repr=False)
    """The server that counters and trace are of; "" without a network."""

    @property
    def complete(self) -> bool:
        """Whether the run came to its planned end; False if it was stopped."""
        return self.native.complete

    @property
    def result_hash(self) -> str:
        """Hash over everything that was measured."""
        return self.native.result_hash

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The content of summary.json."""
        summary: dict[str, Any] = json.loads(self.native.summary_json)
        return summary

    @property
    def notes(self) -> list[str]:
        """What the user should know before trusting the numbers."""
        return notes_of(self.summary)

    def __repr__(self) -> str:
        """The numbers that are asked for first."""
        from hostnet.report.brief import in_a_line

        return in_a_line(type(self).__name__, self.summary)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from hostnet.report.brief import run_html

        return run_html(self.summary, self.notes)

    @property
    def checkpoint(self) -> bytes | None:
        """The state of the run at the time that was asked for, if it came that far."""
        return self.native.checkpoint

    @property
    def trace(self) -> bytes | None:
        """The trace as a file for the Perfetto UI, if it was asked for and the run came so far."""
        return self.native.trace

    @cached_property
    def tables(self) -> Mapping[str, pa.Table]:
        """The Arrow tables by name.

        Of a server workloads, domains and channels; caches if there are any, upi if there are several sockets. Of
        hosts on a network those of their servers, with a column host, and classes, flows, latencies, hosts, memory,
        queues, control and limits. Series only if asked for.
        """
        from hostnet.tables import build_table

        return {name: build_table(self.native, name) for name in self.table_names}

    @property
    def table_names(self) -> list[str]:
        """The names of `tables`, which need not be made for them."""
        left_out = () if self.has_series else SERIES
        return [name for name in self.native.table_names if name not in left_out]

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of the table `name`; none if the run has no such table."""
        from hostnet.tables import rows_of

        return rows_of(self.native, name) if name in self.table_names else []

    @cached_property
    def epochs(self) -> pa.Table:
        """The hash of the run's state at the ends of epochs. It is no part of the results and their hash."""
        from hostnet.tables import build_table

        return build_table(self.native, "epochs")

    @property
    def classes(self) -> dict[str, dict[str, Any]]:
        """The rows of table classes by the name of the class: of a server without a network none."""
        return {row["class"]: row for row in self.summary.get("classes", [])}

    @property
    def control(self) -> dict[str, dict[str, Any]]:
        """The rows of table control by the name of the host."""
        return {row["host"]: row for row in self.summary.get("control", [])}

    @property
    def hosts(self) -> dict[str, dict[str, Any]]:
        """The rows of table hosts by the name of the host."""
        return {row["host"]: row for row in self.summary.get("hosts", [])}

    @property
    def jobs(self) -> dict[str, dict[str, Any]]:
        """The rows of table jobs by the name of the job."""
        return {row["job"]: row for row in self.summary.get("jobs", [])}

    @property
    def servers(self) -> dict[str, ServerResults]:
        """What each server did, by the name of its host; "" is that of a server without a network."""
        servers = self.summary.get("servers", {"": self.summary})
        return {host: ServerResults(summary) for host, summary in servers.items()}

    def server(self, host: str | None = None) -> ServerResults:
        """What a server did: the one of that name, or the only one.

        Raises:
            ConfigError: There is no such server, or none is named and there are several.
        """
        return self.servers[named_server(self.plan, host)]

    @property
    def workloads(self) -> dict[str, dict[str, Any]]:
        """The rows of table workloads of the only server, by workload name."""
        return self.server().workloads

    @property
    def domains(self) -> dict[str, dict[str, Any]]:
        """As `ServerResults.domains`, of the only server."""
        return self.server().domains

    @property
    def channels(self) -> dict[int, dict[str, Any]]:
        """As `ServerResults.channels`, of the only server."""
        return self.server().channels

    @property
    def caches(self) -> dict[str, dict[str, Any]]:
        """As `ServerResults.caches`, of the only server."""
        return self.server().caches

    @property
    def upi(self) -> dict[tuple[int, int], dict[str, Any]]:
        """As `ServerResults.upi`, of the only server."""
        return self.server().upi

    @property
    def mesh(self) -> dict[tuple[int, int, int, str], dict[str, Any]]:
        """As `ServerResults.mesh`, of the only server."""
        return self.server().mesh

    @property
    def mesh_ways(self) -> dict[tuple[int, str, str], dict[str, Any]]:
        """As `ServerResults.mesh_ways`, of the only server."""
        return self.server().mesh_ways

    def to_pandas(self, name: str) -> pandas.DataFrame:
        """The table `name` as a pandas data frame.

        Raises:
            KeyError: The run has no such table.
            ImportError: pandas is not installed.
        """
        from hostnet.tables import to_pandas

        return to_pandas(self._table(name))

    def to_polars(self, name: str) -> polars.DataFrame:
        """The table `name` as a polars data frame.

        Raises:
            KeyError: The run has no such table.
            ImportError: polars is not installed.
        """
        from hostnet.tables import to_polars

        return to_polars(self._table(name))

    def save(self, directory: str | PathLike[str]) -> Path:
        """Writes a run directory and returns its path. It appears whole or not at all.

        Raises:
            FileExistsError: `directory` exists and is not empty.
            OSError: It cannot be written.
        """
        from pathlib import Path

        from hostnet.rundir import publish, write_run

        return publish(Path(directory), lambda place: write_run(self, place))

    def _table(self, name: str) -> pa.Table:
        if name not in self.tables:
            raise KeyError(f'no table "{name}" in this run; it has {", ".join(self.tables)}')
        return self.tables[name]


ClusterResults = Results
"""The same, by the name that says what was run."""


class ServerNotNamedError(ConfigError):
    """There are several servers, and none of them is named."""

    def __init__(self, servers: Sequence[str], said_as: str) -> None:
        """The names of the `servers`, and what the user calls the choice of one."""
        option = f", such as {said_as} {servers[0]}" if said_as.startswith("--") else ""
        super().__init__(
            "missing-key", f"{said_as}: missing; there are {len(servers)} servers, name one{option}: {some(servers)}"
        )
        self.servers = servers


def named_server(plan: Plan, host: str | None, said_as: str = "host") -> str:
    """The name of the server that is meant: the one of that name, or the only one; "" without a network.

    Raises:
        ServerNotNamedError: None is named, and there are several.
        ConfigError: There is no such server.
    """
    servers = plan.servers
    if not plan.is_cluster:
        if host is not None:
            raise ConfigError("no-effect", f"{said_as}: the configuration describes one server, which has no name")
        return ""
    if host is None and len(servers) == 1:
        return servers[0]
    if host in servers:
        return str(host)
    if not servers:
        raise ConfigError(
            "wrong-host-kind", f"{said_as}: none of the hosts is a server with a host network; all are endpoints"
        )
    if host is None:
        raise ServerNotNamedError(servers, said_as)
    near = get_close_matches(host, servers, 1)
    hint = f'did you mean "{near[0]}"?' if near else f"the servers are {some(servers)}"
    raise ConfigError("does-not-exist", f'{said_as}: there is no server "{host}"; {hint}')


def server_config(config: Mapping[str, Any], host: str) -> dict[str, Any]:
    """The part of a complete configuration that describes a server: all of it without a network."""
    if not host:
        return dict(config)
    # Of many equal hosts each has a number behind the name of their table.
    entry = config["host"].get(host) or config["host"][host.rpartition("-")[0]]
    return {**entry, "server": {key: entry.get(key) for key in ("preset", "sockets")}}

"""Results of a run, with their configuration and provenance."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.notes import list_names, notes_of
from hostnet.running.server_results import ServerResults
from hostnet.saved_results import SavedResults

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike
    from pathlib import Path

    import pandas
    import polars
    import pyarrow as pa

    from hostnet._core import Plan, RunResult
    from hostnet.explanation import Page
    from hostnet.processes.effort import Shares
    from hostnet.report.notebook.plots import Plots
    from hostnet.terminal.progress import ProgressArgument


@dataclass(frozen=True)
class Source:
    """Configuration as the user gave it."""

    text: str
    """Text of the file, or the JSON of a `hostnet.Config`."""
    format: str
    """"toml" or "json"."""
    file: str
    """Name that error messages show."""
    base_dir: str
    """Folder that relative paths in the configuration start from."""
    overrides: tuple[str, ...] = ()
    """Assignments "path.to.key=value" that override the text."""


@dataclass(frozen=True)
class Timing:
    """Time and manner of a run. They differ between equal runs, so they are not part of the results."""

    started: str
    """Start of the run, ISO 8601 in UTC."""
    wall_time_s: float
    """Duration of the run in s; for runs executed together, of all of them."""
    events_per_s: float
    """Events handled per second of wall-clock time, over all runs executed together."""
    threads: int
    """Threads per process that the user requested."""
    processes: int = 1
    """Processes that shared the run."""
    shares: Shares | None = None
    """Shares of the wall-clock time of the processes; None with one process."""


SERIES = ("series", "host_series", "power_series")
"""Tables that exist only on request."""


@dataclass(frozen=True, repr=False)
class Results(SavedResults):
    """Results of a run, of one server or of hosts on a network.

    Two runs of the same configuration and seed have bit-identical results, regardless of `threads`.
    """

    native: RunResult = field(repr=False)
    """Results of the Rust core."""
    plan: Plan = field(repr=False)
    """The resolved configuration."""
    source: Source = field(repr=False)
    """The configuration as given."""
    timing: Timing
    """When and how the run was executed."""
    has_series: bool = False
    """True if the run recorded time series."""
    looked_at: str = field(default="", repr=False)
    """Server whose counters and trace were recorded; "" without a network."""
    saved: list[Path] = field(default_factory=list, repr=False, compare=False)
    """Run directories that `save` has written."""

    @property
    def complete(self) -> bool:
        """True if the run reached its planned end; False if it was stopped."""
        return self.native.complete

    @property
    def result_hash(self) -> str:
        """Hash of all measured values."""
        return self.native.result_hash

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Content of summary.json."""
        summary: dict[str, Any] = json.loads(self.native.summary_json)
        return summary

    @property
    def notes(self) -> list[str]:
        """Notes on the validity of the results."""
        return notes_of(self.summary)

    def __repr__(self) -> str:
        """Returns the most important results in one line."""
        from hostnet.report.brief import one_line

        return one_line(type(self).__name__, self.summary)

    def _repr_html_(self) -> str:
        """Returns what a notebook shows: limits, the picture of the host, tables, notes, and a link to the page."""
        from hostnet.running.presentation import notebook_output

        return notebook_output(self)

    def explain(
        self,
        host: str | None = None,
        *,
        confirm: bool = False,
        brief: bool = False,
        progress: ProgressArgument = None,
    ) -> Page:
        """Explains the results as `hostnet explain` does: bottlenecks, sources of latency, and what would help.

        Args:
            host: Server of a cluster to explain, by default the only one that can be explained.
            confirm: True to also simulate the changes that are predicted to help.
            brief: True to omit what would help.
            progress: As for `hostnet.run`.

        Raises:
            ConfigError: There is no such server, the choice is ambiguous, or the server cannot be explained.
            SimulationError: A simulation of a change failed.
            KeyboardInterrupt: `progress` stopped the simulations.
        """
        from hostnet.running.presentation import explain_with_steps

        return explain_with_steps(self, host, confirm=confirm, brief=brief, progress=progress)

    def plot(self, *names: str) -> Plots:
        """Returns the plots of `hostnet plot`, or those with these names; a notebook shows them.

        Raises:
            ConfigError: There is no such plot.
        """
        from hostnet.running.presentation import draw_plots

        return draw_plots(self, names)

    @property
    def checkpoint(self) -> bytes | None:
        """State of the run at the requested time; None if it was not requested or not reached."""
        return self.native.checkpoint

    @property
    def trace(self) -> bytes | None:
        """Trace file for the Perfetto UI; None if it was not requested or not reached."""
        return self.native.trace

    @cached_property
    def tables(self) -> Mapping[str, pa.Table]:
        """Arrow tables by name.

        A server has `workloads`, `domains` and `channels`, `caches` if its caches are modelled, and `upi` with several
        sockets. Hosts on a network have the tables of their servers, with a column `host`, and `classes`, `flows`,
        `latencies`, `hosts`, `memory`, `queues`, `control` and `limits`. Time series exist only on request.
        """
        from hostnet.tables import build_table

        return {name: build_table(self.native, name) for name in self.table_names}

    @property
    def table_names(self) -> list[str]:
        """Names of `tables`. Reading them does not build the tables."""
        left_out = () if self.has_series else SERIES
        return [name for name in self.native.table_names if name not in left_out]

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Returns the rows of the table `name`; empty if the run has no such table."""
        from hostnet.tables import table_rows

        return table_rows(self.native, name) if name in self.table_names else []

    @cached_property
    def epochs(self) -> pa.Table:
        """Hash of the state of the run at the end of each epoch. Not part of the results and of `result_hash`."""
        from hostnet.tables import build_table

        return build_table(self.native, "epochs")

    @property
    def classes(self) -> dict[str, dict[str, Any]]:
        """Rows of the table `classes`, by class; empty without a network."""
        return {row["class"]: row for row in self.summary.get("classes", [])}

    @property
    def control(self) -> dict[str, dict[str, Any]]:
        """Rows of the table `control`, by host."""
        return {row["host"]: row for row in self.summary.get("control", [])}

    @property
    def hosts(self) -> dict[str, dict[str, Any]]:
        """Rows of the table `hosts`, by host."""
        return {row["host"]: row for row in self.summary.get("hosts", [])}

    @property
    def jobs(self) -> dict[str, dict[str, Any]]:
        """Rows of the table `jobs`, by job."""
        return {row["job"]: row for row in self.summary.get("jobs", [])}

    @property
    def servers(self) -> dict[str, ServerResults]:
        """Results of each server, by host; without a network, the key is ""."""
        servers = self.summary.get("servers", {"": self.summary})
        return {host: ServerResults(summary) for host, summary in servers.items()}

    def server(self, host: str | None = None) -> ServerResults:
        """Returns the results of the server `host`, by default of the only server.

        Raises:
            ConfigError: There is no such server, or `host` is None and there are several.
        """
        return self.servers[named_server(self.plan, host)]

    @property
    def workloads(self) -> dict[str, dict[str, Any]]:
        """Like `ServerResults.workloads`, for the only server."""
        return self.server().workloads

    @property
    def domains(self) -> dict[str, dict[str, Any]]:
        """Like `ServerResults.domains`, for the only server."""
        return self.server().domains

    @property
    def channels(self) -> dict[int, dict[str, Any]]:
        """Like `ServerResults.channels`, for the only server."""
        return self.server().channels

    @property
    def caches(self) -> dict[str, dict[str, Any]]:
        """Like `ServerResults.caches`, for the only server."""
        return self.server().caches

    @property
    def upi(self) -> dict[tuple[int, int], dict[str, Any]]:
        """Like `ServerResults.upi`, for the only server."""
        return self.server().upi

    @property
    def mesh(self) -> dict[tuple[int, int, int, str], dict[str, Any]]:
        """Like `ServerResults.mesh`, for the only server."""
        return self.server().mesh

    @property
    def mesh_ways(self) -> dict[tuple[int, str, str], dict[str, Any]]:
        """Like `ServerResults.mesh_ways`, for the only server."""
        return self.server().mesh_ways

    def to_pandas(self, name: str | None = None) -> pandas.DataFrame:
        """Returns the table `name` as a pandas data frame, by default `workloads`, or `classes` with a network.

        Raises:
            KeyError: The run has no such table.
            MissingPackageError: pandas is not installed.
        """
        from hostnet.tables import to_pandas

        return to_pandas(self._table(name))

    def to_polars(self, name: str | None = None) -> polars.DataFrame:
        """Returns the table `name` as a polars data frame, by default `workloads`, or `classes` with a network.

        Raises:
            KeyError: The run has no such table.
            MissingPackageError: polars is not installed.
        """
        from hostnet.tables import to_polars

        return to_polars(self._table(name))

    def save(self, directory: str | PathLike[str] | None = None) -> Path:
        """Writes a run directory atomically and returns its path, by default `runs/<name>-<n>`.

        Raises:
            FileExistsError: `directory` exists and is not empty.
            OSError: The directory cannot be written.
        """
        from hostnet.running.run_dir import save_run

        self.saved.append(save_run(self, directory))
        return self.saved[-1]

    def _table(self, name: str | None) -> pa.Table:
        """Returns the Arrow table `name`, by default the most important one; raises KeyError if there is none."""
        name = name or ("classes" if self.plan.is_cluster else "workloads")
        if name not in self.tables:
            raise KeyError(f'no table "{name}" in this run; it has {", ".join(self.tables)}')
        return self.tables[name]


ClusterResults = Results
"""Alias of `Results` for runs of clusters."""


class ServerNotNamedError(ConfigError):
    """Raised if there are several servers and none is named."""

    def __init__(self, servers: Sequence[str], option_name: str) -> None:
        """Creates the error; `option_name` is the option or argument that names a server."""
        option = f", such as {option_name} {servers[0]}" if option_name.startswith("--") else ""
        super().__init__(
            "missing-key",
            f"{option_name}: missing; there are {len(servers)} servers, name one{option}: {list_names(servers)}",
        )
        self.servers = servers


def named_server(plan: Plan, host: str | None, option_name: str = "host") -> str:
    """Returns the server `host`, by default the only one; "" without a network.

    Raises:
        ServerNotNamedError: `host` is None and there are several servers.
        ConfigError: There is no such server.
    """
    servers = plan.servers
    if not plan.is_cluster:
        if host is not None:
            raise ConfigError("no-effect", f"{option_name}: the configuration describes one server, which has no name")
        return ""
    if host is None and len(servers) == 1:
        return servers[0]
    if host in servers:
        return str(host)
    if not servers:
        raise ConfigError(
            "wrong-host-kind", f"{option_name}: none of the hosts is a server with a host network; all are endpoints"
        )
    if host is None:
        raise ServerNotNamedError(servers, option_name)
    near = get_close_matches(host, servers, 1)
    hint = f'did you mean "{near[0]}"?' if near else f"the servers are {list_names(servers)}"
    raise ConfigError("does-not-exist", f'{option_name}: there is no server "{host}"; {hint}')


def server_config(config: Mapping[str, Any], host: str) -> dict[str, Any]:
    """Returns the part of a complete configuration that describes a server; without a network, all of it."""
    if not host:
        return dict(config)
    # A table of several equal hosts names each of them by its own name and a number.
    entry = config["host"].get(host) or config["host"][host.rpartition("-")[0]]
    return {**entry, "server": {key: entry.get(key) for key in ("preset", "sockets")}}

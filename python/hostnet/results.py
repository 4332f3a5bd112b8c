"""What a run measured, and where it came from."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike
    from pathlib import Path

    import pandas
    import polars
    import pyarrow as pa

    from hostnet._core import ClusterPlan, Plan, RunResult

AnyPlan = TypeVar("AnyPlan", "Plan", "ClusterPlan")


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
    """Threads the user asked for."""


@dataclass(frozen=True)
class Measured(Generic[AnyPlan]):
    """What a run measured, of a server or of a cluster."""

    native: RunResult = field(repr=False)
    """The simulator's own results."""
    plan: AnyPlan = field(repr=False)
    """The resolved configuration."""
    source: Source = field(repr=False)
    """The configuration as it was given."""
    timing: Timing
    """When and how the run was made."""
    has_series: bool = False
    """Whether the run recorded time series."""

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


@dataclass(frozen=True, repr=False)
class Results(Measured["Plan"]):
    """What a run measured. Two runs of one configuration and seed are equal bit for bit, whatever `threads` was."""

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
        """The Arrow tables by name: workloads, domains, channels; caches if there are any; series if asked for."""
        from hostnet.tables import TABLES, build_table

        caches = ("caches",) if "caches" in self.summary else ()
        series = ("series",) if self.has_series else ()
        return {name: build_table(self.native, name) for name in (*TABLES, *caches, *series)}

    @cached_property
    def epochs(self) -> pa.Table:
        """The hash of the run's state every 10 us of simulated time. It is no part of the results and their hash."""
        from hostnet.tables import build_table

        return build_table(self.native, "epochs")

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


def notes_of(summary: Mapping[str, Any]) -> list[str]:
    """What the user should know before trusting the numbers of a summary."""
    lines = [] if summary["complete"] else ["stopped before its end: the numbers are of the part that was simulated"]
    if summary["unvalidated"]:
        lines.append(summary["unvalidated"])
    lines += summary["ignored"]
    if summary.get("no_effect"):
        lines.append(f"no effect in this run: {', '.join(summary['no_effect'])}")
    return lines

"""Runs clusters: hosts, the network between them, and what they send."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.results import Timing
from hostnet.simulate import source_of
from hostnet.units import parse_time_ps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike

    import pyarrow as pa

    from hostnet.results import Source

    Progress = Callable[[dict[str, Any]], bool | None]


@dataclass(frozen=True)
class ClusterResults:
    """What a run of a cluster measured. Two runs of one configuration and seed are equal bit for bit."""

    native: _core.RunResult = field(repr=False)
    """The simulator's own results."""
    plan: _core.ClusterPlan = field(repr=False)
    """The resolved configuration."""
    source: Source = field(repr=False)
    """The configuration as it was given."""
    timing: Timing
    """When and how the run was made."""

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

    @cached_property
    def tables(self) -> Mapping[str, pa.Table]:
        """The Arrow tables by name: classes, flows, latencies, hosts, queues and what the servers have."""
        from hostnet.tables import build_table

        return {name: build_table(self.native, name) for name in self.native.table_names}

    @property
    def classes(self) -> dict[str, dict[str, Any]]:
        """The rows of table classes by the name of the class."""
        return {row["class"]: row for row in self.summary["classes"]}

    @property
    def hosts(self) -> dict[str, dict[str, Any]]:
        """The rows of table hosts by the name of the host."""
        return {row["host"]: row for row in self.summary["hosts"]}


def is_cluster(source: Source) -> bool:
    """Whether a configuration describes a cluster: whether it has a table of hosts."""
    return _core.is_cluster(source.text, format=source.format)


def resolve(source: Source, seed: int | None = None) -> _core.ClusterPlan:
    """Checks the configuration of a cluster.

    Raises:
        ConfigError: Something in it is wrong.
    """
    overrides = list(source.overrides)
    if seed is not None:
        if not 0 <= seed < 2**64:
            raise _core.ConfigError(f"seed: {seed} must be between 0 and 2^64 - 1")
        overrides.append(f"run.seed={seed}")
    return _core.cluster_plan(
        source.text, format=source.format, file=source.file, base_dir=source.base_dir, overrides=overrides
    )


def run_cluster(
    config: str | PathLike[str],
    *,
    seed: int | None = None,
    threads: int = 1,
    series: str | None = None,
    progress: Progress | None = None,
) -> ClusterResults:
    """Runs the cluster that a TOML or JSON file describes.

    Args:
        config: The path of the file.
        seed: Replaces the configuration's seed.
        threads: Threads to use; the results do not depend on it.
        series: The step at which time series are recorded, for example "10 us"; none if not given.
        progress: Called about ten times a second with a dict of simulated_ps, target_ps, events, phase and progress
            (0 to 1). If it returns False, the run stops and its results are not complete.

    Raises:
        ConfigError: The configuration or an argument is wrong.
        SimulationError: The run could not go on.
        OSError: The file cannot be read.
    """
    source = source_of(config)
    series_ps = 0 if series is None else parse_time_ps(series, "series")
    return run_plan(resolve(source, seed), source, threads=threads, series_ps=series_ps, progress=progress)


def run_plan(
    plan: _core.ClusterPlan,
    source: Source,
    *,
    threads: int = 1,
    series_ps: int = 0,
    checkpoint_at_ps: int = 0,
    checkpoint: bytes | None = None,
    progress: Progress | None = None,
) -> ClusterResults:
    """Runs a checked configuration; `run_cluster` without the checks."""
    if not 1 <= threads <= 1024:
        raise _core.ConfigError(f"threads: {threads} must be between 1 and 1024")
    started, began_s = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
    native = _core.run_cluster(
        plan,
        threads=threads,
        series_ps=series_ps,
        checkpoint_at_ps=checkpoint_at_ps,
        checkpoint=checkpoint,
        progress=progress,
    )
    wall_time_s = time.perf_counter() - began_s
    timing = Timing(started, wall_time_s, native.events / max(wall_time_s, 1e-9), threads)
    return ClusterResults(native, plan, source, timing)

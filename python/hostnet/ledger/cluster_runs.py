"""Runs several clusters or single servers in parallel."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet.ledger.composed_runs import Summary, run_composed, serialize
from hostnet.ledger.parallel import Job, Progress
from hostnet.ledger.repeats import repeated
from hostnet.running.results import Source
from hostnet.running.simulate import resolve, run_plan
from hostnet.units import parse_time_ps

if TYPE_CHECKING:
    from hostnet.running.results import Results

FLUID_WORK = 1 / 60
"""Cost of simulated time with a fluid memory model, relative to one that simulates every line."""

JOB_PS = 10**11
"""Estimated simulated time of jobs, in ps."""

TABLES = ("flows", "workloads", "domains", "caches", "control", "completions", "series", "power_series")
"""Tables that quantities are computed from and that are not in the summary of a run."""


def run_clusters(
    configs: Sequence[dict[str, Any]], base_dir: Path, threads: int, progress: Progress | None
) -> list[Summary]:
    """Runs configurations and returns their summaries, with the tables, in the same order; see `run_composed`.

    Raises:
        KeyboardInterrupt: The progress callback stopped the runs.
        ConfigError: One of the configurations is invalid.
        SimulationError: One of the runs failed.
    """
    return run_composed(configs, lambda config: job_of(config, base_dir), threads, progress)


def source_of(config: dict[str, Any], base_dir: Path) -> Source:
    """Returns the configuration without the keys that only the ledger reads."""
    return Source(serialize(config), "json", config["run"]["name"], str(base_dir))


def size_of(config: dict[str, Any]) -> int:
    """Returns the simulated time in ps, including the warm-up; an estimate for runs that last as long as their jobs."""
    if "until" in config["run"]:
        return JOB_PS
    return sum(parse_time_ps(config["run"][key], key) for key in ("warmup", "duration"))


def job_of(config: dict[str, Any], base_dir: Path) -> Job[Summary]:
    """Returns the job that runs a configuration and returns its summary with tables."""
    source = source_of(config, base_dir)
    plan, step = resolve(source), config["ledger"]["series"]
    series_ps = 0 if step is None else parse_time_ps(step, "series")

    def run(progress: Progress) -> Summary:
        results = run_plan(plan, source, series_ps=series_ps, progress=progress)
        if not results.complete:
            raise KeyboardInterrupt
        return {**summary_of(results), "again": [repeated(results, way) for way in config["ledger"]["again"]]}

    return Job(run, size_of(config), FLUID_WORK if is_fluid(config) else 1.0)


def is_fluid(config: dict[str, Any]) -> bool:
    """Returns True if a server has a fluid memory model."""
    return any(host.get("fidelity") == "fluid" for host in config.get("host", {}).values())


def summary_of(results: Results) -> Summary:
    """Returns the summary of a run with the rows of the tables that it lacks."""
    tables = results.tables
    return {**results.summary, **{name: tables[name].to_pylist() for name in TABLES if name in tables}}

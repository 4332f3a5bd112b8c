"""Runs of clusters, and of servers by themselves, several at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet.ledger.composed_runs import Summary, run_composed, text_of
from hostnet.ledger.pool import Job, Progress
from hostnet.ledger.repeats import repeated
from hostnet.running.results import Source
from hostnet.running.simulate import resolve, run_plan
from hostnet.units import parse_time_ps

if TYPE_CHECKING:
    from hostnet.running.results import Results

FLUID_WORK = 1 / 60
"""Work of simulated time with a memory of rates, beside that of one line by line."""

JOB_PS = 10**11
"""Simulated time that jobs may take."""

TABLES = ("flows", "workloads", "domains", "caches", "control", "completions", "series", "power_series")
"""Tables that quantities are computed from and that the summary of a run does not have."""


def run_clusters(
    configs: Sequence[dict[str, Any]], base_dir: Path, threads: int, progress: Progress | None
) -> list[Summary]:
    """Runs configurations and returns their summaries, with the tables, in the same order; see `run_composed`.

    Raises:
        KeyboardInterrupt: The progress callback stopped the runs.
        ConfigError: One of the configurations is wrong.
        SimulationError: One of the runs could not go on.
    """
    return run_composed(configs, lambda config: job_of(config, base_dir), threads, progress)


def source_of(config: dict[str, Any], base_dir: Path) -> Source:
    """The configuration without what only the ledger reads."""
    return Source(text_of(config), "json", config["run"]["name"], str(base_dir))


def size_of(config: dict[str, Any]) -> int:
    """Simulated time in ps, warm-up included; a guess for runs that are as long as their jobs."""
    if "until" in config["run"]:
        return JOB_PS
    return sum(parse_time_ps(config["run"][key], key) for key in ("warmup", "duration"))


def job_of(config: dict[str, Any], base_dir: Path) -> Job[Summary]:
    """A run, whose result is its summary with tables."""
    source = source_of(config, base_dir)
    plan, step = resolve(source), config["ledger"]["series"]
    series_ps = 0 if step is None else parse_time_ps(step, "series")

    def run(tell: Progress) -> Summary:
        results = run_plan(plan, source, series_ps=series_ps, progress=tell)
        if not results.complete:
            raise KeyboardInterrupt
        return {**summary_of(results), "again": [repeated(results, way) for way in config["ledger"]["again"]]}

    return Job(run, size_of(config), FLUID_WORK if is_fluid(config) else 1.0)


def is_fluid(config: dict[str, Any]) -> bool:
    """Whether the memory of its servers has rates."""
    return any(host.get("fidelity") == "fluid" for host in config.get("host", {}).values())


def summary_of(results: Results) -> Summary:
    """The summary of a run and the rows of the tables that it does not have."""
    tables = results.tables
    return {**results.summary, **{name: tables[name].to_pylist() for name in TABLES if name in tables}}

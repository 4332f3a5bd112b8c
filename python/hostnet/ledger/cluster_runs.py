"""Runs of clusters, and of servers by themselves, several at a time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet.ledger.pool import Job, Progress, run_jobs
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

Summary = dict[str, Any]

TABLES = ("flows", "workloads", "domains", "caches", "control", "completions", "series")
"""Tables that quantities are computed from and that the summary of a run does not have."""

MEASURE = "simulated_ps"
"""What grows up to the end of a run."""


def run_clusters(
    configs: Sequence[dict[str, Any]], base_dir: Path, threads: int, progress: Progress | None
) -> list[Summary]:
    """Runs configurations, those with most work first, and returns their summaries, with the tables, in the same order.

    Those that differ in their names alone are run once. The summary of a point that is skipped has the reason and
    nothing else.

    Raises:
        KeyboardInterrupt: The progress callback stopped the runs.
        ConfigError: One of the configurations is wrong.
        SimulationError: One of the runs could not go on.
    """
    places: dict[str, list[int]] = {}
    for place, config in enumerate(configs):
        if config["ledger"]["skip"] is None:
            places.setdefault(identity_of(config), []).append(place)
    jobs = sorted(
        ((same, job_of(configs[same[0]], base_dir)) for same in places.values()), key=lambda found: -found[1].work
    )
    done = run_jobs([job for _, job in jobs], MEASURE, "events", threads, progress)
    found = {place: summary for (same, _), summary in zip(jobs, done, strict=True) for place in same}
    return [
        {**found[place], "name": config["run"]["name"]} if place in found else {"skipped": config["ledger"]["skip"]}
        for place, config in enumerate(configs)
    ]


def identity_of(config: dict[str, Any]) -> str:
    """What is equal for runs that are the same but for their name."""
    run = {key: value for key, value in config["run"].items() if key != "name"}
    return json.dumps({**config, "run": run}, sort_keys=True)


def source_of(config: dict[str, Any], base_dir: Path) -> Source:
    """The configuration without what only the ledger reads."""
    text = json.dumps({key: value for key, value in config.items() if key != "ledger"})
    return Source(text, "json", config["run"]["name"], str(base_dir))


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

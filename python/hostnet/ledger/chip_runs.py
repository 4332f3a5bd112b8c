"""Runs several chips in parallel."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hostnet.chips import chip_plan, run_chip_plan
from hostnet.ledger.composed_runs import Summary, run_composed, serialize
from hostnet.ledger.parallel import Job, Progress
from hostnet.running.results import Source
from hostnet.units import parse_time_ps

IDLE_WORK = 1 / 50
"""Cost of simulated time of a chip with one busy core, relative to a fully busy chip."""

WINDOWS = 2
"""Minimum number of windows of a run."""


def run_chips(
    configs: Sequence[dict[str, Any]], base_dir: Path, threads: int, progress: Progress | None
) -> list[Summary]:
    """Runs configurations of chips and returns their summaries in the same order; see `run_composed`.

    Raises:
        KeyboardInterrupt: The progress callback stopped the runs.
        ConfigError: One of the configurations is invalid.
    """
    return run_composed(configs, lambda config: job_of(config, base_dir), threads, progress)


def job_of(config: dict[str, Any], base_dir: Path) -> Job[Summary]:
    """Returns the job that runs a configuration and returns its summary."""
    windowed = with_window(config)
    run = windowed["run"]
    plan = chip_plan(Source(serialize(windowed), "json", run["name"], str(base_dir)))
    size = parse_time_ps(run["warmup"], "warmup") + WINDOWS * parse_time_ps(run["window"], "window")

    def job(progress: Progress) -> Summary:
        results = run_chip_plan(plan, progress=progress)
        if not results.complete:
            raise KeyboardInterrupt
        return results.summary

    return Job(job, size, IDLE_WORK if config["workload"]["mode"] == "turns" else 1.0)


def with_window(config: dict[str, Any]) -> dict[str, Any]:
    """Uses the duration of the selection as the window, unless the point sets one."""
    run = {"window": config["run"].get("duration"), **config["run"]}
    return {**config, "run": {key: value for key, value in run.items() if key != "duration"}}

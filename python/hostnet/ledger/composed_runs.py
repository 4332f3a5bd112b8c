"""Runs configurations that are composed of fragments; equal ones only once."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from hostnet.ledger.parallel import Job, Progress, run_jobs

Summary = dict[str, Any]

MEASURE = "simulated_ps"
"""Status value that grows until the end of a run."""


def run_composed(
    configs: Sequence[dict[str, Any]],
    job_of: Callable[[dict[str, Any]], Job[Summary]],
    threads: int,
    progress: Progress | None,
) -> list[Summary]:
    """Runs configurations, the most expensive first, and returns their summaries in the same order.

    Configurations that differ only in their names are run once. The summary of a skipped point has only the reason.

    Raises:
        KeyboardInterrupt: The progress callback stopped the runs.
        ConfigError: One of the configurations is invalid.
        SimulationError: One of the runs failed.
    """
    places: dict[str, list[int]] = {}
    for place, config in enumerate(configs):
        if config["ledger"]["skip"] is None:
            places.setdefault(identity_of(config), []).append(place)
    jobs = sorted(((same, job_of(configs[same[0]])) for same in places.values()), key=lambda found: -found[1].work)
    done = run_jobs([job for _, job in jobs], MEASURE, "events", threads, progress)
    found = {place: summary for (same, _), summary in zip(jobs, done, strict=True) for place in same}
    return [
        {**found[place], "name": config["run"]["name"]} if place in found else {"skipped": config["ledger"]["skip"]}
        for place, config in enumerate(configs)
    ]


def identity_of(config: dict[str, Any]) -> str:
    """Returns a text that is equal for configurations that differ only in their name."""
    run = {key: value for key, value in config["run"].items() if key != "name"}
    return json.dumps({**config, "run": run}, sort_keys=True)


def serialize(config: dict[str, Any]) -> str:
    """Returns the configuration as JSON, without the keys that only the ledger reads."""
    return json.dumps({key: value for key, value in config.items() if key != "ledger"})

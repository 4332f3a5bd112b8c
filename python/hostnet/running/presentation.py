"""Results for readers: as the output of a notebook's cell, as plots, as a page, and explained."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet.report.load import RunFiles
from hostnet.running.results import server_config

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.explanation import Page
    from hostnet.report.notebook.plots import Plots
    from hostnet.running.results import Results
    from hostnet.terminal.progress import ProgressArgument


TABLES = (
    *("domains", "series", "flows", "power_series"),
    *("ranks", "timeline", "path_pieces", "latency_histogram"),
)
"""Tables that pages and plots read."""


def run_files(results: Results) -> RunFiles:
    """Returns the results as the files of a run directory that pages and plots read, without writing any."""
    tables: dict[str, Any] = {name: results.rows(name) for name in TABLES}
    return RunFiles(
        directory=results.directory or Path(results.plan.name),
        summary=results.summary,
        manifest={"config": json.loads(results.plan.effective_json())},
        **tables,
    )


def server_files(results: Results) -> dict[str, RunFiles]:
    """Returns the files of each server of a cluster that is simulated line by line, as if it had run alone."""
    if not results.plan.is_cluster:
        return {}
    from hostnet.explanation import explainable

    config = json.loads(results.plan.effective_json())
    domains = results.rows("domains")
    return {
        host: RunFiles(
            directory=Path(host),
            summary=results.servers[host].summary,
            manifest={"config": server_config(config, host)},
            domains=[row for row in domains if row["host"] == host],
        )
        for host in explainable(results)
    }


def notebook_output(results: Results) -> str:
    """Returns the output of a notebook's cell."""
    from hostnet.report.notebook.run import run_block

    return run_block(run_files(results), server_files(results), results.page)


def draw_plots(results: Results, names: Sequence[str]) -> Plots:
    """Draws the plots with these names, or all of them.

    Raises:
        ConfigError: There is no such plot.
    """
    from hostnet.report.notebook.plots import drawn
    from hostnet.report.plot import plots_of

    run = run_files(results)
    return drawn({name: partial(draw, run) for name, draw in plots_of(run).items()}, names)


def explain_with_steps(
    results: Results, host: str | None, *, confirm: bool, brief: bool, progress: ProgressArgument
) -> Page:
    """Explains a server of the results as `hostnet explain` does.

    Raises:
        ConfigError: There is no such server, or options contradict each other.
        SimulationError: A simulation of a change failed.
        KeyboardInterrupt: The progress callback stopped the simulations.
    """
    from hostnet.explanation import explain_results
    from hostnet.terminal.progress import follow

    with follow(progress) as callback:
        page = explain_results(results, host)
        return page if brief else page.with_steps(confirm=confirm, try_limits=True, progress=callback)

"""`hostnet run --compare alone`: runs every workload alone on the same server and compares it with the joint run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet._core import ConfigError
from hostnet.cli import show
from hostnet.cli.show_server import print_run
from hostnet.cli.show_storage import queues_of
from hostnet.terminal.progress import Watch
from hostnet.terminal.screen import flush_output

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rich.console import Console

    from hostnet._core import Plan
    from hostnet.running.results import Results

    Row = Mapping[str, Any]
    Parts = Mapping[str, Plan]
    """Plans of single workloads by name."""


def single_workload_plans(plan: Plan, base_dir: str) -> Parts:
    """Resolves every workload without the others.

    Raises:
        ConfigError: The configuration is a cluster, has a single workload, or one of its workloads cannot run alone.
    """
    if plan.is_cluster:
        raise ConfigError("wrong-kind", "--compare alone: parts the workloads of a single server; this is a cluster")
    config = json.loads(plan.effective_json())
    if len(config["workload"]) < 2:
        raise ConfigError("no-effect", "--compare alone: the server has one workload, which is alone already")
    # Pages that migrate are those of other workloads.
    names = [name for name, workload in config["workload"].items() if workload["kind"] != "tiering"]
    return {name: _single_workload_plan(config, name, base_dir) for name in names}


def print_with_alone(results: Results, path: Path, parts: Parts) -> None:
    """Prints a run, then runs its workloads alone and prints the comparison; the last line is the path of the run.

    Raises:
        KeyboardInterrupt: The workloads alone were stopped; the run and its path are printed.
    """
    print_run(results.summary, None, queues=queues_of(results.plan))
    flush_output()
    try:
        together = [row for row in results.summary["workloads"] if row["workload"] in parts]
        alone = _run_alone([parts[row["workload"]] for row in together])
        with show.buffered_console() as console:
            print_alone_table(console, together, alone)
    finally:
        with show.buffered_console() as console:
            show.print_path(console, path)


def _run_alone(plans: list[Plan]) -> list[dict[str, Any]]:
    """Runs the plans and returns the row of each workload.

    Raises:
        KeyboardInterrupt: The runs were stopped.
    """
    with Watch(show=True) as watch:
        watch.kept = "the run is kept, the comparison is not"
        runs = _core.run_many(plans, progress=watch)
    if watch.stopped:
        raise KeyboardInterrupt
    return [json.loads(run.summary_json)["workloads"][0] for run in runs]


def _single_workload_plan(config: dict[str, Any], name: str, base_dir: str) -> Plan:
    """Resolves one workload alone."""
    alone = {**config, "workload": {name: config["workload"][name]}}
    try:
        return _core.resolve(json.dumps(alone), format="json", file="<alone>", base_dir=base_dir)
    except ConfigError as error:
        raise error.reworded(f"--compare alone: the workload {name} cannot be alone: {error}") from None


def print_alone_table(console: Console, together: Sequence[Row], alone: Sequence[Row]) -> None:
    """Prints the table of workloads together and alone."""
    table = show.new_table(
        "workload", "GB/s together", "alone", "slowdown", "latency ns together", "alone", "longer", left=(0,)
    )
    for beside, single in zip(together, alone, strict=True):
        rates, times = (
            [row[column] for row in (beside, single)] for column in ("throughput_gb_per_s", "latency_mean_ns")
        )
        cells = [*map(show.number, rates), ratio_text(rates[1], rates[0]), *map(show.number, times), ratio_text(*times)]
        table.add_row(beside["workload"], *cells)
    show.print_tables(console, table)


def ratio_text(more: float | None, less: float | None) -> str:
    """Formats the ratio of two values."""
    return show.NOTHING if not less or more is None else f"{more / less:.2f} x"

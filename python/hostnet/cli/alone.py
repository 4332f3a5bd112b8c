"""What every workload of a run has alone, on the same server, beside what it has together with the others."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet._core import ConfigError
from hostnet.cli import show
from hostnet.terminal.progress import Watch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from hostnet._core import Plan
    from hostnet.running.results import Results

    Row = Mapping[str, Any]


def check_several(plan: Plan) -> None:
    """Refuses what has no workloads to part.

    Raises:
        ConfigError: It is a cluster, or a server with one workload.
    """
    if plan.is_cluster:
        raise ConfigError("--compare alone: parts the workloads of a single server; this is a cluster")
    if len(json.loads(plan.effective_json())["workload"]) < 2:
        raise ConfigError("--compare alone: the server has one workload, which is alone already")


def run_alone(results: Results) -> list[dict[str, Any]]:
    """The row of every workload, simulated without the others, in the order of the run.

    Raises:
        KeyboardInterrupt: It was stopped.
    """
    config = json.loads(results.plan.effective_json())
    plans = [_only(config, row["workload"], results.source.base_dir) for row in results.summary["workloads"]]
    with Watch(show=True, keeps=False) as watch:
        runs = _core.run_many(plans, progress=watch)
        watch.finish()
    if not all(run.complete for run in runs):
        raise KeyboardInterrupt
    return [json.loads(run.summary_json)["workloads"][0] for run in runs]


def _only(config: dict[str, Any], name: str, base_dir: str) -> Plan:
    alone = {**config, "workload": {name: config["workload"][name]}}
    return _core.resolve(json.dumps(alone), format="json", file="<alone>", base_dir=base_dir)


def print_alone(console: Console, together: Sequence[Row], alone: Sequence[Row]) -> None:
    """Prints what workloads have together and alone."""
    table = show.new_table(
        "workload", "GB/s together", "alone", "slowdown", "latency ns together", "alone", "longer", left=(0,)
    )
    for beside, single in zip(together, alone, strict=True):
        rates, times = (
            [row[column] for row in (beside, single)] for column in ("throughput_gb_per_s", "latency_mean_ns")
        )
        cells = [*map(show.number, rates), _times(rates[1], rates[0]), *map(show.number, times), _times(*times)]
        table.add_row(beside["workload"], *cells)
    show.print_tables(console, table)


def _times(more: float | None, less: float | None) -> str:
    """How many times one is the other."""
    return show.NOTHING if not less or more is None else f"{more / less:.2f} x"

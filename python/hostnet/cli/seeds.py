"""`hostnet run --seeds`: runs one configuration with several seeds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hostnet import rundir
from hostnet._core import ConfigError
from hostnet.cli.main import EXIT_INTERRUPTED
from hostnet.cli.run import publish
from hostnet.running import simulate
from hostnet.running.ranges import SEED_MAX
from hostnet.running.run_dir import write_run
from hostnet.running.seeds import combine_runs
from hostnet.terminal.progress import Watch
from hostnet.terminal.screen import echo, echo_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hostnet._core import Plan
    from hostnet.cli.request import Request
    from hostnet.running.results import Results, Source

    Row = dict[str, Any]


def run_seeds(request: Request, plan: Plan, source: Source) -> int:
    """Runs the plan with several seeds in parallel, writes a subfolder for each, and prints the means."""
    assert request.seeds is not None
    if plan.seed + request.seeds - 1 > SEED_MAX:
        raise ConfigError("out-of-range", f"--seeds {request.seeds}: seeds from {plan.seed} on exceed 2^64 - 1")
    plans = [(plan.with_seed(plan.seed + offset), source) for offset in range(request.seeds)]
    with Watch(show=not request.quiet) as watch:
        watch.pace.may_end_early = plan.forwards
        runs = simulate.run_plans(plans, threads=request.threads, series_ps=request.series_ps, progress=watch)
        watch.finish()
        combined = combine_runs(runs)
        path = publish(request, plan.name, lambda folder: write_seeds(request, runs, combined, folder))
    print_seeds(request, combined, path)
    return 0 if combined["complete"] else EXIT_INTERRUPTED


def write_seeds(request: Request, runs: Sequence[Results], combined: Row, folder: Path) -> None:
    """Writes a run directory per seed and the means over all of them into a folder."""
    for results in runs:
        run_dir = folder / f"seed-{results.plan.seed}"
        run_dir.mkdir()
        write_run(results, run_dir, csv=request.csv, report=not request.no_report)
    rundir.write_text(folder / "seeds.json", json.dumps(combined, indent=2, ensure_ascii=False))


def print_seeds(request: Request, combined: Row, path: Path) -> None:
    """Prints the means in the requested form."""
    if request.json:
        echo_json({"directory": str(path), **combined})
    elif request.quiet:
        echo(str(path))
    else:
        from hostnet.cli.show_seeds import print_means

        print_means(combined, path, brief=request.brief)

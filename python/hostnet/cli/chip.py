"""`hostnet run` for chips."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hostnet import _core, rundir
from hostnet._core import ConfigError
from hostnet.chips import chip_plan, run_chip_plan
from hostnet.cli import multi_process as shared
from hostnet.cli.main import EXIT_INTERRUPTED
from hostnet.terminal.progress import Watch
from hostnet.terminal.screen import echo, echo_json

if TYPE_CHECKING:
    from pathlib import Path

    from hostnet.chips import ChipResults
    from hostnet.cli.request import Request
    from hostnet.running.results import Source


def run_chip(request: Request, source: Source) -> int:
    """Runs the chip of a request and returns the exit code."""
    from hostnet.cli.run import lock_outputs, run_in_mpirun

    reject_options(request)
    plan = chip_plan(source, request.seed)
    check_rack(request, plan)
    if request.processes not in (None, 1) and shared.group() is None:
        return run_in_mpirun(request, plan)
    rundir.check_run_dir(request.out or rundir.fresh_path(rundir.RUNS, plan.name))
    with lock_outputs(request, plan):
        return _run_plan(request, plan, source)


def _run_plan(request: Request, plan: _core.ChipPlan, source: Source) -> int:
    """Runs the chip, writes the run directory, and prints the results."""
    from hostnet.cli.run import publish

    processes = shared.group()
    with Watch(show=not request.quiet and (processes is None or processes.rank == 0)) as watch:
        if processes is not None:
            shared.synchronize(request.shared_state(plan))
        with shared.synchronized_run():
            results = run_chip_plan(plan, threads=request.threads or 1, processes=processes, progress=watch)
        watch.finish()
        path = publish(request, plan.name, lambda folder: write_chip_run(results, plan, source, request, folder))
    if request.json:
        echo_json({"directory": str(path), **results.summary})
    elif request.quiet:
        echo(str(path))
    else:
        from hostnet.cli.show_chip import print_chip

        print_chip(results, path)
    return 0 if results.complete else EXIT_INTERRUPTED


def reject_options(request: Request) -> None:
    """Rejects options that do not apply to chips.

    Raises:
        ConfigError: Such an option is given.
    """
    unknown = "runs of chips have no such file"
    states = "runs of chips are short and keep no state"
    given = {
        "--seeds": (request.seeds, "runs of chips are repeated one by one: --seed"),
        "--csv": (request.csv or None, "a run of a chip has no tables besides summary.json"),
        "--series": (request.series, unknown),
        "--trace": (request.trace or None, unknown),
        "--trace-window": (request.trace_window, unknown),
        "--host": (request.host, "a chip has no hosts"),
        "--checkpoint-at": (request.checkpoint_at, states),
        "--checkpoint-every": (request.checkpoint_every, states),
        "--checkpoint": (request.checkpoint, states),
        "--from": (request.from_checkpoint, states),
        "--counters": (request.counters.form, "no machine has counters of this chip"),
        "--compare": (request.compare, "there is no prediction for chips"),
        "--pcap": (request.pcap.file, "what leaves a chip is no packet of a protocol"),
    }
    for option, (value, reason) in given.items():
        if value is not None:
            raise ConfigError("wrong-kind", f"{option}: {request.file} describes a chip; {reason}")


def check_rack(request: Request, plan: _core.ChipPlan) -> None:
    """Rejects threads and processes for a single chip, and more processes than a rack has chips.

    Raises:
        ConfigError: Such an option is given.
    """
    if plan.chips == 1:
        alone = 'a chip with its mirror is simulated by one thread of one process; rack.kind = "torus" has more'
        for option, given in {"--threads": request.threads, "--processes": request.processes}.items():
            if given is not None:
                raise ConfigError("wrong-kind", f"{option}: {request.file} describes a chip; {alone}")
    shared.check_count(request, plan.chips, "every chip is one")


def write_chip_run(results: ChipResults, plan: _core.ChipPlan, source: Source, request: Request, folder: Path) -> None:
    """Writes the files of a run into an empty folder."""
    processes = shared.group()
    rundir.write_text(folder / "summary.json", results.native.summary_json)
    rundir.write_text(folder / f"config.{source.format}", source.text)
    manifest = {
        "format": 1,
        "name": plan.name,
        "version": _core.version(),
        "seed": plan.seed,
        "complete": results.complete,
        "config_hash": plan.hash,
        "result_hash": results.result_hash,
        "wall_time_s": round(results.wall_s, 3),
        "cycles": results.native.cycles,
        "threads": request.threads or 1,
        "processes": 1 if processes is None else processes.ranks,
        **({} if processes is None else {"shares": processes.effort.shares(results.wall_s).as_dict()}),
        "machine": rundir.machine(),
        "overrides": list(source.overrides),
        "config": json.loads(plan.effective_json()),
    }
    rundir.write_text(folder / "manifest.json", json.dumps(manifest, indent=2, ensure_ascii=False))
    if not request.no_report:
        from hostnet.report.chip_page import chip_page

        rundir.write_text(folder / "report.html", chip_page(results.summary))

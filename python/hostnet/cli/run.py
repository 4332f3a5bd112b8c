"""`hostnet run`: runs a configuration, writes the run directory and prints the tables."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet import rundir
from hostnet._core import is_chip
from hostnet.cli import counters
from hostnet.cli import multi_process as shared
from hostnet.cli.checkpoint import check_checkpoint, checkpoint_folder, continued
from hostnet.cli.main import EXIT_INTERRUPTED, EXIT_USAGE, error_line
from hostnet.files import write_file
from hostnet.running import simulate
from hostnet.running.capture import SNAPLEN, Capture, captured_host
from hostnet.running.records import RecordsFolder, last_checkpoint
from hostnet.running.results import named_server
from hostnet.running.run_dir import write_run
from hostnet.running.skipped import skipped_share
from hostnet.terminal.progress import Watch
from hostnet.terminal.screen import echo, echo_error, echo_json
from hostnet.units import format_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hostnet._core import ChipPlan, Plan
    from hostnet.cli.request import Request
    from hostnet.cli.single_workloads import Parts
    from hostnet.running.results import Results, Source


def run_command(request: Request) -> int:
    """Runs the configuration of a request and returns the exit code."""
    request.check()
    source = simulate.source_of(request.file, request.overrides)
    if is_chip(source.text, source.format):
        from hostnet.cli.chip import run_chip

        return run_chip(request, source)
    plan = simulate.resolve(source, request.seed)
    if request.compare == "predict":
        plan.check_predictable()
    shared.check_shared(request, plan)
    if request.processes not in (None, 1) and shared.group() is None:
        return run_in_mpirun(request, plan)
    parts = _parts(request, plan, source)
    rundir.check_run_dir(request.out or rundir.fresh_path(rundir.RUNS, plan.name))
    with lock_outputs(request, plan):
        if request.seeds is not None:
            from hostnet.cli.seeds import run_seeds

            return run_seeds(request, plan, source)
        return _run_one(request, plan, source, parts)


@contextmanager
def lock_outputs(request: Request, plan: Plan | ChipPlan) -> Iterator[None]:
    """Locks the paths that the request writes to while the body runs, in the process that writes.

    Raises:
        ConfigError: Another run writes there, or a folder of checkpoints belongs to another run.
        OSError: A path cannot be written.
    """
    processes = shared.group()
    with ExitStack() as places:
        if processes is None or processes.rank == 0:
            if request.out is not None:
                places.enter_context(rundir.lock_run_dir(request.out))
            if request.checkpoint_every is not None:
                folder = RecordsFolder(checkpoint_folder(request, plan))
                places.enter_context(folder.locked(request.from_checkpoint))
        yield


def run_in_mpirun(request: Request, plan: Plan | ChipPlan) -> int:
    """Starts the requested processes; if one of them dies, says how to continue."""
    from hostnet.processes.launch import launch

    assert request.processes is not None
    code, dead = launch(request.processes, sys.argv[1:])
    if dead is None:
        return code
    which = "a process" if dead < 0 else f"process {dead} of {request.processes}"
    last = None
    if request.checkpoint_every is not None:
        folder = checkpoint_folder(request, plan)
        last = last_checkpoint(folder) if folder.is_dir() else None
    kept = (
        "there is no checkpoint" if last is None else f"the last checkpoint is {last}; go on with --from {last.parent}"
    )
    echo_error(error_line("cluster-failed", f"{which} has died, and the others were ended; {kept}"))
    return code


def publish(request: Request, name: str, fill: Callable[[Path], None]) -> Path:
    """Writes the run directory at the requested path and returns that path."""
    if request.out is not None:
        return rundir.publish(request.out, fill)
    return rundir.publish_fresh(rundir.RUNS, name, fill)


def _parts(request: Request, plan: Plan, source: Source) -> Parts | None:
    """Resolves the workloads that are run alone, before the run begins."""
    if request.compare != "alone":
        return None
    from hostnet.cli.single_workloads import single_workload_plans

    return single_workload_plans(plan, source.base_dir)


def _run_one(request: Request, plan: Plan, source: Source, parts: Parts | None) -> int:
    """Runs a single seed, writes the run directory and prints the results."""
    counters.check_length(plan, request.counters)
    check_checkpoint(request, plan)
    if request.counters.form is not None or request.trace:
        named_server(plan, request.host, "--host")
    capture = _capture(plan, request)
    processes = shared.group()
    shows = not request.quiet and (processes is None or processes.rank == 0)
    with continued(request.from_checkpoint) as (before, records), Watch(show=shows) as watch:
        watch.pace.may_end_early = plan.forwards
        if processes is not None:
            shared.synchronize(request.shared_state(plan))
            shared.warn_of_crowding()
        with shared.synchronized_run():
            results = simulate.run_plan(
                plan,
                source,
                threads=request.threads or 1,
                series_ps=request.series_ps,
                counters_ps=request.counters.interval_ps,
                checkpoint_at_ps=request.checkpoint_at_ps,
                checkpoint_every_ps=request.checkpoint_every_ps,
                trace_ps=request.trace_ps,
                host=request.host,
                checkpoint=before,
                records=records,
                on_checkpoint=_checkpoint_writer(request, plan),
                capture=capture,
                processes=processes,
                progress=watch,
            )
        watch.finish()
        path = publish(request, plan.name, lambda folder: _fill(request, results, folder))
        counters.write_to_path(results, request.counters)
    _print_results(request, results, path, parts)
    return _exit_code(request, results)


def _capture(plan: Plan, request: Request) -> Capture | None:
    """Returns the requested capture, checked before the run begins."""
    options = request.pcap
    if options.file is None:
        return None
    rundir.check_file(options.file)
    snaplen = SNAPLEN if options.snaplen is None else options.snaplen
    capture = Capture(options.file, options.host, snaplen, ("--pcap", "--pcap-host", "--pcap-snaplen"))
    captured_host(plan, capture)
    return capture


def _checkpoint_writer(request: Request, plan: Plan) -> Callable[[str | None, int, bytes], None]:
    """Returns the function that writes each checkpoint."""
    if request.checkpoint_every is not None:
        return RecordsFolder(checkpoint_folder(request, plan)).write
    path = request.checkpoint
    assert path is not None or request.checkpoint_at is None

    def keep(_name: str | None, _at_ps: int, content: bytes) -> None:
        if path is not None:
            write_file(path, content)

    return keep


def _fill(request: Request, results: Results, folder: Path) -> None:
    """Writes the run directory."""
    write_run(results, folder, csv=request.csv, report=not request.no_report)
    counters.write_to_run_dir(results, request.counters, folder)


def _print_results(request: Request, results: Results, path: Path, parts: Parts | None) -> None:
    """Prints the results in the requested form."""
    if request.json:
        echo_json({"directory": str(path), **results.summary})
    elif request.quiet:
        echo(str(path))
    elif request.brief:
        from hostnet.cli.show_brief import print_brief

        print_brief(results.summary, path)
    elif results.plan.is_cluster:
        from hostnet.cli.show_cluster import print_cluster

        print_cluster(results, path)
    elif parts is not None and results.complete:
        from hostnet.cli.single_workloads import print_with_alone

        print_with_alone(results, path, parts)
    else:
        from hostnet.cli.show_server import print_run
        from hostnet.cli.show_storage import queues_of

        print_run(results.summary, path, _predicted(request, results), queues_of(results.plan))


def _predicted(request: Request, results: Results) -> dict[str, Any] | None:
    """Returns the prediction to compare with, if requested."""
    if request.compare != "predict":
        return None
    return simulate.predict_plan(results.plan, results.source).summary


def _exit_code(request: Request, results: Results) -> int:
    """Returns the exit code of a run."""
    if not results.complete:
        return EXIT_INTERRUPTED
    if request.checkpoint_at is not None and results.checkpoint is None:
        run = "the run, of which run.forward skipped a part," if skipped_share(results.summary) else "the run"
        ended = f"{run} ended at {format_time(results.native.simulated_ps)}"
        message = f"--checkpoint-at {request.checkpoint_at}: {ended}; no checkpoint was written"
        echo_error(error_line("out-of-range", message))
        return EXIT_USAGE
    return 0

"""`hostnet run`: from the file to the run directory and the tables on the screen."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet import rundir
from hostnet._core import is_chip
from hostnet.cli import counters
from hostnet.cli import together as shared
from hostnet.cli.checkpoint import check_checkpoint, checkpoint_folder, continued
from hostnet.cli.main import EXIT_INTERRUPTED, EXIT_USAGE, error_line
from hostnet.files import write_file
from hostnet.running import simulate
from hostnet.running.capture import SNAPLEN, Capture, captured_host
from hostnet.running.records import RecordsFolder, last_checkpoint
from hostnet.running.results import named_server
from hostnet.terminal.progress import Watch
from hostnet.terminal.screen import complain, say, say_json
from hostnet.units import format_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hostnet._core import ChipPlan, Plan
    from hostnet.cli.alone import Parts
    from hostnet.cli.request import Request
    from hostnet.running.results import Results, Source

RUNS = Path("runs")
"""Where run directories go unless `--out` says otherwise."""


def run_command(request: Request) -> int:
    """Does what the request says and returns the exit code."""
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
        return in_processes(request, plan)
    parts = _parts(request, plan, source)
    rundir.check_place(request.out or rundir.fresh_path(RUNS, plan.name))
    with owned_places(request, plan):
        if request.seeds is not None:
            from hostnet.cli.seeds import run_seeds

            return run_seeds(request, plan, source)
        return _run_one(request, plan, source, parts)


@contextmanager
def owned_places(request: Request, plan: Plan | ChipPlan) -> Iterator[None]:
    """Locks the places that the request names while the body runs, in the process that writes.

    Raises:
        ConfigError: Another run writes there, or a folder of checkpoints holds those of another run.
        OSError: A place cannot be written.
    """
    processes = shared.group()
    with ExitStack() as places:
        if processes is None or processes.rank == 0:
            if request.out is not None:
                places.enter_context(rundir.owned_place(request.out))
            if request.checkpoint_every is not None:
                folder = RecordsFolder(checkpoint_folder(request, plan))
                places.enter_context(folder.owned(request.from_checkpoint))
        yield


def in_processes(request: Request, plan: Plan | ChipPlan) -> int:
    """Starts the processes that the request wants, and says how to go on when one of them has died."""
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
    complain(error_line("cluster-failed", f"{which} has died, and the others were ended; {kept}"))
    return code


def publish(request: Request, name: str, fill: Callable[[Path], None]) -> Path:
    """Writes the run directory where the request wants it and returns its path."""
    if request.out is not None:
        return rundir.publish(request.out, fill)
    return rundir.publish_fresh(RUNS, name, fill)


def _parts(request: Request, plan: Plan, source: Source) -> Parts | None:
    """What is compared with the run, checked before it begins."""
    if request.compare != "alone":
        return None
    from hostnet.cli.alone import parts_of

    return parts_of(plan, source.base_dir)


def _run_one(request: Request, plan: Plan, source: Source, parts: Parts | None) -> int:
    counters.check_length(plan, request.counters)
    check_checkpoint(request, plan)
    if request.counters.form is not None or request.trace:
        named_server(plan, request.host, "--host")
    capture = _capture(plan, request)
    processes = shared.group()
    shows = not request.quiet and (processes is None or processes.rank == 0)
    with continued(request.from_checkpoint) as (before, records), Watch(show=shows) as watch:
        if processes is not None:
            shared.ready(request.in_common(plan))
        with shared.running():
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
                on_checkpoint=_keeper(request, plan),
                capture=capture,
                processes=processes,
                progress=watch,
            )
        watch.finish()
        path = publish(request, plan.name, lambda place: _fill(request, results, place))
        counters.write_aside(results, request.counters)
    _print_results(request, results, path, parts)
    return _exit_code(request, results)


def _capture(plan: Plan, request: Request) -> Capture | None:
    """The capture that is asked for, checked before the run begins."""
    options = request.pcap
    if options.file is None:
        return None
    rundir.check_file(options.file)
    snaplen = SNAPLEN if options.snaplen is None else options.snaplen
    capture = Capture(options.file, options.host, snaplen, ("--pcap", "--pcap-host", "--pcap-snaplen"))
    captured_host(plan, capture)
    return capture


def _keeper(request: Request, plan: Plan) -> Callable[[str | None, int, bytes], None]:
    """What writes a checkpoint as soon as its time has come."""
    if request.checkpoint_every is not None:
        return RecordsFolder(checkpoint_folder(request, plan)).write
    path = request.checkpoint
    assert path is not None or request.checkpoint_at is None

    def keep(_name: str | None, _at_ps: int, content: bytes) -> None:
        if path is not None:
            write_file(path, content)

    return keep


def _fill(request: Request, results: Results, place: Path) -> None:
    rundir.write_run(results, place, csv=request.csv)
    counters.write_inside(results, request.counters, place)


def _print_results(request: Request, results: Results, path: Path, parts: Parts | None) -> None:
    if request.json:
        say_json({"directory": str(path), **results.summary})
    elif request.quiet:
        say(str(path))
    elif request.brief:
        from hostnet.cli.show_brief import print_brief

        print_brief(results.summary, path)
    elif results.plan.is_cluster:
        from hostnet.cli.show_cluster import print_cluster

        print_cluster(results, path)
    elif parts is not None and results.complete:
        from hostnet.cli.alone import print_beside

        print_beside(results, path, parts)
    else:
        from hostnet.cli.show import print_run
        from hostnet.cli.show_storage import queues_of

        print_run(results.summary, path, _predicted(request, results), queues_of(results.plan))


def _predicted(request: Request, results: Results) -> dict[str, Any] | None:
    if request.compare != "predict":
        return None
    return simulate.predict_plan(results.plan, results.source).summary


def _exit_code(request: Request, results: Results) -> int:
    if not results.complete:
        return EXIT_INTERRUPTED
    if request.checkpoint_at is not None and results.checkpoint is None:
        ended = format_time(results.native.simulated_ps)
        message = f"--checkpoint-at {request.checkpoint_at}: the run ended at {ended}; no checkpoint was written"
        complain(error_line("out-of-range", message))
        return EXIT_USAGE
    return 0

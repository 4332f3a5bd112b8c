"""`hostnet sweep`: computes the points, writes the directory and prints the table."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet._core import SimulationError
from hostnet.cli.main import EXIT_INTERRUPTED
from hostnet.files import read_table
from hostnet.rundir import RUNS, fresh_path
from hostnet.sweeps.api import check_sweep_dir, executor, prepare
from hostnet.sweeps.execution import run_sweep
from hostnet.sweeps.job import ClusterError
from hostnet.terminal.progress import Watch
from hostnet.terminal.screen import echo, echo_error, echo_json

if TYPE_CHECKING:
    from hostnet.cli.sweep_request import SweepRequest
    from hostnet.sweeps.job import Job


def sweep_command(request: SweepRequest) -> int:
    """Computes the sweep of a request and returns the exit code."""
    request.check()
    if request.out is not None:
        check_sweep_dir(request.out, resume=request.resume)
    job = _prepare(request)
    if job is None:
        return EXIT_INTERRUPTED
    with executor(job, request.jobs, request.dask) as execute, _watch(request, "what is done is kept") as watch:
        path = request.out or _create_fresh_dir(job.checked.name)
        try:
            manifest = run_sweep(job, path, execute, resume=request.resume or request.out is None, progress=watch)
        except KeyboardInterrupt:
            _print_resume_command(path)
            return EXIT_INTERRUPTED
        except (SimulationError, ClusterError) as error:
            raise error.reworded(f"{error}; what is done is kept in {path}, see --resume") from None
    _print(request, manifest, path)
    return 0


def _prepare(request: SweepRequest) -> Job | None:
    """Checks all points; None if Ctrl-C interrupted it."""
    with _watch(request, "nothing has been computed yet") as watch:
        try:
            return prepare(request.file, request.over, request.overrides, request.seeds, request.engine, watch)
        except KeyboardInterrupt:
            return None


def _watch(request: SweepRequest, kept: str) -> Watch:
    """Creates the progress display; `kept` describes what remains after an interruption."""
    watch = Watch(show=not request.quiet)
    watch.kept = kept
    return watch


def _create_fresh_dir(name: str) -> Path:
    """Creates the first free directory. Two sweeps never get the same one."""
    while True:
        path = fresh_path(RUNS, f"{name}-sweep")
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            continue
        return path


def _print_resume_command(path: Path) -> None:
    """Prints the command that continues the sweep."""
    echo_error(f"hostnet: stopped; continue with the same command and --resume --out {shlex.quote(str(path))}")


def _print(request: SweepRequest, manifest: dict[str, Any], path: Path) -> None:
    """Prints the sweep in the requested form."""
    if request.json:
        rows = read_table(path / "sweep.parquet").to_pylist()
        more = [name for name in manifest["tables"] if "/" in name]
        results = {Path(name).stem: read_table(path / name).to_pylist() for name in more}
        echo_json({"directory": str(path), **manifest, "workloads": rows, "results": results})
    elif request.quiet:
        echo(str(path))
    else:
        from hostnet.cli.show_sweep import print_sweep

        print_sweep(manifest, path)

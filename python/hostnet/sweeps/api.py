"""The function `hostnet.sweep` and its results."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.processes.usable import usable_processors
from hostnet.running import simulate
from hostnet.running.ranges import SEEDS_MAX, check_range
from hostnet.tables import TableMethods
from hostnet.terminal.progress import follow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    import pyarrow as pa

    from hostnet.report.notebook.plots import Plots
    from hostnet.running.simulate import AnyConfig
    from hostnet.sweeps.execution import Executor
    from hostnet.sweeps.job import Job
    from hostnet.terminal.progress import Progress, ProgressArgument

JOBS_MAX = 1024
"""Maximum number of points computed at a time."""


@dataclass(frozen=True, repr=False)
class SweepResults(TableMethods):
    """Results of a sweep."""

    manifest: dict[str, Any]
    """Content of sweep.json."""
    table: pa.Table
    """A row per point and workload: swept values, the columns of the table `workloads`, and memory totals."""
    domains: pa.Table
    """A row per point and domain of the whole server."""
    tables: dict[str, pa.Table]
    """All result tables by name, with the swept values at the start of every row."""
    directory: Path | None
    """Directory of tables and plots; None if none was requested."""

    @property
    def notes(self) -> list[str]:
        """Notes on the validity of the results."""
        return list(self.manifest["notes"])

    def __repr__(self) -> str:
        """Returns the swept parameters in one line."""
        from hostnet.sweeps.outcome import headline

        return f"<SweepResults {headline(self.manifest)}>"

    def _repr_html_(self) -> str:
        """Returns what a notebook shows: the plots, the first rows of the table, and notes."""
        from hostnet.sweeps.presentation import notebook_output

        return notebook_output(self)

    def plot(self, *names: str) -> Plots:
        """Returns the plots that a sweep writes, or those with these names; a notebook shows them.

        Raises:
            ConfigError: There is no such plot.
        """
        from hostnet.sweeps.presentation import draw_plots

        return draw_plots(self, names)

    def report(self, out: str | PathLike[str] | None = None) -> Path:
        """Returns the path of the page of the sweep, and opens nothing.

        The page is in the directory of the sweep. Without one, or in another folder `out`, the page is written alone.

        Raises:
            FileExistsError: `out` exists and is not empty.
            OSError: The folder cannot be written.
        """
        from hostnet.sweeps.presentation import write_page

        return write_page(self, out)


def sweep(
    config: AnyConfig,
    over: Mapping[str, Sequence[Any]] | Sequence[str],
    *,
    overrides: Sequence[str] = (),
    seeds: int | None = None,
    engine: str = "run",
    jobs: int | None = None,
    out: str | PathLike[str] | None = None,
    resume: bool = False,
    dask: str | PathLike[str] | None = None,
    progress: ProgressArgument = None,
) -> SweepResults:
    """Computes a configuration for every combination of parameter values.

    All points are checked before the first one is computed.

    Args:
        config: Configuration as for `hostnet.run`.
        over: Values of each parameter by its dotted path, or texts as after `--over` on the command line. The first
            parameter varies slowest.
        overrides: Assignments "path.to.key=value" that apply to every point.
        seeds: Number of seeds for every combination.
        engine: "run" simulates, "predict" predicts.
        jobs: Points at a time, 1 to 1024; by default the number of cores. The results do not depend on it.
        out: Directory for tables and plots, which must not exist. Without it, nothing is kept on disk.
        resume: True to continue the sweep in `out`, if there is one.
        dask: Address or scheduler file of a Dask cluster that computes the points.
        progress: As for `hostnet.run`, with a dict of what, done, total and progress (0 to 1). If the function returns
            False, the sweep stops.

    Raises:
        ConfigError: An argument is invalid, and nothing was computed; or no parameter changed any result.
        SimulationError: One of the runs failed; finished points are kept in `out`.
        KeyboardInterrupt: `progress` stopped the sweep; finished points are kept in `out`.
        OSError: A file or directory cannot be read or written, or the Dask cluster does not answer.
    """
    import tempfile

    from hostnet.sweeps.execution import run_sweep

    if resume and out is None:
        raise ConfigError("requires-key", "resume: name the directory with out")
    place = None if out is None else Path(out)
    if place is not None:
        check_sweep_dir(place, resume=resume)
    with follow(progress) as callback:
        job = prepare(config, over, overrides, seeds, engine, callback)
        with executor(job, jobs, dask) as execute:
            if place is not None:
                return load(run_sweep(job, place, execute, resume=resume, progress=callback), place, place)
            with tempfile.TemporaryDirectory(prefix="hostnet-") as folder:
                own = Path(folder)
                return load(run_sweep(job, own, execute, resume=True, plots=False, progress=callback), own, None)


def check_sweep_dir(path: Path, *, resume: bool) -> None:
    """Checks that a sweep can start or continue in a directory, before anything is computed.

    Raises:
        ConfigError: The directory is not that of a sweep.
        OSError: The directory exists already, or cannot be written.
    """
    from hostnet.sweeps.sweep_dir import check_free, check_resumable

    if resume and path.exists():
        check_resumable(path)
    else:
        check_free(path)


def prepare(
    config: AnyConfig,
    over: Mapping[str, Sequence[Any]] | Sequence[str],
    overrides: Sequence[str],
    seeds: int | None,
    engine: str,
    progress: Progress | None,
) -> Job:
    """Checks a sweep with all its points.

    Raises:
        ConfigError: An argument or a point is invalid.
        KeyboardInterrupt: `progress` stopped the check.
        OSError: The configuration cannot be read.
    """
    from hostnet.running.engines import check_engine
    from hostnet.sweeps.axis import axes_of
    from hostnet.sweeps.check import check, resolve
    from hostnet.sweeps.chips import is_chip
    from hostnet.sweeps.grid import Grid
    from hostnet.sweeps.job import Job

    check_engine(engine)
    check_range("--seeds", seeds, SEEDS_MAX)
    grid = Grid(simulate.source_of(config, overrides), axes_of(over))
    if engine == "predict" and is_chip(grid.source):
        raise ConfigError("not-supported", "--engine predict: there is no prediction for chips; leave it out")
    if seeds is not None:
        if engine == "predict":
            raise ConfigError("no-effect", "--seeds: a prediction does not depend on the seed; leave it out")
        grid = grid.with_seeds(resolve(grid, 0).seed, seeds)
    return Job(grid, check(grid, progress, engine), engine)


@contextmanager
def executor(job: Job, jobs: int | None, dask: str | PathLike[str] | None) -> Iterator[Executor]:
    """Yields the function that computes points: on the threads of this machine, or on a Dask cluster.

    Raises:
        ConfigError: The number of threads is out of range, or Dask is not installed.
        OSError: The cluster does not answer.
    """
    check_range("--jobs", jobs, JOBS_MAX)
    if dask is None:
        from hostnet.sweeps.local import compute_locally

        yield lambda points, keep, report: compute_locally(job, points, jobs or usable_processors(), keep, report)
        return
    if jobs is not None:
        raise ConfigError(
            "conflicting-keys", "--jobs: the workers of the Dask cluster say how many points they take; leave it out"
        )
    from hostnet.sweeps.remote import connect

    with connect(os.fspath(dask)) as cluster:
        yield lambda points, keep, report: cluster.compute(job, points, keep, report)


def load(manifest: dict[str, Any], folder: Path, directory: Path | None) -> SweepResults:
    """Reads the tables of a sweep."""
    import pyarrow.parquet as pq

    table, domains = (pq.read_table(folder / f"{name}.parquet", memory_map=False) for name in ("sweep", "domains"))
    more = {Path(name).stem: folder / name for name in manifest["tables"] if "/" in name}
    tables = {name: pq.read_table(file, memory_map=False) for name, file in more.items()}
    return SweepResults(manifest, table, domains, tables, directory)

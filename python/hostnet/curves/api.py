"""The function `hostnet.curve`."""

from __future__ import annotations

from os import fspath
from typing import TYPE_CHECKING, Literal, overload

from hostnet._core import ConfigError
from hostnet.curves.matrix import measure_matrix
from hostnet.curves.points import POINTS, Setting, measure, parse_reads
from hostnet.curves.results import CurveResults, MatrixResults
from hostnet.presets import load_server
from hostnet.running.engines import check_engine
from hostnet.terminal.progress import follow

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from hostnet.terminal.progress import ProgressArgument

READS = "100,67,50"
"""Default shares of reads in the memory traffic, in percent."""

PROBE = "sequential"
"""Default access pattern of the probe core."""


@overload
def curve(
    server: str | PathLike[str],
    *,
    reads: str | Sequence[float] = READS,
    points: int | None = None,
    cores: int | None = None,
    probe: str = PROBE,
    engine: str = "run",
    threads: int | None = None,
    out: str | PathLike[str] | None = None,
    matrix: Literal[False] = False,
    progress: ProgressArgument = None,
) -> CurveResults: ...


@overload
def curve(
    server: str | PathLike[str],
    *,
    threads: int | None = None,
    out: str | PathLike[str] | None = None,
    matrix: Literal[True],
    progress: ProgressArgument = None,
) -> MatrixResults: ...


def curve(
    server: str | PathLike[str],
    *,
    reads: str | Sequence[float] = READS,
    points: int | None = None,
    cores: int | None = None,
    probe: str = PROBE,
    engine: str = "run",
    threads: int | None = None,
    out: str | PathLike[str] | None = None,
    matrix: bool = False,
    progress: ProgressArgument = None,
) -> CurveResults | MatrixResults:
    """Measures read latency over memory bandwidth, like Intel MLC.

    One core measures the latency while the other cores stream with an increasing delay between their accesses.

    Args:
        server: A preset, or the path of a configuration, whose workloads are ignored.
        reads: Shares of reads in the memory traffic in percent, 50 to 100: a curve for each.
        points: Points per curve, 2 to 1000; by default 14.
        cores: Cores that load the memory; by default all but the probe core.
        probe: Access pattern of the probe core, "sequential" or "random".
        engine: "run" simulates, "predict" predicts.
        threads: Runs at a time; by default the number of cores. The results do not depend on it.
        out: Folder for the files of `hostnet curve`, which must not exist; by default, none are written.
        matrix: True to measure latency and bandwidth between all nodes, or CCDs and nodes, instead.
        progress: As for `hostnet.run_many`.

    Raises:
        ConfigError: An argument is invalid.
        KeyboardInterrupt: `progress` stopped the measurement.
        OSError: A file cannot be read or written.
    """
    check_engine(engine)
    if matrix:
        reject_options_of_curves(reads=reads, points=points, cores=cores, probe=probe, engine=engine)
        return _matrix(server, threads, out, progress)
    text = reads if isinstance(reads, str) else ",".join(f"{percent:g}" for percent in reads)
    shares = parse_reads(text)
    file = load_server(fspath(server))
    setting = Setting(file, shares, POINTS if points is None else points, cores, probe, engine, threads)
    with follow(progress) as callback:
        found = CurveResults(setting, tuple(measure(setting, callback)))
    if out is not None:
        found.save(out)
    return found


def _matrix(
    server: str | PathLike[str], threads: int | None, out: str | PathLike[str] | None, progress: ProgressArgument
) -> MatrixResults:
    """Measures latency and bandwidth between all nodes."""
    file = load_server(fspath(server))
    with follow(progress) as callback:
        found = MatrixResults(file, tuple(measure_matrix(file, threads, callback)))
    if out is not None:
        found.save(out)
    return found


def reject_options_of_curves(
    *, reads: str | Sequence[float], points: int | None, cores: int | None, probe: str, engine: str
) -> None:
    """Rejects options of curves together with `matrix`.

    Raises:
        ConfigError: One of them differs from its default.
    """
    given = {
        "--points": points is not None,
        "--cores": cores is not None,
        "--engine predict": engine == "predict",
        "--reads": reads != READS,
        "--probe": probe != PROBE,
    }
    for name, is_given in given.items():
        if is_given:
            raise ConfigError(
                "conflicting-keys", f"--matrix: cannot be used with {name}, which is of curves; leave one of them out"
            )

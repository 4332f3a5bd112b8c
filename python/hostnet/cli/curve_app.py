"""The command `hostnet curve`: measures latency under load."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from hostnet.cli.declare import Engine, ParallelRuns, json_option
from hostnet.terminal.screen import echo

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hostnet.curves import Pair, Point, Setting
    from hostnet.presets import ServerFile
    from hostnet.terminal.progress import Watch

Found = TypeVar("Found")


def register(app: typer.Typer) -> None:
    """Registers the command."""
    app.command()(curve)


def curve(
    server: Annotated[
        str, typer.Argument(metavar="SERVER", help="Preset or configuration file; its workloads are ignored.")
    ],
    reads: Annotated[
        str, typer.Option(metavar="PERCENT,...", help="Shares of reads in the memory traffic.")
    ] = "100,67,50",
    points: Annotated[int | None, typer.Option(metavar="N", help="Points per curve.", show_default="14")] = None,
    cores: Annotated[
        int | None,
        typer.Option(metavar="N", help="Cores that load the memory.", show_default="all but the probe core"),
    ] = None,
    probe: Annotated[
        str, typer.Option(metavar="ORDER", help="Access pattern of the probe core: sequential or random.")
    ] = "sequential",
    engine: Engine = "run",
    threads: ParallelRuns = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for the results.", show_default="runs/<server>-curve-<n>"),
    ] = None,
    json: Annotated[bool, json_option("Print curve.json instead of the tables.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Also write the table as a CSV file.")] = False,
    matrix: Annotated[
        bool,
        typer.Option(
            "--matrix",
            help="Measure latency and bandwidth between all nodes, or CCDs and nodes, instead.",
        ),
    ] = False,
) -> int:
    """Measure read latency over memory bandwidth, like Intel MLC.

    One core measures the latency while the other cores stream with an increasing delay between their accesses.

    Exit codes: 2 invalid input, 130 interrupted by Ctrl-C.
    """
    from hostnet.curves import Setting, parse_reads
    from hostnet.curves.api import reject_options_of_curves
    from hostnet.curves.points import POINTS
    from hostnet.presets import load_server
    from hostnet.running.engines import check_engine

    check_engine(engine)
    if matrix:
        reject_options_of_curves(reads=reads, points=points, cores=cores, probe=probe, engine=engine)
        return _run_matrix(load_server(server), threads, out, json, csv)
    shares = parse_reads(reads)
    setting = Setting(load_server(server), shares, POINTS if points is None else points, cores, probe, engine, threads)
    setting.check()
    return _run(setting, out, json, csv)


def _measure_and_write(
    name: str, out: Path | None, measure: Callable[[Watch], Found], write: Callable[[Found, Path], None]
) -> tuple[Found, Path]:
    """Measures with a progress display, writes the results into a folder, and returns both."""
    from hostnet import rundir
    from hostnet.rundir import RUNS
    from hostnet.terminal.progress import Watch

    rundir.check_run_dir(out or rundir.fresh_path(RUNS, name))
    with Watch(show=True, keeps=False) as watch:
        found = measure(watch)
        watch.finish()
        if out is not None:
            return found, rundir.publish(out, lambda folder: write(found, folder))
        return found, rundir.publish_fresh(RUNS, name, lambda folder: write(found, folder))


def _run_matrix(server: ServerFile, threads: int | None, out: Path | None, json: bool, csv: bool) -> int:
    """Measures the matrix, writes its folder and prints it."""
    from hostnet.curves import measure_matrix, write_matrix

    pairs, path = _measure_and_write(
        f"{server.name}-matrix",
        out,
        lambda watch: measure_matrix(server, threads, watch),
        lambda pairs, folder: write_matrix(server, pairs, folder, csv=csv),
    )
    if json:
        echo((path / "matrix.json").read_text(encoding="utf-8"), end="")
    else:
        _print_matrix(server, pairs, path)
    return 0


def _print_matrix(server: ServerFile, pairs: Sequence[Pair], path: Path) -> None:
    """Prints both matrices in the format of MLC; the last line is the path of the folder."""
    from hostnet.cli import show

    memories = sorted({pair.memory for pair in pairs})
    with show.buffered_console() as console:
        kind = "node" if pairs[0].ccd is None else "CCD"
        console.print(f"{server.name}: cores of a {kind} (rows), memory of a node (columns)", style="bold")
        for title, key in (("latency, ns", "latency_ns"), ("reads, GB/s", "bandwidth_gb_per_s")):
            table = show.new_table(title, *(str(memory) for memory in memories), left=())
            for row in sorted({pair.row for pair in pairs}):
                own = sorted((pair for pair in pairs if pair.row == row), key=lambda pair: pair.memory)
                table.add_row(str(row), *(f"{getattr(pair, key):.1f}" for pair in own))
            show.print_tables(console, table)
        show.print_notes(console, [server.unvalidated] if server.unvalidated else [])
        show.print_path(console, path)


def _run(setting: Setting, out: Path | None, json: bool, csv: bool) -> int:
    """Measures the curves, writes their folder and prints them."""
    from hostnet.curves import measure, write_curve

    points, path = _measure_and_write(
        f"{setting.server.name}-curve",
        out,
        lambda watch: measure(setting, watch),
        lambda points, folder: write_curve(setting, points, folder, csv=csv),
    )
    if json:
        echo((path / "curve.json").read_text(encoding="utf-8"), end="")
    else:
        _print_tables(setting, points, path)
    return 0


def _print_tables(setting: Setting, points: Sequence[Point], path: Path) -> None:
    """Prints a table per share of reads, with the columns of MLC; the last line is the path of the folder."""
    from hostnet.cli import show

    peak = setting.server.memory_peak_gb_per_s
    with show.buffered_console() as console:
        console.print(f"{setting.server.name}: latency under load of {setting.load_cores} cores", style="bold")
        for reads in setting.reads:
            table = show.new_table("inject delay ns", "latency ns", "bandwidth GB/s", "of peak", left=())
            table.title, table.title_justify = f"reads {100 * reads:.3g} %", "left"
            for point in (point for point in points if point.reads == reads):
                table.add_row(
                    f"{point.gap_ns:.1f}",
                    show.with_interval(point.latency_ns, point.latency_ci95 or None),
                    f"{point.bandwidth_gb_per_s:.2f}",
                    show.percent(point.bandwidth_gb_per_s / peak),
                )
            show.print_tables(console, table)
        show.print_notes(console, [setting.server.unvalidated] if setting.server.unvalidated else [])
        show.print_path(console, path)

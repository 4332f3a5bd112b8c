"""`hostnet curve`: latency under load."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from hostnet.terminal.screen import say

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hostnet.curve import Pair, Point, Setting
    from hostnet.presets import ServerFile
    from hostnet.terminal.progress import Watch

Found = TypeVar("Found")


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(curve)


def curve(
    server: Annotated[
        str, typer.Argument(metavar="SERVER", help="A preset, or a configuration file: its workloads are left out.")
    ],
    reads: Annotated[
        str, typer.Option(metavar="PERCENT,...", help="Shares of reads in the memory traffic.")
    ] = "100,67,50",
    points: Annotated[int | None, typer.Option(metavar="N", help="Points of a curve.", show_default="14")] = None,
    cores: Annotated[
        int | None,
        typer.Option(metavar="N", help="Cores that load the memory.", show_default="all but the one that measures"),
    ] = None,
    probe: Annotated[
        str, typer.Option(metavar="ORDER", help="Accesses of the core that measures: sequential or random.")
    ] = "sequential",
    engine: Annotated[str, typer.Option(metavar="run|predict", help="Simulate, or predict.")] = "run",
    threads: Annotated[
        int | None,
        typer.Option("--threads", "-j", help="Runs at a time; the results do not depend on it.", show_default="all"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder for the results.", show_default="runs/<server>-curve-<n>"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print curve.json instead of the tables.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Write the table as a CSV file too.")] = False,
    matrix: Annotated[
        bool, typer.Option("--matrix", help="Latency and bandwidth between every two nodes (sockets) instead.")
    ] = False,
) -> int:
    """Measure latency under load: bandwidth against read latency, as Intel MLC shows it.

    All cores but one stream with a growing pause between their accesses; one core measures.

    Exit codes: 2 something given is wrong, 130 stopped by Ctrl-C.
    """
    from hostnet.curve import Setting, parse_reads
    from hostnet.curve.points import POINTS
    from hostnet.presets import load_server
    from hostnet.running.engines import check_engine

    check_engine(engine)
    if matrix:
        given = {
            "--points": points,
            "--cores": cores,
            "--engine predict": engine == "predict" or None,
            "--reads": reads != "100,67,50" or None,
            "--probe": probe != "sequential" or None,
        }
        _refuse([name for name, value in given.items() if value is not None])
        return _run_matrix(load_server(server), threads, out, json, csv)
    shares = parse_reads(reads)
    setting = Setting(load_server(server), shares, POINTS if points is None else points, cores, probe, engine, threads)
    setting.check()
    return _run(setting, out, json, csv)


def _refuse(options: Sequence[str]) -> None:
    """Refuses options of a curve beside a matrix.

    Raises:
        ConfigError: There are any.
    """
    from hostnet import ConfigError

    if options:
        raise ConfigError(
            "conflicting-keys", f"--matrix: cannot be used with {options[0]}, which is of curves; leave one of them out"
        )


def _keep(
    name: str, out: Path | None, measure: Callable[[Watch], Found], write: Callable[[Found, Path], None]
) -> tuple[Found, Path]:
    """Measures with progress and writes what is found into the folder; gives both."""
    from hostnet import rundir
    from hostnet.cli.run import RUNS
    from hostnet.terminal.progress import Watch

    rundir.check_place(out or rundir.fresh_path(RUNS, name))
    with Watch(show=True, keeps=False) as watch:
        found = measure(watch)
        watch.finish()
        if out is not None:
            return found, rundir.publish(out, lambda place: write(found, place))
        return found, rundir.publish_fresh(RUNS, name, lambda place: write(found, place))


def _run_matrix(server: ServerFile, threads: int | None, out: Path | None, json: bool, csv: bool) -> int:
    """Measures the matrix, writes the folder and prints."""
    from hostnet.curve import measure_matrix, write_matrix

    pairs, path = _keep(
        f"{server.name}-matrix",
        out,
        lambda watch: measure_matrix(server, threads, watch),
        lambda pairs, place: write_matrix(server, pairs, place, csv=csv),
    )
    if json:
        say((path / "matrix.json").read_text(encoding="utf-8"), end="")
    else:
        _print_matrix(server, pairs, path)
    return 0


def _print_matrix(server: ServerFile, pairs: Sequence[Pair], path: Path) -> None:
    """Prints both matrices as MLC does; the last line is the path of the folder."""
    from hostnet.cli import show

    memories = sorted({pair.memory for pair in pairs})
    with show.page() as console:
        console.print(f"{server.name}: cores of a node (rows), memory of a node (columns)", style="bold")
        for title, key in (("latency, ns", "latency_ns"), ("reads, GB/s", "bandwidth_gb_per_s")):
            table = show.new_table(title, *(str(memory) for memory in memories), left=())
            for node in sorted({pair.node for pair in pairs}):
                own = sorted((pair for pair in pairs if pair.node == node), key=lambda pair: pair.memory)
                table.add_row(str(node), *(f"{getattr(pair, key):.1f}" for pair in own))
            show.print_tables(console, table)
        show.print_notes(console, [server.unvalidated] if server.unvalidated else [])
        show.print_path(console, path)


def _run(setting: Setting, out: Path | None, json: bool, csv: bool) -> int:
    """Measures, writes the folder and prints."""
    from hostnet.curve import measure, write_curve

    points, path = _keep(
        f"{setting.server.name}-curve",
        out,
        lambda watch: measure(setting, watch),
        lambda points, place: write_curve(setting, points, place, csv=csv),
    )
    if json:
        say((path / "curve.json").read_text(encoding="utf-8"), end="")
    else:
        _print_tables(setting, points, path)
    return 0


def _print_tables(setting: Setting, points: Sequence[Point], path: Path) -> None:
    """Prints a table per read share in MLC's columns; the last line is the path of the folder."""
    from hostnet.cli import show

    peak = setting.server.memory_peak_gb_per_s
    with show.page() as console:
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

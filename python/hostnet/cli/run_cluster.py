"""`hostnet run` of a cluster: from the file to the run directory and the tables on the screen."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rich.text import Text

from hostnet import cluster, rundir
from hostnet._core import ConfigError
from hostnet.cli.checkpoint import continued
from hostnet.cli.main import EXIT_INTERRUPTED, EXIT_USAGE
from hostnet.cli.show import NOTHING, headline, new_table, number, page, print_items, print_path, print_tables
from hostnet.files import write_file
from hostnet.terminal.progress import Watch
from hostnet.terminal.screen import complain, say, say_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rich.table import Table

    from hostnet._core import ClusterPlan
    from hostnet.cli.request import Request
    from hostnet.cluster import ClusterResults
    from hostnet.cluster_view import View
    from hostnet.results import Source

    Publish = Callable[[Request, str, Callable[[Path], None]], Path]


def run_cluster_command(request: Request, source: Source, publish: Publish, runs: Path) -> int:
    """Does what the request says of a cluster and returns the exit code."""
    _check(request)
    plan = cluster.resolve(source, request.seed)
    rundir.check_place(request.out or rundir.fresh_path(runs, plan.name))
    if request.checkpoint is not None:
        rundir.check_file(request.checkpoint)
    capture = _capture(plan, request)
    with continued(request.from_checkpoint) as before, Watch(show=not request.quiet) as watch:
        results = cluster.run_plan(
            plan,
            source,
            threads=request.threads or 1,
            series_ps=request.series_ps,
            checkpoint_at_ps=request.checkpoint_at_ps,
            checkpoint=before,
            capture=capture,
            progress=watch,
        )
        watch.finish()
        path = publish(request, plan.name, lambda place: write_run(results, place, csv=request.csv))
        if request.checkpoint is not None and results.native.checkpoint is not None:
            write_file(request.checkpoint, results.native.checkpoint)
    _print(request, results, path)
    return _exit_code(request, results)


def _check(request: Request) -> None:
    """Refuses options that are about a single server."""
    single = {
        "--seeds": request.seeds,
        "--counters": request.counters.form,
        "--trace": request.trace or None,
        "--compare": request.compare,
    }
    for option, value in single.items():
        if value is not None:
            raise ConfigError(f"{option}: is about one server; the configuration describes a cluster")


def _capture(plan: ClusterPlan, request: Request) -> cluster.Capture | None:
    """The capture that is asked for, checked before the run begins."""
    options = request.pcap
    if options.file is None:
        return None
    rundir.check_file(options.file)
    snaplen = cluster.SNAPLEN if options.snaplen is None else options.snaplen
    capture = cluster.Capture(options.file, options.host, snaplen, ("--pcap-host", "--pcap-snaplen"))
    cluster.captured_host(plan, capture)
    return capture


def write_run(results: ClusterResults, place: Path, *, csv: bool = False) -> None:
    """Fills an empty folder with the files of one run."""
    from hostnet.report import write_report
    from hostnet.tables import write_csv, write_parquet

    for name, table in results.tables.items():
        write_parquet(table, str(place / f"{name}.parquet"))
        if csv:
            write_csv(table, str(place / f"{name}.csv"))
    rundir.write_text(place / "summary.json", results.native.summary_json)
    rundir.write_text(place / f"config.{results.source.format}", results.source.text)
    rundir.write_text(place / "manifest.json", json.dumps(rundir.manifest(results), indent=2, ensure_ascii=False))
    write_report(place)


def _print(request: Request, results: ClusterResults, path: Path) -> None:
    if request.json:
        say_json({"directory": str(path), **results.summary})
    elif request.quiet:
        say(str(path))
    else:
        print_cluster(results, path)


def print_cluster(results: ClusterResults, path: Path) -> None:
    """Prints what a run of a cluster measured; the last line is the path of its directory."""
    from hostnet.cluster_view import reason_text, reasons, views

    summary = results.summary
    with page() as console:
        console.print(Text(headline(summary), style="bold"))
        for view in views(summary, results.tables["flows"].to_pylist()):
            print_tables(console, _table(view))
        print_items(console, "*", [reason_text(*reason) for reason in reasons(summary)])
        print_items(console, "*", summary["ignored"])
        print_path(console, path)


ROWS_MAX = 12
"""Rows of one table on the screen; all of them stand in the report."""


def _table(view: View) -> Table:
    first, *others = view.columns
    left = tuple(index for index, column in enumerate(view.columns) if column.text)
    table = new_table(first.heading, *(column.heading for column in others), left=left)
    for cells in view.cells()[:ROWS_MAX]:
        table.add_row(*(_cell(cell) for cell in cells))
    if len(view.rows) > ROWS_MAX:
        table.add_row(f"{len(view.rows) - ROWS_MAX} more", *("" for _ in others))
    return table


def _cell(value: Any) -> str:
    if isinstance(value, str | int):
        return str(value)
    return NOTHING if value is None else number(value)


def _exit_code(request: Request, results: ClusterResults) -> int:
    if not results.complete:
        return EXIT_INTERRUPTED
    if request.checkpoint is not None and results.native.checkpoint is None:
        at = request.checkpoint_at
        complain(f"error: --checkpoint-at {at}: the run ended before; no checkpoint was written")
        return EXIT_USAGE
    return 0

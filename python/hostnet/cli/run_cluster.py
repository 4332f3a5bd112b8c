"""`hostnet run` of a cluster: from the file to the run directory and the tables on the screen."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from rich.text import Text

from hostnet import cluster, rundir
from hostnet._core import CheckpointError, ConfigError
from hostnet.cli.main import EXIT_INTERRUPTED, EXIT_USAGE
from hostnet.cli.progress import Watch
from hostnet.cli.show import NOTHING, headline, new_table, number, page, print_items, print_path, print_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rich.table import Table

    from hostnet._core import ClusterPlan
    from hostnet.cli.request import Request
    from hostnet.cluster import ClusterResults
    from hostnet.results import Source

    Row = dict[str, Any]
    Publish = Callable[[Request, str, Callable[[Path], None]], Path]


def run_cluster_command(request: Request, source: Source, publish: Publish, runs: Path) -> int:
    """Does what the request says of a cluster and returns the exit code."""
    _check(request)
    plan = cluster.resolve(source, request.seed)
    rundir.check_place(request.out or rundir.fresh_path(runs, plan.name))
    if request.checkpoint is not None:
        rundir.check_parent(request.checkpoint)
    capture = _capture(plan, request)
    with Watch(show=not request.quiet) as watch:
        results = cluster.run_plan(
            plan,
            source,
            threads=request.threads or 1,
            series_ps=request.series_ps,
            checkpoint_at_ps=request.checkpoint_at_ps,
            checkpoint=_before(request.from_checkpoint),
            capture=capture,
            progress=watch,
        )
        watch.finish()
        path = publish(request, plan.name, lambda place: write_run(results, place, csv=request.csv))
        if request.checkpoint is not None and results.native.checkpoint is not None:
            rundir.write_file_atomically(request.checkpoint, results.native.checkpoint)
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
    rundir.check_parent(options.file)
    snaplen = cluster.SNAPLEN if options.snaplen is None else options.snaplen
    capture = cluster.Capture(options.file, options.host, snaplen, ("--pcap-host", "--pcap-snaplen"))
    cluster.captured_host(plan, capture)
    return capture


def _before(path: Path | None) -> bytes | None:
    if path is None:
        return None
    content = path.read_bytes()
    if not content:
        raise CheckpointError(f"{path}: is empty")
    return content


def write_run(results: ClusterResults, place: Path, *, csv: bool = False) -> None:
    """Fills an empty folder with the files of one run."""
    from hostnet.report.cluster_page import cluster_page
    from hostnet.tables import write_csv, write_parquet

    for name, table in results.tables.items():
        write_parquet(table, str(place / f"{name}.parquet"))
        if csv:
            write_csv(table, str(place / f"{name}.csv"))
    manifest = rundir.manifest(results)
    rundir.write_text(place / "summary.json", results.native.summary_json)
    rundir.write_text(place / f"config.{results.source.format}", results.source.text)
    rundir.write_text(place / "manifest.json", json.dumps(manifest, indent=2, ensure_ascii=False))
    rundir.write_text(place / "report.html", cluster_page(results.summary, manifest))


def _print(request: Request, results: ClusterResults, path: Path) -> None:
    if request.json:
        sys.stdout.write(results.native.summary_json.rstrip("\n") + "\n")
    elif request.quiet:
        print(path)
    else:
        print_cluster(results.summary, path)


def print_cluster(summary: Row, path: Path) -> None:
    """Prints the summary of one run of a cluster; the last line is the path of its directory."""
    with page() as console:
        console.print(Text(headline(summary), style="bold"))
        for title, name in (("class", "classes"), ("class", "latencies"), ("host", "hosts"), ("place", "queues")):
            rows = [row for row in summary[name] if any(value for key, value in row.items() if key != title)]
            if rows:
                print_tables(console, *_tables(rows))
        print_items(console, "*", summary["ignored"])
        print_path(console, path)


COLUMNS_MAX = 8
"""Columns of one table on the screen; the others follow in a table of their own."""


def _tables(rows: Sequence[Row]) -> list[Table]:
    """Rows as tables that fit the screen. A column that has nothing in any row is left out."""
    first, *others = rows[0]
    shown = [name for name in others if any(row[name] not in (None, 0, 0.0) for row in rows)]
    tables = []
    for at in range(0, max(len(shown), 1), COLUMNS_MAX):
        names = shown[at : at + COLUMNS_MAX]
        table = new_table(first, *(name.replace("_", " ") for name in names), left=(0,))
        for row in rows:
            table.add_row(str(row[first]), *(_cell(row[name]) for name in names))
        tables.append(table)
    return tables


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    return NOTHING if value is None else number(value)


def _exit_code(request: Request, results: ClusterResults) -> int:
    if not results.complete:
        return EXIT_INTERRUPTED
    if request.checkpoint is not None and results.native.checkpoint is None:
        at = request.checkpoint_at
        print(f"error: --checkpoint-at {at}: the run ended before; no checkpoint was written", file=sys.stderr)
        return EXIT_USAGE
    return 0

"""Files of a run directory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.rundir import machine, publish_to, write_text

if TYPE_CHECKING:
    from os import PathLike

    from hostnet.running.results import Results

TRACE = "trace.pftrace"
"""Name of the trace in a run directory."""


def save_run(results: Results, directory: str | PathLike[str] | None) -> Path:
    """Writes a run directory atomically and returns its path, by default `runs/<name>-<n>`.

    Raises:
        FileExistsError: `directory` exists and is not empty.
        OSError: The directory cannot be written.
    """
    return publish_to(directory, results.plan.name, lambda folder: write_run(results, folder))


def write_run(results: Results, folder: Path, *, csv: bool = False, report: bool = True) -> None:
    """Writes the files of one run into an empty folder; without `report` only its data, which takes least time."""
    for name in (*results.table_names, "epochs"):
        (folder / f"{name}.parquet").write_bytes(results.native.parquet(name))
    if csv:
        from hostnet.tables import write_csv

        for name, table in results.tables.items():
            write_csv(table, str(folder / f"{name}.csv"))
    if results.trace is not None:
        (folder / TRACE).write_bytes(results.trace)
    write_text(folder / "summary.json", results.native.summary_json)
    write_text(folder / f"config.{results.source.format}", results.source.text)
    write_text(folder / "manifest.json", json.dumps(manifest(results), indent=2, ensure_ascii=False))
    if report:
        from hostnet.report import KnownResults, write_report

        write_explanations(results, folder)
        write_report(folder, KnownResults(results.summary, results.rows))


def write_explanations(results: Results, folder: Path) -> None:
    """Writes `explain.json` and `explanation.txt` for each server that can be explained.

    For hosts on a network, each server has a folder in `servers`.
    """
    # Endpoints need no explanation, and the import takes as long as a short run.
    if not results.servers:
        return
    from hostnet.explanation import explainable

    for host in explainable(results):
        server_folder = folder / "servers" / host if host else folder
        server_folder.mkdir(parents=True, exist_ok=True)
        write_explanation(results, host or None, server_folder)


def write_explanation(results: Results, host: str | None, folder: Path) -> None:
    """Writes the explanation of one server."""
    from hostnet.explanation import explain_results, page_text

    page = explain_results(results, host)
    if host is None:
        page = page.with_steps()
    write_text(folder / "explain.json", json.dumps(page.as_dict(), indent=1, ensure_ascii=False))
    write_text(folder / "explanation.txt", page_text(page))


def manifest(results: Results) -> dict[str, Any]:
    """Returns the provenance of the results: configuration, version, machine and time.

    It is the only file in which two equal runs may differ.
    """
    return {
        "format": 1,
        "name": results.plan.name,
        "version": _core.version(),
        "seed": results.plan.seed,
        "complete": results.complete,
        "config_hash": results.plan.hash,
        "result_hash": results.result_hash,
        "started": results.timing.started,
        "wall_time_s": round(results.timing.wall_time_s, 3),
        "events": results.native.events,
        "events_per_s": round(results.timing.events_per_s),
        "pending_events_max": results.native.pending_max,
        "simulated_ns": results.native.simulated_ps / 1000,
        "threads": results.timing.threads,
        "processes": results.timing.processes,
        **({} if results.timing.shares is None else {"shares": results.timing.shares.as_dict()}),
        "machine": machine(),
        "overrides": list(results.source.overrides),
        "config": json.loads(results.plan.effective_json()),
    }

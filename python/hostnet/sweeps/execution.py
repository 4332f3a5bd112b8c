"""Conducts a sweep from checked points to tables and plots, and continues it after a kill."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hostnet._core import SimulationError
from hostnet.files import errors_naming
from hostnet.sweeps.identity import compare, identity_of
from hostnet.sweeps.influence import NothingChangedError, notes_on
from hostnet.sweeps.job import ClusterError
from hostnet.sweeps.journal import Journal
from hostnet.sweeps.sweep_dir import (
    JOURNAL,
    MANIFEST,
    MORE_TABLES,
    TABLES,
    check_resumable,
    file_hash,
    fresh_folder,
    lock_sweep_dir,
    part_path,
    publish_file,
    publish_folder,
    read_manifest,
    remove_leftovers,
    write_part,
)
from hostnet.sweeps.table import table_of, write_table, write_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from hostnet.sweeps.check import Progress
    from hostnet.sweeps.identity import Identity
    from hostnet.sweeps.job import Job, Keep, Report
    from hostnet.sweeps.outcome import Outcome, Types

    Executor = Callable[[Iterator[int], Keep, Report], None]


def run_sweep(
    job: Job, path: Path, execute: Executor, *, resume: bool, plots: bool = True, progress: Progress | None = None
) -> Identity:
    """Computes the missing points, writes tables and plots, and returns the content of sweep.json.

    Raises:
        KeyboardInterrupt: The sweep was stopped; finished points are kept.
        ConfigError: The directory belongs to another sweep, or no parameter changed anything.
        SimulationError: One of the runs failed; finished points are kept.
        OSError: The directory is in use, exists already, or cannot be written.
    """
    identity = identity_of(job)
    if resume and path.exists() and (whole := _complete_manifest(path, identity)) is not None:
        return whole
    lock_sweep_dir(path, resume=resume)
    try:
        with errors_naming(path), Journal(path / JOURNAL) as journal:
            whole = _complete_manifest(path, identity)
            if whole is None:
                _begin_journal(path, journal, identity)
                try:
                    _fill_journal(job, journal, execute, progress)
                except (SimulationError, ClusterError) as error:
                    if plots:
                        _write_unfinished_page(job, journal, path, identity, error)
                    raise
                whole = _publish(job, journal, path, identity, plots=plots)
    except NothingChangedError:
        remove_leftovers(path)
        raise
    (path / JOURNAL).unlink(missing_ok=True)
    return whole


def _complete_manifest(path: Path, identity: Identity) -> Identity | None:
    """Returns the manifest of a sweep if it is complete."""
    check_resumable(path)
    manifest = read_manifest(path)
    if manifest is not None:
        compare(path, manifest, identity)
    return manifest


def _begin_journal(path: Path, journal: Journal, identity: Identity) -> None:
    """Writes the identity of a new sweep, or checks that of a continued one."""
    if journal.header is None:
        journal.begin(identity, identity["points"])
    compare(path, journal.header or identity, identity)


def _fill_journal(job: Job, journal: Journal, execute: Executor, progress: Progress | None) -> None:
    """Computes the missing points."""
    total = len(job.grid)
    done = total - sum(1 for _ in journal.missing())

    def keep(outcomes: Sequence[Outcome], types: Types) -> None:
        nonlocal done
        done += journal.add(outcomes, types)

    def report(share: float) -> bool:
        points = done + share
        status = {"what": "points", "done": done, "total": total, "points": points, "progress": points / total}
        return progress is None or progress(status) is not False

    try:
        report(0.0)
        execute(journal.missing(), keep, report)
    finally:
        journal.sync()
    assert done == total, "an executor computes every point"


def _write_unfinished_page(job: Job, journal: Journal, path: Path, identity: Identity, error: Exception) -> None:
    """Writes the page of the points that are done, which names the error that ended the sweep.

    A page that cannot be written must not hide that error.
    """
    from hostnet.sweeps.page import SweepPage, write_sweep_page

    done = [point for point in range(len(job.grid)) if point in journal]
    if done:
        content = SweepPage({**identity, "notes": []}, job.grid.axes, table_of(job, journal, done), str(error))
        with suppress(OSError):
            write_sweep_page(path, content)


def _publish(job: Job, journal: Journal, path: Path, identity: Identity, *, plots: bool) -> Identity:
    """Writes all files under temporary names and then renames them; sweep.json comes last."""
    from hostnet.sweeps.page import SweepPage, read_page_table, write_sweep_page
    from hostnet.sweeps.plots import draw_sweep

    notes = notes_on(job.grid, journal)
    for name, table in TABLES.items():
        write_table(job, journal, table, part_path(path / name))
    folder = fresh_folder(path / MORE_TABLES)
    more = [f"{name}.parquet" for name in write_tables(job, journal, folder)]
    source = job.grid.source
    config = f"config.{source.format}"
    write_part(path / config, source.text)
    hidden = draw_sweep(part_path(path / "sweep.parquet"), job.grid.axes, path / "plots") if plots else None
    notes += [*job.checked.notes, *([hidden] if hidden else [])]
    tables = {name: file_hash(part_path(path / name)) for name in TABLES}
    tables |= {f"{MORE_TABLES}/{name}": file_hash(folder / name) for name in more}
    manifest: dict[str, Any] = {"format": 1, "kind": "sweep", **identity, "notes": notes, "tables": tables}
    write_part(path / MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False))
    if plots:
        table = read_page_table(part_path(path / "sweep.parquet"), job.grid.axes)
        write_sweep_page(path, SweepPage(manifest, job.grid.axes, table, config=config))
    publish_folder(path / MORE_TABLES)
    for name in (config, *TABLES, MANIFEST):
        publish_file(path / name)
    return manifest

"""Conducts a sweep: from checked points to tables and plots, however often it is killed on the way."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hostnet.files import errors_about
from hostnet.sweeps.identity import compare, identity_of
from hostnet.sweeps.influence import NothingChangedError, notes_on
from hostnet.sweeps.journal import Journal
from hostnet.sweeps.place import (
    JOURNAL,
    MANIFEST,
    MORE_TABLES,
    TABLES,
    check_resumable,
    enter,
    fresh_folder,
    hash_of,
    part_of,
    read_manifest,
    reveal,
    reveal_folder,
    sweep_up,
    write_part,
)
from hostnet.sweeps.table import write_table, write_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from hostnet.sweeps.check import Progress
    from hostnet.sweeps.identity import Identity
    from hostnet.sweeps.job import Job, Keep, Tell
    from hostnet.sweeps.outcome import Outcome, Types

    Executor = Callable[[Iterator[int], Keep, Tell], None]


def conduct(
    job: Job, path: Path, execute: Executor, *, resume: bool, plots: bool = True, progress: Progress | None = None
) -> Identity:
    """Computes what is not done yet, writes tables and plots, and returns the content of sweep.json.

    Raises:
        KeyboardInterrupt: It was stopped; what is done is kept.
        ConfigError: The directory belongs to another sweep, or no parameter changed anything.
        SimulationError: One of the runs could not go on; what is done is kept.
        OSError: The directory is in use, exists already, or cannot be written.
    """
    identity = identity_of(job)
    if resume and path.exists() and (whole := _whole(path, identity)) is not None:
        return whole
    enter(path, resume=resume)
    try:
        with errors_about(path), Journal(path / JOURNAL) as journal:
            whole = _whole(path, identity)
            if whole is None:
                _begin(path, journal, identity)
                _fill(job, journal, execute, progress)
                whole = _publish(job, journal, path, identity, plots=plots)
    except NothingChangedError:
        sweep_up(path)
        raise
    (path / JOURNAL).unlink(missing_ok=True)
    return whole


def _whole(path: Path, identity: Identity) -> Identity | None:
    """The manifest of a sweep that is complete already."""
    check_resumable(path)
    manifest = read_manifest(path)
    if manifest is not None:
        compare(path, manifest, identity)
    return manifest


def _begin(path: Path, journal: Journal, identity: Identity) -> None:
    if journal.header is None:
        journal.begin(identity, identity["points"])
    compare(path, journal.header or identity, identity)


def _fill(job: Job, journal: Journal, execute: Executor, progress: Progress | None) -> None:
    total = len(job.grid)
    done = total - sum(1 for _ in journal.missing())

    def keep(outcomes: Sequence[Outcome], types: Types) -> None:
        nonlocal done
        done += journal.add(outcomes, types)

    def tell(share: float) -> bool:
        points = done + share
        status = {"what": "points", "done": done, "total": total, "points": points, "progress": points / total}
        return progress is None or progress(status) is not False

    try:
        tell(0.0)
        execute(journal.missing(), keep, tell)
    finally:
        journal.sync()
    assert done == total, "an executor computes every point"


def _publish(job: Job, journal: Journal, path: Path, identity: Identity, *, plots: bool) -> Identity:
    """Writes everything beside its place first, so that the tables appear together; sweep.json comes last."""
    from hostnet.sweeps.plots import draw_sweep

    notes = notes_on(job.grid, journal)
    for name, table in TABLES.items():
        write_table(job, journal, table, part_of(path / name))
    folder = fresh_folder(path / MORE_TABLES)
    more = [f"{name}.parquet" for name in write_tables(job, journal, folder)]
    source = job.grid.source
    config = f"config.{source.format}"
    write_part(path / config, source.text)
    hidden = draw_sweep(part_of(path / "sweep.parquet"), job.grid.axes, path / "plots") if plots else None
    notes += [*job.checked.notes, *([hidden] if hidden else [])]
    tables = {name: hash_of(part_of(path / name)) for name in TABLES}
    tables |= {f"{MORE_TABLES}/{name}": hash_of(folder / name) for name in more}
    manifest: dict[str, Any] = {"format": 1, "kind": "sweep", **identity, "notes": notes, "tables": tables}
    write_part(path / MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False))
    reveal_folder(path / MORE_TABLES)
    for name in (config, *TABLES, MANIFEST):
        reveal(path / name)
    return manifest

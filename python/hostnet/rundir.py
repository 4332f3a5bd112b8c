"""Run directories: their files, and how they are created atomically."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.files import errors_naming, hidden_sibling, sync
from hostnet.locks import exclusive_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hostnet.running.results import Results

RUNS = Path("runs")
"""Default parent of run directories."""

TRACE = "trace.pftrace"
"""Name of the trace in a run directory."""


def fresh_path(root: Path, name: str) -> Path:
    """Returns `root/<name>-<n>` with the smallest n above all existing ones, from 1 on."""
    stem = re.sub(r"[^\w.-]+", "-", name).strip("-.") or "run"
    pattern = re.compile(re.escape(stem) + r"-(\d+)")
    taken = [int(match[1]) for entry in root.glob(f"{stem}-*") if (match := pattern.fullmatch(entry.name))]
    return root / f"{stem}-{max(taken, default=0) + 1}"


def check_run_dir(path: Path) -> None:
    """Checks that a run directory can be created at `path`, without leaving anything there.

    Raises:
        OSError: `path` exists and is not empty, or its parent cannot be written.
    """
    _refuse_occupied(path)
    check_parent(path)


@contextmanager
def lock_run_dir(path: Path) -> Iterator[None]:
    """Locks a run directory at `path` against other runs while the body runs.

    Raises:
        ConfigError: Another run writes there.
        OSError: The nearest existing parent cannot be written.
    """
    absolute = path.resolve()
    parent = next(folder for folder in absolute.parents if folder.exists())
    name = "-".join(absolute.relative_to(parent).parts)
    with exclusive_lock(path, parent / f".hostnet-{name}.lock"):
        yield


def check_parent(path: Path) -> None:
    """Checks that something can be created at `path`, without leaving anything there.

    Raises:
        OSError: The nearest existing parent cannot be written.
    """
    parent = next(folder for folder in path.absolute().parents if folder.exists())
    try:
        with tempfile.TemporaryDirectory(dir=parent, prefix=".hostnet-"):
            pass
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def check_file(path: Path) -> None:
    """Checks that a file can be written at `path`, or that `path` is a pipe or a device.

    Raises:
        OSError: `path` is a folder, or its folder cannot be written.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path}: is a folder")
    if path.is_file() or not path.exists():
        check_parent(path)


def check_new_file(path: Path) -> None:
    """Checks that a new file can be created at `path`, without leaving anything there.

    Raises:
        OSError: `path` exists, or its folder does not exist or cannot be written.
    """
    if path.exists() or path.is_symlink():
        raise FileExistsError(f"{path}: exists; name a file that does not exist yet: --out FILE")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"{path}: its folder does not exist")
    check_parent(path)


def publish(path: Path, fill: Callable[[Path], None]) -> Path:
    """Calls `fill` with a temporary sibling of `path`, then renames that folder to `path`, which is returned.

    Raises:
        FileExistsError: `path` exists and is not empty.
        OSError: `path` cannot be written; nothing is left behind.
    """
    _refuse_occupied(path)
    target = path.resolve()
    with _filled(path, fill) as scratch:
        if os.name == "nt" and target.is_dir():
            target.rmdir()
        scratch.rename(target)
    return path


def publish_fresh(root: Path, name: str, fill: Callable[[Path], None]) -> Path:
    """Does as `publish`, at the first free path `root/<name>-<n>`. Two writers never get the same path."""
    with _filled(fresh_path(root, name), fill) as scratch:
        while True:
            path = fresh_path(root, name)
            try:
                scratch.rename(path)
            except OSError:
                if not path.exists():
                    raise
            else:
                return path


def write_run(results: Results, folder: Path, *, csv: bool = False, report: bool = True) -> None:
    """Writes the files of one run into an empty folder."""
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
    write_explanations(results, folder)
    if report:
        from hostnet.report import KnownResults, write_report

        write_report(folder, KnownResults(results.summary, results.rows))


def write_explanations(results: Results, folder: Path) -> None:
    """Writes `explain.json` and `explanation.txt` for each server that can be explained.

    For hosts on a network, each server has a folder in `servers`.
    """
    from hostnet.explain import explainable

    for host in explainable(results):
        server_folder = folder / "servers" / host if host else folder
        server_folder.mkdir(parents=True, exist_ok=True)
        write_explanation(results, host or None, server_folder)


def write_explanation(results: Results, host: str | None, folder: Path) -> None:
    """Writes the explanation of one server."""
    from hostnet.explain import explain_results, page_text

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


def machine() -> dict[str, Any]:
    """Describes the computer that ran the simulation."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "architecture": platform.machine(),
        "processor": _processor_name(),
        "logical_cores": os.cpu_count(),
        "python": platform.python_version(),
    }


def write_text(path: Path, text: str) -> None:
    """Writes a text file that ends with one newline, with the same bytes on every system."""
    path.write_bytes((text.rstrip("\n") + "\n").encode())


def _refuse_occupied(path: Path) -> None:
    """Raises FileExistsError unless a folder can be renamed to `path`."""
    if path.is_dir():
        if path.samefile(Path.cwd()):
            raise FileExistsError(f"{path}: is the current folder; name one that does not exist yet")
        if any(path.iterdir()):
            raise FileExistsError(f"{path}: exists and is not empty; name a folder that does not exist yet")
    elif path.exists() or path.is_symlink():
        raise FileExistsError(f"{path}: exists and is not a folder")


@contextmanager
def _parents_of(path: Path) -> Iterator[None]:
    """Creates the parent folders of `path`, and removes those that it created if the body fails."""
    made = [folder for folder in path.absolute().parents if not folder.exists()]
    try:
        path.absolute().parent.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for folder in made:
            try:
                folder.rmdir()
            except OSError:  # another process wrote into the folder, or it was never created
                break
        raise


@contextmanager
def _filled(path: Path, fill: Callable[[Path], None]) -> Iterator[Path]:
    """Yields a hidden folder beside `path`, filled and synced, for the body to rename; otherwise removes it."""
    target = path.resolve()
    scratch = hidden_sibling(target)
    with errors_naming(path, scratch), _parents_of(target):
        try:
            scratch.mkdir()
            fill(scratch)
            _sync_tree(scratch)
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        sync(target.parent)


def _sync_tree(folder: Path) -> None:
    """Flushes a folder and everything in it to disk."""
    for parent, _, files in os.walk(folder):
        for name in files:
            sync(Path(parent) / name)
        sync(Path(parent))


def _processor_name() -> str:
    """Returns the model name of the processor, as far as the system reports it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()

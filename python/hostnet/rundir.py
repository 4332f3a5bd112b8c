"""Run directories: what is in them, and how they come into being whole or not at all."""

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
from hostnet.files import errors_about, hidden_sibling, sync
from hostnet.locks import owned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hostnet.running.results import Results

TRACE = "trace.pftrace"
"""The name of the trace in a run directory."""


def fresh_path(root: Path, name: str) -> Path:
    """The first path `root/<name>-<n>` beyond all that exist, n = 1, 2, ..."""
    stem = re.sub(r"[^\w.-]+", "-", name).strip("-.") or "run"
    pattern = re.compile(re.escape(stem) + r"-(\d+)")
    taken = [int(match[1]) for entry in root.glob(f"{stem}-*") if (match := pattern.fullmatch(entry.name))]
    return root / f"{stem}-{max(taken, default=0) + 1}"


def check_place(path: Path) -> None:
    """Makes sure that a run directory can be put at `path`, without leaving anything there.

    Raises:
        OSError: It exists and is not empty, or its parent cannot be written.
    """
    _refuse_occupied(path)
    check_parent(path)


@contextmanager
def owned_place(path: Path) -> Iterator[None]:
    """Locks a run directory at `path` against other runs while the body runs.

    Raises:
        ConfigError: Another run writes there.
        OSError: Its nearest parent that exists cannot be written.
    """
    absolute = path.resolve()
    parent = next(folder for folder in absolute.parents if folder.exists())
    name = "-".join(absolute.relative_to(parent).parts)
    with owned(path, parent / f".hostnet-{name}.lock"):
        yield


def check_parent(path: Path) -> None:
    """Makes sure that something can be put at `path`, without leaving anything there.

    Raises:
        OSError: The nearest parent that exists cannot be written.
    """
    parent = next(folder for folder in path.absolute().parents if folder.exists())
    try:
        with tempfile.TemporaryDirectory(dir=parent, prefix=".hostnet-"):
            pass
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def check_file(path: Path) -> None:
    """Makes sure that a file can be put at `path`, replacing one or not, or that it is a pipe or a device.

    Raises:
        OSError: It is a folder, or its folder cannot be written.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path}: is a folder")
    if path.is_file() or not path.exists():
        check_parent(path)


def check_new_file(path: Path) -> None:
    """Makes sure that a new file can be put at `path`, without leaving anything there.

    Raises:
        OSError: It exists, or its folder does not or cannot be written.
    """
    if path.exists() or path.is_symlink():
        raise FileExistsError(f"{path}: exists; name a file that does not exist yet: --out FILE")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"{path}: its folder does not exist")
    check_parent(path)


def publish(path: Path, fill: Callable[[Path], None]) -> Path:
    """Lets `fill` write into a temporary sibling of `path` and then gives it that name. Returns the path.

    Raises:
        FileExistsError: `path` exists and is not empty.
        OSError: It cannot be written; nothing is left behind.
    """
    _refuse_occupied(path)
    target = path.resolve()
    with _filled(path, fill) as scratch:
        if os.name == "nt" and target.is_dir():
            target.rmdir()
        scratch.rename(target)
    return path


def publish_fresh(root: Path, name: str, fill: Callable[[Path], None]) -> Path:
    """Like `publish`, at the first free path `root/<name>-<n>`. Two writers never get the same one."""
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


def write_run(results: Results, place: Path, *, csv: bool = False, report: bool = True) -> None:
    """Fills an empty folder with the files of one run."""
    for name in (*results.table_names, "epochs"):
        (place / f"{name}.parquet").write_bytes(results.native.parquet(name))
    if csv:
        from hostnet.tables import write_csv

        for name, table in results.tables.items():
            write_csv(table, str(place / f"{name}.csv"))
    if results.trace is not None:
        (place / TRACE).write_bytes(results.trace)
    write_text(place / "summary.json", results.native.summary_json)
    write_text(place / f"config.{results.source.format}", results.source.text)
    write_text(place / "manifest.json", json.dumps(manifest(results), indent=2, ensure_ascii=False))
    write_explanations(results, place)
    if report:
        from hostnet.report import Known, write_report

        write_report(place, Known(results.summary, results.rows))


def write_explanations(results: Results, place: Path) -> None:
    """Writes what explains each server that can be: `explain.json` and the page `explanation.txt`.

    Those of hosts on a network are in a folder of that name, `servers`.
    """
    from hostnet.explain import explainable

    for host in explainable(results):
        folder = place / "servers" / host if host else place
        folder.mkdir(parents=True, exist_ok=True)
        write_explanation(results, host or None, folder)


def write_explanation(results: Results, host: str | None, place: Path) -> None:
    """Writes what explains one server."""
    from hostnet.explain import explain_results, page_text

    page = explain_results(results, host)
    if host is None:
        page = page.with_steps()
    write_text(place / "explain.json", json.dumps(page.as_dict(), indent=1, ensure_ascii=False))
    write_text(place / "explanation.txt", page_text(page))


def manifest(results: Results) -> dict[str, Any]:
    """What produced the results: configuration, version, machine and time. Only here may two equal runs differ."""
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
    """The computer that ran the simulation."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "architecture": platform.machine(),
        "processor": _processor_name(),
        "logical_cores": os.cpu_count(),
        "python": platform.python_version(),
    }


def write_text(path: Path, text: str) -> None:
    """Writes a text file with one newline at its end, the same bytes on every system."""
    path.write_bytes((text.rstrip("\n") + "\n").encode())


def _refuse_occupied(path: Path) -> None:
    if path.is_dir():
        if path.samefile(Path.cwd()):
            raise FileExistsError(f"{path}: is the current folder; name one that does not exist yet")
        if any(path.iterdir()):
            raise FileExistsError(f"{path}: exists and is not empty; name a folder that does not exist yet")
    elif path.exists() or path.is_symlink():
        raise FileExistsError(f"{path}: exists and is not a folder")


@contextmanager
def _parents_of(path: Path) -> Iterator[None]:
    """Makes the parent folders; takes those it made away again if the body fails."""
    made = [folder for folder in path.absolute().parents if not folder.exists()]
    try:
        path.absolute().parent.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for folder in made:
            try:
                folder.rmdir()
            except OSError:  # somebody else put something there, or it was never made
                break
        raise


@contextmanager
def _filled(path: Path, fill: Callable[[Path], None]) -> Iterator[Path]:
    """A hidden folder beside `path`, filled and safe on the disk, for the body to rename; else it vanishes."""
    target = path.resolve()
    scratch = hidden_sibling(target)
    with errors_about(path, scratch), _parents_of(target):
        try:
            scratch.mkdir()
            fill(scratch)
            _sync_tree(scratch)
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        sync(target.parent)


def _sync_tree(folder: Path) -> None:
    for parent, _, files in os.walk(folder):
        for name in files:
            sync(Path(parent) / name)
        sync(Path(parent))


def _processor_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()

"""Run directories: how they are named, checked, locked and created atomically."""

from __future__ import annotations

import os
import platform
import re
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet.files import errors_naming, hidden_sibling, sync
from hostnet.locks import exclusive_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

RUNS = Path("runs")
"""Default parent of run directories."""


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


def publish_to(path: str | PathLike[str] | None, name: str, fill: Callable[[Path], None]) -> Path:
    """Does as `publish`, by default as `publish_fresh` with the name below `RUNS`."""
    return publish_fresh(RUNS, name, fill) if path is None else publish(Path(path), fill)


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

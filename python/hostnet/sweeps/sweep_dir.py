"""Directory of a sweep: its files during the sweep and afterwards."""

from __future__ import annotations

import hashlib
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.files import parse_json, sync
from hostnet.rundir import write_text

if TYPE_CHECKING:
    from pathlib import Path

    from hostnet.sweeps.identity import Identity

JOURNAL = "points.journal"
"""Journal of finished points; removed when the tables are written."""

MANIFEST = "sweep.json"
"""Description of the sweep; written last, so that its presence marks the sweep as complete."""

TABLES = {"sweep.parquet": "traffic", "domains.parquet": "domains"}
"""Tables of a sweep, and the table of a run that each comes from."""

MORE_TABLES = "tables"
"""Folder of the other result tables."""

PART = ".part"
"""Suffix of a file that is being written."""


def lock_sweep_dir(path: Path, *, resume: bool) -> None:
    """Creates the directory of a new sweep, or checks that a sweep can be continued there.

    Raises:
        OSError: The directory exists and is not to be continued, or cannot be created.
        ConfigError: The directory is not that of a sweep.
    """
    if not resume or not path.exists():
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            raise FileExistsError(f"{path}: exists; continue with --resume or name another folder") from None
        return
    check_resumable(path)


def check_free(path: Path) -> None:
    """Checks that a new sweep can be created at a path, without leaving anything there.

    Raises:
        OSError: The path exists, or cannot be created.
    """
    from hostnet.rundir import check_parent

    if path.exists() or path.is_symlink():
        raise FileExistsError(f"{path}: exists; continue with --resume or name another folder")
    check_parent(path)


def check_resumable(path: Path) -> None:
    """Checks that an existing directory is that of a sweep, or empty.

    Raises:
        ConfigError: It is not.
        OSError: The directory cannot be read.
    """
    names = {entry.name for entry in path.iterdir()}
    if names and not names & {JOURNAL, MANIFEST}:
        raise ConfigError("wrong-kind", f"--resume: {path}: is not the directory of a sweep (it has no {MANIFEST})")


def read_manifest(path: Path) -> Identity | None:
    """Reads the manifest of a directory; None if its sweep is not complete.

    Raises:
        ConfigError: The manifest is damaged, or the tables do not belong to it.
        OSError: A file cannot be read.
    """
    file = path / MANIFEST
    try:
        manifest: dict[str, Any] = parse_json(file.read_bytes())
        hashes = dict(manifest["tables"].items())
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise damaged(path) from None
    for name in {**TABLES, **hashes}:
        if not (path / name).is_file() or file_hash(path / name) != hashes.get(name):
            raise ConfigError(
                "malformed-file", f"{path / name}: is missing or damaged; sweep again into another folder"
            )
    return manifest


def damaged(path: Path) -> ConfigError:
    """Creates the error for a damaged manifest."""
    return ConfigError("malformed-file", f"{path / MANIFEST}: is damaged; sweep again into another folder")


def file_hash(path: Path) -> str:
    """Returns the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def part_path(path: Path) -> Path:
    """Returns the temporary path of a file or folder."""
    return path.with_name(path.name + PART)


def write_part(path: Path, text: str) -> None:
    """Writes a text to the temporary path of a file."""
    write_text(part_path(path), text)


def publish_file(path: Path) -> None:
    """Flushes a file to disk and renames it to its final path."""
    sync(part_path(path))
    part_path(path).replace(path)


def fresh_folder(path: Path) -> Path:
    """Creates an empty folder at its temporary path."""
    shutil.rmtree(part_path(path), ignore_errors=True)
    part_path(path).mkdir()
    return part_path(path)


def publish_folder(path: Path) -> None:
    """Flushes the files of a folder to disk and renames it to its final path."""
    for file in part_path(path).iterdir():
        sync(file)
    shutil.rmtree(path, ignore_errors=True)
    part_path(path).rename(path)


def remove_leftovers(path: Path) -> None:
    """Removes all files of a sweep without tables, and the directory if it is then empty."""
    for name in (*(name + PART for name in (*TABLES, MANIFEST)), JOURNAL):
        (path / name).unlink(missing_ok=True)
    shutil.rmtree(part_path(path / MORE_TABLES), ignore_errors=True)
    with suppress(OSError):  # the directory is not empty if it holds foreign files
        path.rmdir()

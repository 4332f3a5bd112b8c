"""The directory of a sweep: what is in it while it is made, and when it is whole."""

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
"""What is done; it goes when the tables are there."""

MANIFEST = "sweep.json"
"""What was swept; it comes last, so it says that everything is there."""

TABLES = {"sweep.parquet": "traffic", "domains.parquet": "domains"}
"""The tables, and the table of a run that each comes from."""

MORE_TABLES = "tables"
"""The folder of the other tables of results."""

PART = ".part"
"""The end of the name of a file that is being written."""


def enter(path: Path, *, resume: bool) -> None:
    """Makes the directory of a new sweep, or makes sure that one can be continued there.

    Raises:
        OSError: It exists and is not to be continued, or it cannot be made.
        ConfigError: It is not the directory of a sweep.
    """
    if not resume or not path.exists():
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            raise FileExistsError(f"{path}: exists; continue with --resume or name another folder") from None
        return
    check_resumable(path)


def check_free(path: Path) -> None:
    """Makes sure that a new sweep can be put at a path, without leaving anything there.

    Raises:
        OSError: It exists, or it cannot be made.
    """
    from hostnet.rundir import check_parent

    if path.exists() or path.is_symlink():
        raise FileExistsError(f"{path}: exists; continue with --resume or name another folder")
    check_parent(path)


def check_resumable(path: Path) -> None:
    """Makes sure that a directory that exists is that of a sweep, or empty.

    Raises:
        ConfigError: It is not.
        OSError: It cannot be read.
    """
    names = {entry.name for entry in path.iterdir()}
    if names and not names & {JOURNAL, MANIFEST}:
        raise ConfigError("wrong-kind", f"--resume: {path}: is not the directory of a sweep (it has no {MANIFEST})")


def read_manifest(path: Path) -> Identity | None:
    """What was swept in a directory; None if its sweep is not complete.

    Raises:
        ConfigError: It is damaged, or the tables do not belong to it.
        OSError: It cannot be read.
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
        if not (path / name).is_file() or hash_of(path / name) != hashes.get(name):
            raise ConfigError(
                "malformed-file", f"{path / name}: is missing or damaged; sweep again into another folder"
            )
    return manifest


def damaged(path: Path) -> ConfigError:
    """What is told of a directory whose manifest says something that no sweep has written."""
    return ConfigError("malformed-file", f"{path / MANIFEST}: is damaged; sweep again into another folder")


def hash_of(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def part_of(path: Path) -> Path:
    """Where a file is written before it gets its name."""
    return path.with_name(path.name + PART)


def write_part(path: Path, text: str) -> None:
    """Writes a text beside where it will be."""
    write_text(part_of(path), text)


def reveal(path: Path) -> None:
    """Gives a file that was written beside it its name, once it is safe on the disk."""
    sync(part_of(path))
    part_of(path).replace(path)


def fresh_folder(path: Path) -> Path:
    """Makes an empty folder next to its final place."""
    shutil.rmtree(part_of(path), ignore_errors=True)
    part_of(path).mkdir()
    return part_of(path)


def reveal_folder(path: Path) -> None:
    """Moves a folder to its final place, once its files are safe on the disk."""
    for file in part_of(path).iterdir():
        sync(file)
    shutil.rmtree(path, ignore_errors=True)
    part_of(path).rename(path)


def sweep_up(path: Path) -> None:
    """Takes away everything that a sweep without tables has left, and the directory if nothing else is in it."""
    for name in (*(name + PART for name in (*TABLES, MANIFEST)), JOURNAL):
        (path / name).unlink(missing_ok=True)
    shutil.rmtree(part_of(path / MORE_TABLES), ignore_errors=True)
    with suppress(OSError):  # somebody put something else there
        path.rmdir()

"""Locks the places where a run writes. A lock names its owner, and the system releases it when the owner exits."""

from __future__ import annotations

import json
import os
import socket
import sys
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

from hostnet._core import ConfigError
from hostnet.files import errors_about

if TYPE_CHECKING:
    from collections.abc import Iterator

OWNER_BYTES_MAX = 4096
"""The longest description of an owner that is read back."""

WINDOWS_LOCKED_BYTE = 2**62
"""Windows locks bytes of a file, and a locked byte cannot be read: this one lies beyond all content."""


class LockedError(Exception):
    """Another process holds a lock, or has just released it and removed its file."""

    def __init__(self, *, released: bool) -> None:
        """`released` is True if the file has been removed meanwhile."""
        super().__init__()
        self.released = released


def lock_file(file: IO[bytes], path: Path) -> None:
    """Locks an open file for as long as it stays open; the system releases the lock when the process exits.

    Raises:
        LockedError: Another process holds it, or `path` is no longer this file.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(WINDOWS_LOCKED_BYTE)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise LockedError(released=False) from None
    if not path.exists() or not os.path.samestat(path.stat(), os.fstat(file.fileno())):
        raise LockedError(released=True)


@contextmanager
def owned(path: Path, lock: Path) -> Iterator[None]:
    """Owns `path` while the body runs, to the exclusion of other processes. `lock` is the lock file.

    Raises:
        ConfigError: Another process owns it; the message names that process.
        OSError: The lock cannot be written.
    """
    with errors_about(path, lock):
        file = os.fdopen(os.open(lock, os.O_RDWR | os.O_CREAT, 0o644), "r+b", 0)
    with file:
        try:
            lock_file(file, lock)
        except LockedError:
            raise ConfigError(
                "file-access", f"{path}: {_owner(file)} is writing there; name another place, or wait for it"
            ) from None
        file.truncate(0)
        file.write(json.dumps(_identity()).encode())
        try:
            yield
        finally:
            with suppress(OSError):
                lock.unlink()


def _identity() -> dict[str, str | int]:
    started = datetime.now(UTC).isoformat(timespec="seconds")
    return {"process": os.getpid(), "machine": socket.gethostname(), "since": started}


def _owner(file: IO[bytes]) -> str:
    """Describes the owner of a locked file, as far as it has written that down."""
    try:
        file.seek(0)
        told = json.loads(file.read(OWNER_BYTES_MAX))
        return f"process {told['process']:d} on {told['machine']} (since {told['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another run"

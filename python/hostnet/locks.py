"""Locks on the paths where a run writes. A lock names its owner, and the system releases it when the owner exits."""

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
from hostnet.files import errors_naming

if TYPE_CHECKING:
    from collections.abc import Iterator

OWNER_BYTES_MAX = 4096
"""Longest description of an owner that is read back, in bytes."""

WINDOWS_LOCKED_BYTE = 2**62
"""Offset of the byte that is locked on Windows. A locked byte cannot be read there, so the offset lies beyond all
content."""


class LockedError(Exception):
    """Raised if another process holds a lock, or has just released it and removed its file."""

    def __init__(self, *, released: bool) -> None:
        """Creates the error; `released` is True if the lock file has been removed meanwhile."""
        super().__init__()
        self.released = released


def lock_file(file: IO[bytes], path: Path) -> None:
    """Locks an open file for as long as it stays open; the system releases the lock when the process exits.

    Raises:
        LockedError: Another process holds the lock, or `path` no longer names this file.
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
def exclusive_lock(path: Path, lock: Path) -> Iterator[None]:
    """Holds an exclusive lock on `path` while the body runs; `lock` is the lock file.

    Raises:
        ConfigError: Another process owns `path`; the message names that process.
        OSError: The lock file cannot be written.
    """
    with errors_naming(path, lock):
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
    """Returns the description of this process that its lock files hold."""
    started = datetime.now(UTC).isoformat(timespec="seconds")
    return {"process": os.getpid(), "machine": socket.gethostname(), "since": started}


def _owner(file: IO[bytes]) -> str:
    """Describes the owner of a locked file, as far as its description can be read."""
    try:
        file.seek(0)
        record = json.loads(file.read(OWNER_BYTES_MAX))
        return f"process {record['process']:d} on {record['machine']} (since {record['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another run"

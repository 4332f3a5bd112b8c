"""Ends a process of a run when the process that started it has exited for any reason."""

from __future__ import annotations

import os
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

POLL_EVERY_S = 0.25
"""Interval at which a process checks that its parent is alive, in s."""

EXIT_ORPHANED = 1
"""Exit code of a process that lost its parent; usually no process is left to read it."""


def end_with_parent() -> None:
    """Ends this process when its parent exits: `mpirun`'s proxy, `srun`'s step, or any other starter.

    An orphan gets another parent, which can be detected on every system that has parent processes.
    """
    parent = os.getppid()

    def orphaned() -> None:
        while os.getppid() == parent:
            time.sleep(POLL_EVERY_S)

    _end_after(orphaned)


@contextmanager
def lifeline(path: Path) -> Iterator[None]:
    """Creates a named pipe at `path`; this process is its writer until the body or the process ends."""
    os.mkfifo(path)
    writer = os.open(path, os.O_RDWR)  # opening it write-only would block until there is a reader
    try:
        yield
    finally:
        os.close(writer)


def end_with_writer(path: Path) -> None:
    """Ends this process when a named pipe loses its writer, which is the process that started the run."""
    # A blocking open would wait for a writer that may be gone already.
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reader, True)

    def read_to_the_end() -> None:
        while os.read(reader, 4096):
            pass

    _end_after(read_to_the_end)


def _end_after(wait: Callable[[], None]) -> None:
    """Ends this process when `wait` returns, as if killed: nothing is flushed or published."""

    def watch() -> None:
        wait()
        os._exit(EXIT_ORPHANED)

    threading.Thread(target=watch, name="end-with-starter", daemon=True).start()

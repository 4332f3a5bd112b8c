"""Ends a process of a run when the one that started it has exited, for whatever reason."""

from __future__ import annotations

import os
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LOOK_EVERY_S = 0.25
"""Interval at which a process checks that its parent is alive."""

EXIT_ORPHANED = 1
"""The exit code of a process that lost its parent; usually nobody is left to read it."""


def end_with_parent() -> None:
    """Ends this process as soon as its parent is gone: `mpirun`'s proxy, `srun`'s step, or whatever started it.

    The system hands orphans to another parent, which shows on every system that has parents.
    """
    parent = os.getppid()

    def orphaned() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK_EVERY_S)

    _end_after(orphaned)


@contextmanager
def life_line(path: Path) -> Iterator[None]:
    """Makes a named pipe at `path` with this process as its writer, until the body or the process ends."""
    os.mkfifo(path)
    writer = os.open(path, os.O_RDWR)  # write-only, it would block until there is a reader
    try:
        yield
    finally:
        os.close(writer)


def end_with_writer(path: Path) -> None:
    """Ends this process as soon as a named pipe loses its writer, which is the process that started the run."""
    # A blocking open would wait for a writer that may be gone already.
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reader, True)

    def read_to_the_end() -> None:
        while os.read(reader, 4096):
            pass

    _end_after(read_to_the_end)


def _end_after(wait: Callable[[], None]) -> None:
    """Ends this process at once when `wait` returns, as if killed: nothing is flushed or published."""

    def watch() -> None:
        wait()
        os._exit(EXIT_ORPHANED)

    threading.Thread(target=watch, name="end-with-starter", daemon=True).start()

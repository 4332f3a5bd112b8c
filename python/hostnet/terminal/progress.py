"""Progress of a running simulation, status on request, and its interruption."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

from hostnet.terminal.bar import bar_for, in_notebook
from hostnet.terminal.status import Pace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType, TracebackType

    from hostnet.terminal.bar import Bar
    from hostnet.terminal.status import Status

    Progress = Callable[[dict[str, Any]], bool | None]
    ProgressArgument = Progress | bool | None

QUIET_S = 2.0
"""Runs shorter than this, in s, show no progress."""

LINE_EVERY_S = 10.0
"""Interval between progress lines without a terminal, in s."""

SWITCH = "HOSTNET_PROGRESS"
"""Environment variable that switches the bars of the Python API off with the value 0."""


class Display:
    """Shows the progress of a run: its progress callback.

    A terminal and a notebook get a bar, and a file a line from time to time.
    """

    def __init__(self, *, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        """Creates a display that writes to `stream`, by default to stderr."""
        self.pace = Pace(clock)
        self._stream = stream or sys.stderr
        self._line_due_s = LINE_EVERY_S
        self._bar: Bar | None = None

    def __call__(self, status: Status) -> bool:
        """Shows the state of the run, unless it is short. Returns True to continue it."""
        self.pace.update(status)
        if self.pace.elapsed_s >= QUIET_S:
            self._show(status)
        return True

    def close(self) -> None:
        """Removes the bar."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _show(self, status: Status) -> None:
        elapsed_s = self.pace.elapsed_s
        if in_notebook() or self._stream.isatty():
            self._bar = self._bar or bar_for(self._stream)
            self._bar.show(status, self.pace)
        elif elapsed_s >= self._line_due_s:
            self._line_due_s = elapsed_s + LINE_EVERY_S
            self._stream.write(f"{self.pace.line()}\n")
            self._stream.flush()


@contextmanager
def follow(progress: ProgressArgument) -> Iterator[Progress]:
    """Yields the progress callback of a function of the API.

    That is `progress` if it is one. Else it is a display with True, none with False, and with None a display if
    someone may look at it.
    """
    if callable(progress):
        yield progress
        return
    if not (is_watched() if progress is None else progress):
        yield _show_nothing
        return
    display = Display()
    try:
        yield display
    finally:
        display.close()


def is_watched() -> bool:
    """Returns True in a notebook and on a terminal, except in tests and where the environment says no."""
    if os.environ.get(SWITCH) == "0" or "PYTEST_CURRENT_TEST" in os.environ:
        return False
    return in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def _show_nothing(status: Status) -> None:
    """Ignores the state of a run. It is no None, with which a function called by another one would show a bar."""
    del status


class Watch(Display):
    """Follows a run of a command: a display, and a context manager that installs the signal handlers.

    The first Ctrl-C stops the run and keeps its results, the second one exits at once.
    """

    def __init__(
        self,
        *,
        show: bool,
        keeps: bool = True,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Creates a watch. Without `show`, only signals are handled. `keeps` is True if a stopped run has results."""
        super().__init__(stream=stream, clock=clock)
        self.show = show
        self.stopped = False
        self.kept = "what was measured so far is being kept" if keeps else "nothing is written"
        self._writing = False
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> Watch:
        """Installs the handlers of SIGINT and SIGUSR1."""
        self._handle(signal.SIGINT, self._on_interrupt)
        if hasattr(signal, "SIGUSR1"):
            self._handle(signal.SIGUSR1, self._on_status_wanted)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Restores the handlers and removes the progress bar."""
        self.close()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def __call__(self, status: Status) -> bool:
        """Takes the state of the run. Returns True to continue it."""
        if self.show:
            super().__call__(status)
        else:
            self.pace.update(status)
        return not self.stopped

    def finish(self) -> None:
        """Removes the progress bar. Call it when the simulation is over and its results are about to be written."""
        self.close()
        self.show = False
        self._writing = True
        self._handle(signal.SIGINT, self._on_interrupt)

    def _handle(self, number: int, handler: Any) -> None:
        before = signal.signal(number, handler)
        self._handlers.setdefault(number, before)

    def _on_interrupt(self, number: int, frame: FrameType | None) -> None:
        """Stops the run. A second Ctrl-C must work even while no Python code runs, so it gets the default handler."""
        del number, frame
        if self._writing and self.stopped:
            raise KeyboardInterrupt
        self.stopped = True
        if not self._writing:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        kept = "nothing is written" if self._is_preparing() else self.kept
        self._say(f"hostnet: stopping; {kept} (Ctrl-C again: leave at once)")

    def _on_status_wanted(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self._say(self.pace.line())

    def _is_preparing(self) -> bool:
        """Returns True if a single run is being followed and has not begun."""
        return self.pace.last is not None and "points" in self.pace.last and "total" not in self.pace.last

    def _say(self, text: str) -> None:
        """Writes to the descriptor directly, because a signal may have interrupted a write to Python's buffer."""
        with suppress(OSError):
            os.write(self._stream.fileno(), f"{text}\n".encode())

"""Progress display, status on request, and interruption of a running simulation."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO

from hostnet.units import format_count, format_percent, format_time, format_wall

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType

    from rich.progress import Progress

QUIET_S = 2.0
"""Runs shorter than this, in s, show no progress."""

LINE_EVERY_S = 10.0
"""Interval between progress lines without a terminal, in s."""

ALMOST = 0.99
"""Largest progress shown before the end of a run, because the length of a warm-up is only estimated."""

RATE_AFTER_S = 0.5
"""Time before a rate is shown, in s."""


class Watch:
    """Follows a run: its progress callback, and a context manager that installs the signal handlers.

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
        self.show = show
        self.stopped = False
        self.kept = "what was measured so far is being kept" if keeps else "nothing is written"
        self._writing = False
        self._stream = stream or sys.stderr
        self._clock = clock
        self._began_s = clock()
        self._first_s = self._began_s
        self._line_due_s = LINE_EVERY_S
        self._first: dict[str, Any] | None = None
        self._last: dict[str, Any] | None = None
        self._bar: Progress | None = None
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
        self._hide()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def __call__(self, status: dict[str, Any]) -> bool:
        """Takes the status of the run. Returns True to continue it."""
        now_s = self._clock()
        if self._first is None or (self._last is not None and progress_share(status) < progress_share(self._last)):
            # A smaller share means that a new phase has begun, so its rate is measured from here.
            self._first, self._first_s = status, self._began_s if self._first is None else now_s
        self._last = status
        elapsed_s = now_s - self._began_s
        if self.show and elapsed_s >= QUIET_S:
            self._show(status, elapsed_s)
        return not self.stopped

    def finish(self) -> None:
        """Removes the progress bar. Call it when the simulation is over and its results are about to be written."""
        self._hide()
        self.show = False
        self._writing = True
        self._handle(signal.SIGINT, self._on_interrupt)

    def line(self) -> str:
        """Returns the state of the run as one line."""
        if self._last is None:
            return "hostnet: starting"
        done = time_text(self._last)
        done += " simulated" if done and "simulated_ps" in self._last else ""
        parts = [
            format_percent(progress_share(self._last)) if has_end(self._last) else "",
            done,
            *self._pace(self._last),
        ]
        return f"hostnet: {phase(self._last)}: {', '.join(filter(None, parts))}"

    def _handle(self, number: int, handler: Any) -> None:
        before = signal.signal(number, handler)
        self._handlers.setdefault(number, before)

    def _hide(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

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
        self._say(self.line())

    def _is_preparing(self) -> bool:
        """Returns True if a single run is being followed and has not begun."""
        return self._last is not None and "points" in self._last and "total" not in self._last

    def _say(self, text: str) -> None:
        """Writes to the descriptor directly, because a signal may have interrupted a write to Python's buffer."""
        with suppress(OSError):
            os.write(self._stream.fileno(), f"{text}\n".encode())

    def _show(self, status: dict[str, Any], elapsed_s: float) -> None:
        if self._stream.isatty():
            self._show_bar(status)
        elif elapsed_s >= self._line_due_s:
            self._line_due_s = elapsed_s + LINE_EVERY_S
            self._stream.write(f"{self.line()}\n")
            self._stream.flush()

    def _show_bar(self, status: dict[str, Any]) -> None:
        if self._bar is None:
            self._bar = new_bar(self._stream)
            self._bar.add_task("", total=1.0, detail="")
            self._bar.start()
        detail = ", ".join(filter(None, (time_text(status), *self._pace(status))))
        task = self._bar.tasks[0]
        task.total = 1.0 if has_end(status) else None
        self._bar.update(task.id, completed=progress_share(status), description=phase(status), detail=detail)
        self._bar.refresh()

    def _pace(self, status: dict[str, Any]) -> list[str]:
        """Returns the events per second and the time left, once they are known."""
        assert self._first is not None
        elapsed_s = self._clock() - self._first_s
        gained = progress_share(status) - progress_share(self._first)
        if elapsed_s < RATE_AFTER_S:
            return []
        noun = rate_key(status)
        pace = [format_count((status[noun] - self._first.get(noun, 0)) / elapsed_s, f"{noun}/s")]
        if gained > 0 and has_end(status) and progress_share(status) < ALMOST:
            pace.append(f"about {format_wall(elapsed_s * (1 - progress_share(status)) / gained)} left")
        return pace


def progress_share(status: dict[str, Any]) -> float:
    """Returns the share of the work that is done, 0 to 1; less than 1 while a run continues."""
    goes_on = "total" in status and status["done"] < status["total"]
    return min(float(status["progress"]), ALMOST if goes_on else 1.0)


def has_end(status: dict[str, Any]) -> bool:
    """Returns True if the end is known. A run until its jobs are done has no known end."""
    return "points" in status or status.get("target_ps") != 0


def phase(status: dict[str, Any]) -> str:
    """Describes the current phase."""
    if "total" in status:
        return f"{status['done']} of {status['total']} {status.get('what', 'runs')}"
    return str(status["phase"])


def rate_key(status: dict[str, Any]) -> str:
    """Returns the key of the count from which the rate is computed."""
    return next(noun for noun in ("points", "events", "requests", "packets", "bytes") if noun in status)


def time_text(status: dict[str, Any]) -> str:
    """Returns the simulated time and its target, or the bytes read if nothing is simulated; empty for points."""
    if "points" in status:
        return ""
    if "simulated_ps" not in status:
        return format_count(status["bytes"], "bytes read")
    simulated = format_time(status["simulated_ps"])
    return f"{simulated} of {format_time(status['target_ps'])}" if status.get("target_ps") else simulated


def new_bar(stream: TextIO) -> Progress:
    """Creates a progress bar that disappears at the end."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TaskProgressColumn("[progress.percentage]{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[detail]}"),
        console=Console(file=stream),
        auto_refresh=False,
        transient=True,
    )

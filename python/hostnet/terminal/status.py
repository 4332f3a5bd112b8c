"""State of a running simulation, as its progress callback receives it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from hostnet.units import format_count, format_percent, format_time, format_wall

if TYPE_CHECKING:
    from collections.abc import Callable

    Status = dict[str, Any]

ALMOST = 0.99
"""Largest progress shown before the end of a run, because the length of a warm-up is only estimated."""

RATE_AFTER_S = 0.5
"""Time before a rate is shown, in s."""


class Pace:
    """Follows the states of a run, and estimates its speed and the time that is left."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Starts the clock of the run."""
        self.last: Status | None = None
        self.may_end_early = False
        """True if a run may end before its target."""
        self._clock = clock
        self._began_s = clock()
        self._first: Status | None = None
        self._first_s = self._began_s

    @property
    def elapsed_s(self) -> float:
        """Time since the start, in s."""
        return self._clock() - self._began_s

    def update(self, status: Status) -> None:
        """Takes the current state."""
        if self._first is None or (self.last is not None and progress_share(status) < progress_share(self.last)):
            # A smaller share means that a new phase has begun, so its rate is measured from here.
            self._first, self._first_s = status, self._began_s if self._first is None else self._clock()
        self.last = status

    def line(self) -> str:
        """Returns the state of the run as one line."""
        if self.last is None:
            return "hostnet: starting"
        done = time_text(self.last)
        done += " simulated" if done and "simulated_ps" in self.last else ""
        share = format_percent(progress_share(self.last)) if has_end(self.last) else ""
        return f"hostnet: {phase(self.last)}: {', '.join(filter(None, [share, done, *self._rates(self.last)]))}"

    def detail(self, status: Status) -> str:
        """Returns what the bar does not show: the simulated time, the speed and the time that is left."""
        return ", ".join(filter(None, (time_text(status), *self._rates(status))))

    def _rates(self, status: Status) -> list[str]:
        """Returns the events per second and the time left, once they are known."""
        assert self._first is not None
        elapsed_s = self._clock() - self._first_s
        gained = progress_share(status) - progress_share(self._first)
        if elapsed_s < RATE_AFTER_S:
            return []
        noun = rate_key(status)
        rates = [format_count((status[noun] - self._first.get(noun, 0)) / elapsed_s, f"{noun}/s")]
        if gained > 0 and has_end(status) and progress_share(status) < ALMOST:
            left = format_wall(elapsed_s * (1 - progress_share(status)) / gained)
            rates.append(f"{'at most' if self.may_end_early else 'about'} {left} left")
        return rates


def progress_share(status: Status) -> float:
    """Returns the share of the work that is done, 0 to 1; less than 1 while a run continues."""
    goes_on = "total" in status and status["done"] < status["total"]
    return min(float(status["progress"]), ALMOST if goes_on else 1.0)


def has_end(status: Status) -> bool:
    """Returns True if the end is known. A run until its jobs are done has no known end."""
    return "points" in status or status.get("target_ps") != 0


def phase(status: Status) -> str:
    """Describes the current phase."""
    if "total" in status:
        return f"{status['done']} of {status['total']} {status.get('what', 'runs')}"
    return str(status["phase"])


def rate_key(status: Status) -> str:
    """Returns the key of the count from which the rate is computed."""
    return next(noun for noun in ("points", "events", "requests", "packets", "bytes") if noun in status)


def time_text(status: Status) -> str:
    """Returns the simulated time and its target, or the bytes read if nothing is simulated; empty for points."""
    if "points" in status:
        return ""
    if "simulated_ps" not in status:
        return format_count(status["bytes"], "bytes read")
    simulated = format_time(status["simulated_ps"])
    return f"{simulated} of {format_time(status['target_ps'])}" if status.get("target_ps") else simulated

"""Checks the arguments of the Python API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.running.ranges import THREADS_MAX
from hostnet.units import format_time, parse_time_ps

if TYPE_CHECKING:
    from hostnet._core import Plan

STEPS_MAX = 1_000_000
"""Maximum number of steps of a time series. Each step is one row, or one row per server."""


def check_threads(threads: int) -> None:
    """Checks a number of threads.

    Raises:
        ConfigError: `threads` is not a whole number between 1 and `THREADS_MAX`.
    """
    if not isinstance(threads, int) or not 1 <= threads <= THREADS_MAX:
        raise ConfigError("out-of-range", f"threads: {threads!r} must be a whole number between 1 and {THREADS_MAX}")


def check_steps(plan: Plan, series_ps: int) -> None:
    """Checks that a time series with steps of `series_ps` has at most `STEPS_MAX` steps.

    Raises:
        ConfigError: The series would be longer.
    """
    if not series_ps:
        return
    run = json.loads(plan.effective_json())["run"]
    length_ps = parse_time_ps(run.get("duration") or run["duration_max"], "run.duration")
    if length_ps > STEPS_MAX * series_ps:
        raise ConfigError(
            "too-many",
            f"series: {format_time(length_ps)} have {length_ps // series_ps} steps of {format_time(series_ps)}; "
            f"at most {STEPS_MAX} are recorded",
        )


def check_callbacks(guests: Any, what: str, example: str) -> None:
    """Checks that controllers or governors are given as a mapping from host names.

    Raises:
        ConfigError: They are not.
    """
    if guests is None:
        return
    if not isinstance(guests, Mapping) or not all(isinstance(name, str) for name in guests):
        raise ConfigError("wrong-type", f"{what}: a mapping from names of hosts is wanted, such as {example}")

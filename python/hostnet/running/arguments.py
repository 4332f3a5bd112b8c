"""Checks the arguments of the Python API."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.running.ranges import THREADS_MAX
from hostnet.units import format_time, parse_time_ps

if TYPE_CHECKING:
    from hostnet._core import Plan

STEPS_MAX = 1_000_000
"""Maximum number of steps of a time series. Each step is one row, or one row per server."""


def json_of(content: Any, what: str) -> str:
    """Converts nested mappings and sequences to JSON, as a file with that content would hold it.

    Raises:
        ConfigError: The content cannot be stored as JSON; the message starts with `what` and names the place and the
            value.
    """
    try:
        return json.dumps(_plain(content, what, ""), indent=2, ensure_ascii=False)
    except RecursionError:
        raise ConfigError("syntax", f"{what}: is nested too deeply") from None


def _plain(value: Any, what: str, path: str) -> Any:
    """Converts a value to dicts, lists, strings and numbers of Python."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise ConfigError("wrong-type", f"{what}: {path}{': ' if path else ''}keys must be text")
        return {key: _plain(item, what, f"{path}.{key}".removeprefix(".")) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [_plain(item, what, f"{path}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and math.isfinite(value):
        return float(value)
    raise ConfigError("wrong-type", f"{what}: {path}: {value!r} is no text, number, true or false, list or table")


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

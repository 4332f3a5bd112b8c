"""What a call of the Python API may ask for."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.units import format_time, parse_time_ps

if TYPE_CHECKING:
    from hostnet._core import Plan

THREADS_MAX = 1024

STEPS_MAX = 1_000_000
"""Steps of a time series at most: a row each, or one per server."""


def json_of(content: Any, what: str) -> str:
    """The JSON of nested mappings and sequences, as a file of the same content would have it.

    Raises:
        ConfigError: A file cannot hold it; the message, which begins with `what`, names the place and the value.
    """
    try:
        return json.dumps(_plain(content, what, ""), indent=2, ensure_ascii=False)
    except RecursionError:
        raise ConfigError("syntax", f"{what}: is nested too deeply") from None


def _plain(value: Any, what: str, path: str) -> Any:
    """The same of dicts, lists, texts and numbers of Python alone."""
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
    """Refuses a number of threads that is none.

    Raises:
        ConfigError: It is no whole number from 1 on, or too large.
    """
    if not isinstance(threads, int) or not 1 <= threads <= THREADS_MAX:
        raise ConfigError("out-of-range", f"threads: {threads!r} must be a whole number between 1 and {THREADS_MAX}")


def check_steps(plan: Plan, series_ps: int) -> None:
    """Refuses a step that makes a time series of an unreasonable length.

    Raises:
        ConfigError: It does.
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


def check_guests(guests: Any, what: str, example: str) -> None:
    """Refuses controllers, or governors, that are not given by the names of hosts.

    Raises:
        ConfigError: They are not.
    """
    if guests is None:
        return
    if not isinstance(guests, Mapping) or not all(isinstance(name, str) for name in guests):
        raise ConfigError("wrong-type", f"{what}: a mapping from names of hosts is wanted, such as {example}")

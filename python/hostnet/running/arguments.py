"""Checks the arguments of the Python API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hostnet._core import ConfigError
from hostnet.running.ranges import THREADS_MAX


def check_threads(threads: int) -> None:
    """Checks a number of threads.

    Raises:
        ConfigError: `threads` is not a whole number between 1 and `THREADS_MAX`.
    """
    if not isinstance(threads, int) or not 1 <= threads <= THREADS_MAX:
        raise ConfigError("out-of-range", f"threads: {threads!r} must be a whole number between 1 and {THREADS_MAX}")


def check_callbacks(guests: Any, what: str, example: str) -> None:
    """Checks that controllers or governors are given as a mapping from host names.

    Raises:
        ConfigError: They are not.
    """
    if guests is None:
        return
    if not isinstance(guests, Mapping) or not all(isinstance(name, str) for name in guests):
        raise ConfigError("wrong-type", f"{what}: a mapping from names of hosts is wanted, such as {example}")

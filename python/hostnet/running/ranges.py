"""Ranges of options that commands have in common."""

from __future__ import annotations

from hostnet._core import ConfigError

SEEDS_MAX = 10_000
"""The most seeds of one command."""


def check_range(option: str, value: int | None, most: int) -> None:
    """Checks an option that counts something from 1 on, if it is given.

    Raises:
        ConfigError: The value is not between 1 and `most`.
    """
    if value is not None and not 1 <= value <= most:
        raise ConfigError(f"{option} {value}: must be between 1 and {most}")

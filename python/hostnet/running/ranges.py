"""Ranges of options that commands have in common."""

from __future__ import annotations

from hostnet._core import ConfigError

SEEDS_MAX = 10_000
"""The most seeds of one command."""


SEED_MAX = 2**64 - 1
"""The largest seed."""

SEED_RULE = "must be a whole number between 0 and 2^64 - 1"
"""What is said of a seed that is none."""


def check_seed(option: str, seed: int | None) -> None:
    """Checks a seed, if it is given.

    Raises:
        ConfigError: The value is not between 0 and `SEED_MAX`.
    """
    if seed is not None and not 0 <= seed <= SEED_MAX:
        raise ConfigError("out-of-range", f"{option} {seed}: {SEED_RULE}")


def check_range(option: str, value: int | None, most: int) -> None:
    """Checks an option that counts something from 1 on, if it is given.

    Raises:
        ConfigError: The value is not between 1 and `most`.
    """
    if value is not None and not 1 <= value <= most:
        raise ConfigError("out-of-range", f"{option} {value}: must be between 1 and {most}")

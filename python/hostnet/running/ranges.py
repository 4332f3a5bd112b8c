"""Ranges of options that several commands share."""

from __future__ import annotations

from hostnet._core import ConfigError

SEEDS_MAX = 10_000
"""Maximum number of seeds of one command."""

THREADS_MAX = 1024
"""Maximum number of threads of one run."""

CORES_MAX = 1024
"""Maximum number of cores of a socket."""

SEED_MAX = 2**64 - 1
"""Largest seed."""

SEED_RULE = "must be a whole number between 0 and 2^64 - 1"
"""Rule that the error message about an invalid seed states."""


def check_seed(option: str, seed: int | None) -> None:
    """Checks a seed unless it is None.

    Raises:
        ConfigError: The seed is not between 0 and `SEED_MAX`.
    """
    if seed is not None and not 0 <= seed <= SEED_MAX:
        raise ConfigError("out-of-range", f"{option} {seed}: {SEED_RULE}")


def check_range(option: str, value: int | None, most: int) -> None:
    """Checks that an option is between 1 and `most`, unless it is None.

    Raises:
        ConfigError: The value is out of range.
    """
    if value is not None and not 1 <= value <= most:
        raise ConfigError("out-of-range", f"{option} {value}: must be between 1 and {most}")

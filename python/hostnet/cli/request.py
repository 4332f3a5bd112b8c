"""What the user asked `hostnet run` to do, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hostnet._core import ConfigError
from hostnet.units import parse_time_ps

if TYPE_CHECKING:
    from pathlib import Path

SEEDS_MAX = 10_000
"""The most seeds of one command."""

THREADS_MAX = 1024
"""The most threads of one run."""


@dataclass(frozen=True)
class Request:
    """The options of `hostnet run` as they were typed."""

    file: Path
    overrides: tuple[str, ...] = ()
    seed: int | None = None
    seeds: int | None = None
    threads: int | None = None
    out: Path | None = None
    json: bool = False
    csv: bool = False
    quiet: bool = False
    series: str | None = None
    checkpoint_at: str | None = None
    checkpoint: Path | None = None
    from_checkpoint: Path | None = None
    compare: str | None = None

    @property
    def series_ps(self) -> int:
        """The step of the time series in ps; 0 for none."""
        return 0 if self.series is None else parse_time_ps(self.series, "--series")

    @property
    def checkpoint_at_ps(self) -> int:
        """The simulated time of the checkpoint in ps; 0 for none."""
        return 0 if self.checkpoint_at is None else parse_time_ps(self.checkpoint_at, "--checkpoint-at")

    def check(self) -> None:
        """Refuses options that contradict each other or are out of range.

        Raises:
            ConfigError: Says which, and what would be right.
        """
        _check_range("--threads", self.threads, THREADS_MAX)
        _check_range("--seeds", self.seeds, SEEDS_MAX)
        if self.compare not in (None, "predict"):
            raise ConfigError(f'--compare {self.compare}: must be "predict"')
        if self.compare is not None and (self.json or self.quiet or self.seeds is not None):
            raise ConfigError("--compare predict: shows one run on the screen; leave out --json, --quiet and --seeds")
        if self.json and self.quiet:
            raise ConfigError("--json and --quiet: both say what to print; give one of them")
        if (self.checkpoint is None) != (self.checkpoint_at is None):
            raise ConfigError("--checkpoint and --checkpoint-at: give both or neither")
        if self.checkpoint is not None and (self.checkpoint.is_dir() or not self.checkpoint.parent.is_dir()):
            raise ConfigError(f"--checkpoint {self.checkpoint}: name a file in a folder that exists")
        if self.seeds is not None and (self.checkpoint is not None or self.from_checkpoint is not None):
            raise ConfigError("--seeds: a checkpoint is of one run; give --seed instead of --seeds")
        if self.from_checkpoint is not None and self.checkpoint is not None:
            raise ConfigError("--from and --checkpoint: give one of them")
        _ = self.series_ps, self.checkpoint_at_ps


def _check_range(option: str, value: int | None, most: int) -> None:
    if value is not None and not 1 <= value <= most:
        raise ConfigError(f"{option} {value}: must be between 1 and {most}")

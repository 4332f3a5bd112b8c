"""Kinds of things that can be explained, and checks of the options for each."""

from __future__ import annotations

from enum import Enum, auto
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.files import CONFIGURATIONS
from hostnet.running.ranges import CORES_MAX, check_range
from hostnet.running.results import Results

if TYPE_CHECKING:
    from collections.abc import Sequence


class Subject(Enum):
    """A subject of `explain`."""

    RUN = auto()
    """Results, or a run directory."""
    CONFIGURATION = auto()
    """Configuration to run first."""
    COUNTERS = auto()
    """File of hardware counters."""


def subject_of(what: Any) -> Subject:
    """Returns the kind of something to explain: results, a path, or a configuration as a Python object.

    Raises:
        ConfigError: There is no such file.
    """
    if isinstance(what, Results):
        return Subject.RUN
    if not isinstance(what, str | PathLike):
        return Subject.CONFIGURATION
    path = Path(what)
    if not path.exists():
        raise ConfigError("file-not-found", f"{path}: there is no such run directory or file")
    if path.is_dir():
        return Subject.RUN
    return Subject.CONFIGURATION if path.suffix in CONFIGURATIONS else Subject.COUNTERS


def check_options(
    subject: Subject,
    *,
    server: object,
    cores: int | None,
    overrides: Sequence[str],
    host: str | None,
    slos: Sequence[str] = (),
    confirm: bool,
    brief: bool,
) -> None:
    """Rejects options that contradict each other, do not apply, or are out of range.

    Raises:
        ConfigError: There is such an option; the message suggests a remedy.
    """
    for option, value in (("--server", server), ("--cores", cores)):
        if value is not None and subject is not Subject.COUNTERS:
            raise ConfigError(
                "no-effect", f"{option}: only counters need it; a run and a configuration say it themselves"
            )
    if host is not None and subject is Subject.COUNTERS:
        raise ConfigError("no-effect", "--host: counters are of one server")
    check_range("--cores", cores, CORES_MAX)
    if overrides and subject is not Subject.CONFIGURATION:
        raise ConfigError("wrong-kind", "--set: only a configuration can be changed")
    if slos and subject is Subject.COUNTERS:
        raise ConfigError("wrong-kind", "--slo: counters have no services; name a run directory or a configuration")
    if confirm and (brief or slos):
        other = "--brief: give one of them" if brief else "--slo: give one of them; --slo always simulates"
        raise ConfigError("conflicting-keys", f"--confirm and {other}")

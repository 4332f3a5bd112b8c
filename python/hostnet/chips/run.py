"""Runs chips."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.chips.results import ChipResults
from hostnet.running.simulate import source_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from hostnet.running.results import Source

    Progress = Callable[[dict[str, Any]], bool | None]


def chip(
    config: str | PathLike[str] | Mapping[str, Any],
    *,
    overrides: Sequence[str] = (),
    seed: int | None = None,
    progress: Progress | None = None,
) -> ChipResults:
    """Simulates a chip whose cores read or write the memory of another chip.

    Args:
        config: The path of a configuration, or its tables as a mapping, such as
            {"chip": {"preset": "scale-out-64"}, "ni": {"placement": "edge"}}.
        overrides: Values of other keys, such as "workload.mode=async".
        seed: Seed of the random streams, instead of the configuration's.
        progress: Called about ten times a second with a dict of phase, simulated_ps, events (cycles) and progress (0 to
            1). If it returns False, the run stops, and its results are not complete.

    Raises:
        ConfigError: Something is wrong with the configuration.
        OSError: The file cannot be read.
    """
    return run_chip_plan(chip_plan(source_of(config, overrides), seed), progress=progress)


def chip_plan(source: Source, seed: int | None = None) -> _core.ChipPlan:
    """Checks what the user gave.

    Raises:
        ConfigError: Something is wrong.
    """
    overrides = [*source.overrides, *([] if seed is None else [f"run.seed={seed}"])]
    return _core.chip_plan(
        source.text, format=source.format, file=source.file, base_dir=source.base_dir, overrides=overrides
    )


def run_chip_plan(plan: _core.ChipPlan, *, progress: Progress | None = None) -> ChipResults:
    """Runs a checked configuration; `chip` without the checks."""
    began_s = time.perf_counter()
    native = _core.run_chip(plan, progress=progress)
    return ChipResults(native, time.perf_counter() - began_s)

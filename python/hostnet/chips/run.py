"""Runs chips and racks of chips."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.chips.results import ChipResults
from hostnet.processes import ResultsElsewhereError
from hostnet.running.arguments import check_threads
from hostnet.running.ranges import check_seed
from hostnet.running.simulate import source_of
from hostnet.terminal.progress import follow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from hostnet.processes import Group
    from hostnet.running.results import Source
    from hostnet.terminal.progress import Progress, ProgressArgument


def chip(
    config: str | PathLike[str] | Mapping[str, Any],
    *,
    overrides: Sequence[str] = (),
    seed: int | None = None,
    threads: int = 1,
    progress: ProgressArgument = None,
) -> ChipResults:
    """Simulates a chip whose cores read or write the memory of another chip, or a rack of such chips.

    Args:
        config: The path of a configuration, or its tables as a mapping, such as
            {"chip": {"preset": "scale-out-64"}, "ni": {"placement": "edge"}}.
        overrides: Values of other keys, such as "workload.mode=async".
        seed: Seed that overrides the one of the configuration.
        threads: Most threads for a rack; results do not depend on it.
        progress: As for `hostnet.run`, with a dict of phase, simulated_ps, events (cycles) and progress (0 to 1). If
            the function returns False, the run stops, and its results are not complete.

    Raises:
        ConfigError: The configuration or an argument is invalid.
        OSError: The file cannot be read.
    """
    with follow(progress) as callback:
        return run_chip_plan(chip_plan(source_of(config, overrides), seed), threads=threads, progress=callback)


def chip_plan(source: Source, seed: int | None = None) -> _core.ChipPlan:
    """Resolves a configuration.

    Raises:
        ConfigError: The configuration or the seed is invalid.
    """
    check_seed("seed", seed)
    overrides = [*source.overrides, *([] if seed is None else [f"run.seed={seed}"])]
    return _core.chip_plan(
        source.text, format=source.format, file=source.file, base_dir=source.base_dir, overrides=overrides
    )


def run_chip_plan(
    plan: _core.ChipPlan, *, threads: int = 1, processes: Group | None = None, progress: Progress | None = None
) -> ChipResults:
    """Runs a resolved configuration. With `processes`, each process calls it.

    Raises:
        ResultsElsewhereError: The run is over, and this process is not the first.
    """
    check_threads(threads)
    began_s = time.perf_counter()
    if processes is not None:
        processes.begin()
    native = _core.run_chip(plan, threads=threads, processes=processes, progress=progress)
    if native is None:
        raise ResultsElsewhereError
    return ChipResults(native, time.perf_counter() - began_s)

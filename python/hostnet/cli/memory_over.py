"""`hostnet memory --over`: the memory on its own under every combination of some values, a row for each."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

from hostnet import memory_alone
from hostnet._core import ConfigError
from hostnet.cli.main import EXIT_INTERRUPTED
from hostnet.cli.memory import plan_of
from hostnet.cli.show import NOTHING, new_table, number, page, percent, print_tables
from hostnet.sweeps.axis import axes_of
from hostnet.terminal.progress import Watch
from hostnet.terminal.screen import say_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.cli.memory import Options
    from hostnet.memory_alone.results import MemoryResult
    from hostnet.sweeps.axis import Axis

MEASURED = ("GB/s", "of peak", "read ns", "p99", "row hits", "ACT/request")
"""What a row shows beside its values."""


def over_command(options: Options) -> int:
    """Runs every combination and returns the exit code. All of them are checked before the first one runs."""
    if options.commands is not None:
        raise ConfigError("--commands: the commands are of one run; leave out --over")
    axes = axes_of(options.over)
    settings = [
        [axis.setting(index) for axis, index in zip(axes, choice, strict=True)]
        for choice in product(*(range(len(axis.values)) for axis in axes))
    ]
    plans = [plan_of(replace(options, overrides=(*options.overrides, *setting))) for setting in settings]
    found: list[MemoryResult] = []
    with Watch(show=True) as watch:
        for plan in plans:
            if watch.stopped:
                break
            result = memory_alone.run_plan(plan, progress=watch)
            if result.complete:
                found.append(result)
    _show(options, axes, settings, found)
    return EXIT_INTERRUPTED if watch.stopped else 0


def _show(options: Options, axes: Sequence[Axis], settings: list[list[str]], found: list[MemoryResult]) -> None:
    rows = [
        ([one.partition("=")[2] for one in setting], result) for setting, result in zip(settings, found, strict=False)
    ]
    if options.json:
        paths = [axis.path for axis in axes]
        say_json([{"over": dict(zip(paths, values, strict=True)), **result.to_dict()} for values, result in rows])
        return
    names = [axis.path.rpartition(".")[2] for axis in axes]
    table = new_table(*names, *MEASURED, left=range(len(axes)))
    for values, result in rows:
        table.add_row(*values, *_cells(result.summary))
    with page() as console:
        print_tables(console, table)


def _cells(summary: dict[str, Any]) -> list[str]:
    """Bandwidth, latency of reads and rows of a run; the latency from the arrival, if requests have one."""
    times = summary["latency"]["read_from_arrival"] or summary["latency"]["read_from_acceptance"]
    latency = [NOTHING] * 2 if times is None else [number(times["mean_ns"]), number(times["p99_ns"])]
    rows = summary["rows"]
    return [
        number(summary["bandwidth"]["gb_per_s"]),
        percent(summary["bandwidth"]["share_of_peak"]),
        *latency,
        percent(rows["hit_share"]),
        number(rows["activations_per_request"]),
    ]

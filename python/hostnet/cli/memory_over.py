"""`hostnet memory --over`: runs every combination of values and prints a row for each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hostnet import memory_alone
from hostnet._core import ConfigError
from hostnet.cli.main import EXIT_INTERRUPTED
from hostnet.cli.memory import resolve_options
from hostnet.cli.over import check_set_once, combination_settings, combinations, reword_for_over
from hostnet.cli.show import NOTHING, buffered_console, new_table, number, percent, print_notes, print_tables, rate
from hostnet.sweeps.axis import axes_of
from hostnet.sweeps.grid import check_points
from hostnet.terminal.layout import short_paths
from hostnet.terminal.progress import Watch
from hostnet.terminal.screen import echo_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet._core import MemoryPlan
    from hostnet.cli.memory_options import MemoryOptions
    from hostnet.cli.over import Choice
    from hostnet.memory_alone.results import MemoryResult
    from hostnet.sweeps.axis import Axis

    Point = tuple[Choice, MemoryResult]

MEASURED = ("GB/s", "of peak", "read ns", "P99", "row hits", "ACT/request")
"""Columns of a row beside its values."""


def over_command(options: MemoryOptions) -> int:
    """Runs every combination and returns the exit code. All combinations are checked before the first one runs."""
    if options.commands is not None:
        raise ConfigError("conflicting-keys", "--commands: the commands are of one run; leave out --over")
    axes = axes_of(options.over)
    check_points([len(axis.values) for axis in axes])
    check_set_once(options.settings(), options.overrides, axes)
    for choice in combinations(axes):
        _resolve_combination(options, combination_settings(axes, choice))
    found: list[Point] = []
    with Watch(show=True) as watch:
        for choice in combinations(axes):
            if watch.stopped:
                break
            result = memory_alone.run_plan(
                _resolve_combination(options, combination_settings(axes, choice)), progress=watch
            )
            if result.complete:
                found.append((choice, result))
    _show(axes, found, as_json=options.json)
    return EXIT_INTERRUPTED if watch.stopped else 0


def _resolve_combination(options: MemoryOptions, settings: tuple[str, ...]) -> MemoryPlan:
    """Resolves a combination.

    Raises:
        ConfigError: It is invalid; the message names the option as given.
    """
    try:
        return resolve_options(replace(options, overrides=(*options.overrides, *settings)))
    except ConfigError as error:
        raise error.reworded(reword_for_over(settings, str(error))) from None


def _show(axes: Sequence[Axis], found: list[Point], *, as_json: bool) -> None:
    """Prints the results as a table or JSON."""
    rows = [([axis.values[index] for axis, index in zip(axes, choice, strict=True)], one) for choice, one in found]
    if as_json:
        echo_json(
            [
                {"over": {axis.path: value.content for axis, value in zip(axes, values, strict=True)}, **one.to_dict()}
                for values, one in rows
            ]
        )
        return
    table = new_table(
        *short_paths([axis.path for axis in axes], MEASURED), *MEASURED, left=range(len(axes)), names=len(axes)
    )
    for values, one in rows:
        table.add_row(*(value.name for value in values), *_cells(one.summary))
    with buffered_console() as console:
        print_tables(console, table)
        print_notes(console, list(dict.fromkeys(note for _, one in rows for note in one.summary["ignored"])))


def _cells(summary: dict[str, Any]) -> list[str]:
    """Formats bandwidth, read latency and row statistics; the latency is from the arrival if requests have one."""
    times = summary["latency"]["read_from_arrival"] or summary["latency"]["read_from_acceptance"]
    latency = [NOTHING] * 2 if times is None else [number(times["mean_ns"]), number(times["p99_ns"])]
    rows = summary["rows"]
    return [
        rate(summary["bandwidth"], "gb_per_s"),
        percent(summary["bandwidth"]["share_of_peak"]),
        *latency,
        percent(rows["hit_share"]),
        number(rows["activations_per_request"]),
    ]

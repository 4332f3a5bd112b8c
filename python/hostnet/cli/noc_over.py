"""`hostnet noc` with several rates or `--over`: runs every combination of values and prints a row for each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hostnet import noc_alone
from hostnet._core import ConfigError
from hostnet.cli.main import EXIT_INTERRUPTED
from hostnet.cli.noc import resolve_options
from hostnet.cli.noc_options import RATE
from hostnet.cli.over import check_set_once, combination_settings, combinations, reword_for_over
from hostnet.cli.show import NOTHING, buffered_console, new_table, percent, print_notes, print_path, print_tables
from hostnet.cli.show_noc import fixed_point, yes_or_no
from hostnet.report.noc_descriptions import most_loaded_link
from hostnet.sweeps.axis import axes_of
from hostnet.sweeps.grid import check_points
from hostnet.terminal.layout import short_paths
from hostnet.terminal.progress import Watch
from hostnet.terminal.screen import echo_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hostnet._core import NocPlan
    from hostnet.cli.noc_options import NocOptions
    from hostnet.cli.over import Choice
    from hostnet.noc_alone import NocResult
    from hostnet.sweeps.axis import Axis, Value

    Point = tuple[Sequence[Value], dict[str, Any]]

MEASURED = ("offered", "accepted", "cycles", "P50", "P99", "max", "fullest link", "saturated")
"""Columns of a row beside its values."""

PACKETS_MIN = 100
"""Packets that a percentile requires."""


def over_command(options: NocOptions) -> int:
    """Runs every combination and returns the exit code. All combinations are checked before the first one runs."""
    listed = options.rates()
    over = options.over
    if listed:
        over = (f"{RATE}={','.join(f'{rate:.12g}' for rate in listed)}", *over)
        options = replace(options, rate=None)
    try:
        axes = _axes(options, over)
    except ConfigError as error:
        raise error.reworded(_reword_for_rate(str(error)) if listed else str(error)) from None
    found: list[tuple[Choice, NocResult]] = []
    with Watch(show=True) as watch:
        for choice in combinations(axes):
            if watch.stopped:
                break
            result = noc_alone.run_plan(
                _resolve_combination(options, combination_settings(axes, choice)), progress=watch
            )
            if result.complete:
                found.append((choice, result))
    _show(options, axes, [(choice, result.to_dict()) for choice, result in found])
    return EXIT_INTERRUPTED if watch.stopped else 0


def _axes(options: NocOptions, over: tuple[str, ...]) -> tuple[Axis, ...]:
    """Parses the axes and checks every combination.

    Raises:
        ConfigError: A combination is invalid; the message is in terms of `--over`.
    """
    axes = axes_of(over)
    check_points([len(axis.values) for axis in axes])
    check_set_once(options.settings(), options.overrides, axes)
    for choice in combinations(axes):
        _resolve_combination(options, combination_settings(axes, choice))
    return axes


def _reword_for_rate(message: str) -> str:
    """Rewrites an error about listed rates in terms of `--rate`."""
    return message.replace(f"--over {RATE}=", "--rate ").replace(f"--rate --over {RATE}", f"--over {RATE}")


def _resolve_combination(options: NocOptions, settings: tuple[str, ...]) -> NocPlan:
    """Resolves a combination.

    Raises:
        ConfigError: It is invalid; the message names the option as given.
    """
    try:
        return resolve_options(replace(options, overrides=(*options.overrides, *settings)))
    except ConfigError as error:
        raise error.reworded(reword_for_over(settings, str(error))) from None


def _show(options: NocOptions, axes: Sequence[Axis], found: Sequence[tuple[Choice, dict[str, Any]]]) -> None:
    """Prints the results as a table or JSON, and writes the page."""
    rows = [([axis.values[index] for axis, index in zip(axes, choice, strict=True)], one) for choice, one in found]
    names = short_paths([axis.path for axis in axes], MEASURED)
    if options.html is not None and rows:
        _write(options.html, axes, names, rows)
    if options.json:
        echo_json(
            [
                {"over": {axis.path: value.content for axis, value in zip(axes, values, strict=True)}, **one}
                for values, one in rows
            ]
        )
        return
    table = new_table(*names, *MEASURED, left=range(len(axes)), names=len(axes))
    for values, one in rows:
        table.add_row(*(value.name for value in values), *_cells(one))
    with buffered_console() as console:
        print_tables(console, table)
        print_notes(console, ["rates are in flits per node and cycle, latencies of packets in cycles"])
        if options.html is not None and rows:
            print_path(console, options.html)


def _write(path: Path, axes: Sequence[Axis], names: Sequence[str], rows: Sequence[Point]) -> None:
    """Writes the page; runs that differ only in their rate form a curve."""
    from hostnet.report.noc_curves import NocRun
    from hostnet.report.noc_page import write_noc

    def title(values: Sequence[Value], *, without: str | None = None) -> str:
        named_values = zip(axes, names, values, strict=True)
        return ", ".join(f"{name} {value.name}" for axis, name, value in named_values if axis.path != without)

    write_noc(path, [NocRun(title(values), title(values, without=RATE), summary) for values, summary in rows])


def _cells(summary: dict[str, Any]) -> list[str]:
    """Formats the rates, latencies and the most loaded link of a run."""
    latency, link = summary["latency"]["packet"], most_loaded_link(summary)
    enough = latency["count"] >= PACKETS_MIN
    return [
        fixed_point(summary["rate"]["offered"], 4),
        fixed_point(summary["rate"]["accepted"], 4),
        fixed_point(latency["mean_cycles"], 1),
        fixed_point(latency["p50_cycles"], 0),
        fixed_point(latency["p99_cycles"], 0) if enough else NOTHING,
        fixed_point(latency["max_cycles"], 0),
        NOTHING if link is None else percent(link["busy_share"]),
        yes_or_no(summary["saturation"]["saturated"]),
    ]

"""`hostnet noc` with several rates or `--over`: the network on its own, a row for every combination of values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hostnet import noc_alone
from hostnet._core import ConfigError
from hostnet.cli.main import EXIT_INTERRUPTED
from hostnet.cli.noc import RATE, plan_of
from hostnet.cli.over import blame, check_set_once, choices, settings_of
from hostnet.cli.show import NOTHING, new_table, page, percent, print_notes, print_path, print_tables
from hostnet.cli.show_noc import fixed, yes_or_no
from hostnet.report.noc_words import fullest
from hostnet.sweeps.axis import axes_of
from hostnet.sweeps.grid import check_points
from hostnet.terminal.layout import short_paths
from hostnet.terminal.progress import Watch
from hostnet.terminal.screen import say_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hostnet._core import NocPlan
    from hostnet.cli.noc import Options
    from hostnet.cli.over import Choice
    from hostnet.noc_alone import NocResult
    from hostnet.sweeps.axis import Axis, Value

    Point = tuple[Sequence[Value], dict[str, Any]]

MEASURED = ("offered", "accepted", "cycles", "P50", "P99", "max", "fullest link", "saturated")
"""What a row shows beside its values."""

PACKETS_MIN = 100
"""Packets that a percentile needs."""


def over_command(options: Options) -> int:
    """Runs every combination and returns the exit code. All of them are checked before the first one runs."""
    listed = options.rates()
    over = options.over
    if listed:
        over = (f"{RATE}={','.join(f'{rate:.12g}' for rate in listed)}", *over)
        options = replace(options, rate=None)
    try:
        axes = _axes(options, over)
    except ConfigError as error:
        raise error.reworded(_as_typed(str(error)) if listed else str(error)) from None
    found: list[tuple[Choice, NocResult]] = []
    with Watch(show=True) as watch:
        for choice in choices(axes):
            if watch.stopped:
                break
            result = noc_alone.run_plan(_plan_of(options, settings_of(axes, choice)), progress=watch)
            if result.complete:
                found.append((choice, result))
    _show(options, axes, [(choice, result.to_dict()) for choice, result in found])
    return EXIT_INTERRUPTED if watch.stopped else 0


def _axes(options: Options, over: tuple[str, ...]) -> tuple[Axis, ...]:
    """What is swept, all of it checked.

    Raises:
        ConfigError: A combination cannot be run; it is told in words of --over.
    """
    axes = axes_of(over)
    check_points([len(axis.values) for axis in axes])
    check_set_once(options.settings(), options.overrides, axes)
    for choice in choices(axes):
        _plan_of(options, settings_of(axes, choice))
    return axes


def _as_typed(message: str) -> str:
    """An error about listed rates, told about --rate."""
    return message.replace(f"--over {RATE}=", "--rate ").replace(f"--rate --over {RATE}", f"--over {RATE}")


def _plan_of(options: Options, settings: tuple[str, ...]) -> NocPlan:
    """The plan of a combination.

    Raises:
        ConfigError: Something is wrong; the message names the option that was typed.
    """
    try:
        return plan_of(replace(options, overrides=(*options.overrides, *settings)))
    except ConfigError as error:
        raise error.reworded(blame(settings, str(error))) from None


def _show(options: Options, axes: Sequence[Axis], found: Sequence[tuple[Choice, dict[str, Any]]]) -> None:
    rows = [([axis.values[index] for axis, index in zip(axes, choice, strict=True)], one) for choice, one in found]
    names = short_paths([axis.path for axis in axes], MEASURED)
    if options.html is not None and rows:
        _write(options.html, axes, names, rows)
    if options.json:
        say_json(
            [
                {"over": {axis.path: value.content for axis, value in zip(axes, values, strict=True)}, **one}
                for values, one in rows
            ]
        )
        return
    table = new_table(*names, *MEASURED, left=range(len(axes)), names=len(axes))
    for values, one in rows:
        table.add_row(*(value.name for value in values), *_cells(one))
    with page() as console:
        print_tables(console, table)
        print_notes(console, ["rates are in flits per node and cycle, latencies of packets in cycles"])
        if options.html is not None and rows:
            print_path(console, options.html)


def _write(path: Path, axes: Sequence[Axis], names: Sequence[str], rows: Sequence[Point]) -> None:
    """Writes the page: runs that differ in their rate alone are a curve."""
    from hostnet.report.noc_page import NocRun, write_noc

    def title(values: Sequence[Value], *, without: str | None = None) -> str:
        told = zip(axes, names, values, strict=True)
        return ", ".join(f"{name} {value.name}" for axis, name, value in told if axis.path != without)

    write_noc(path, [NocRun(title(values), title(values, without=RATE), one) for values, one in rows])


def _cells(summary: dict[str, Any]) -> list[str]:
    """Rates, latencies and the fullest link of a run."""
    latency, link = summary["latency"]["packet"], fullest(summary)
    enough = latency["count"] >= PACKETS_MIN
    return [
        fixed(summary["rate"]["offered"], 4),
        fixed(summary["rate"]["accepted"], 4),
        fixed(latency["mean_cycles"], 1),
        fixed(latency["p50_cycles"], 0),
        fixed(latency["p99_cycles"], 0) if enough else NOTHING,
        fixed(latency["max_cycles"], 0),
        NOTHING if link is None else percent(link["busy_share"]),
        yes_or_no(summary["saturation"]["saturated"]),
    ]

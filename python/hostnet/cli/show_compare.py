"""Tables of `hostnet compare`."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.text import Text

from hostnet.cli.show import (
    NOTHING,
    buffered_console,
    change_text,
    new_table,
    print_items,
    print_path,
    print_tables,
    with_interval,
)
from hostnet.comparison.event_text import event_cells, outcome_text, shown_events
from hostnet.comparison.selection import first_of_each_table, without_repetitions
from hostnet.units import format_percent, format_time

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import Console

    from hostnet.comparison import Comparison, KeyDifference, ResultDifference, Side
    from hostnet.terminal.layout import WideTable

    Event = dict[str, Any]

RESULTS_MAX = 24
"""Maximum number of results that are shown; `--json` has all."""

KEYS_MAX = 40
"""Maximum number of keys of the configuration that are shown."""

LINE = "channel/ bank/ row/ column"
"""Heading of the position of lines; it wraps."""

TEXT_MAX = 20
"""Longest text in a cell; longer ones follow below the table, where they fit on 60 columns."""

TIMES_FROM = 10
"""Smallest relative change that is shown as a factor."""

SIGNIFICANT = 2
"""Minimum number of significant digits of the larger of two values."""

RESOLUTION = 4
"""Maximum number of significant digits of the larger value; results that agree in them appear only in `--json`."""

AFTER_POINT = 6
"""Maximum number of digits after the decimal point; differences in later ones are irrelevant."""

SHARE = "_share"
"""Suffix of columns that are fractions."""

NOISE = "~"
"""Mark of a change that may be noise."""


def print_comparison(found: Comparison, page: Path | None = None) -> None:
    """Prints the differences between two runs, and the path of their page, if one was written."""
    with buffered_console() as console:
        for name, side in (("A", found.a), ("B", found.b)):
            console.print(Text(f"{name}  {headline(side)}", style="bold"))
        if found.identical:
            print_items(console, "*", ["the same run: configuration, results and all states are equal"])
        else:
            _print_configuration(console, found.config)
            _print_results(console, found.results)
            if found.events is not None:
                _print_events(console, found, found.events)
        if page is not None:
            print_path(console, page)


def headline(side: Side) -> str:
    """Describes a run in one line."""
    parts = [side.label, f"seed {side.seed}", f"{format_time(side.simulated_ns * 1000)} simulated"]
    parts.append(f"hostnet {side.version}")
    return ", ".join(parts if side.complete else [*parts, "stopped before its end"])


def _print_configuration(console: Console, differences: Sequence[KeyDifference]) -> None:
    """Prints the configuration values that differ."""
    if not differences:
        print_items(console, "*", ["the same configuration"])
        return
    table = new_table("configuration", "A", "B", left=(0, 1, 2))
    for difference in differences[:KEYS_MAX]:
        table.add_row(difference.key, _value(difference.a), _value(difference.b))
    print_tables(console, table)
    _print_rest(console, len(differences) - KEYS_MAX)


def _value(value: Any) -> str:
    """Formats a configuration value."""
    return NOTHING if value is None else str(value)


def _print_results(console: Console, differences: Sequence[ResultDifference]) -> None:
    """Prints the results that differ."""
    if not differences:
        print_items(console, "*", ["the same results"])
        return
    visible = [difference for difference in without_repetitions(differences) if differs_on_screen(difference)]
    if not visible:
        print_items(console, "*", [f"the same results to {RESOLUTION} digits"])
    shown = first_of_each_table(visible, RESULTS_MAX)
    if in_cells := [difference for difference in shown if not is_long(difference)]:
        print_tables(console, result_table(in_cells))
    if any(difference.beyond is False for difference in shown):
        console.print(f"{NOISE} may be noise: the confidence intervals overlap")
    print_items(console, "*", [long_text(difference) for difference in shown if is_long(difference)])
    _print_rest(console, len(differences) - len(shown))


def is_long(difference: ResultDifference) -> bool:
    """Returns True if a value is a text that is too long for a cell."""
    return any(isinstance(value, str) and len(value) > TEXT_MAX for value in (difference.a, difference.b))


def long_text(difference: ResultDifference) -> str:
    """Formats a result that is a long text."""
    named = map("{}: {}".format, "AB", values_text(difference))
    return "\n".join([f"{difference.subject}, {difference.column}", *named])


def result_table(differences: Sequence[ResultDifference]) -> WideTable:
    """Creates the table of results of both runs and their change."""
    table = new_table("result", "", "A", "B", "change", left=(0, 1), names=2)
    for difference in differences:
        table.add_row(
            difference.subject,
            difference.column,
            *values_text(difference),
            f"{NOISE if difference.beyond is False else ''}{_change(difference.change)}",
        )
    return table


def _change(change: float | None) -> str:
    """Formats a relative change in percent, or as a factor if it is large."""
    if change is None or change < 1:
        return change_text(change)
    return format_percent(change, sign="+") if change < TIMES_FROM else f"x {1 + change:.0f}"


def differs_on_screen(difference: ResultDifference) -> bool:
    """Returns True if two results differ in the digits that are shown."""
    shown = _in_percent(difference)
    digits = _digits(shown)
    return _result(shown.a, None, digits) != _result(shown.b, None, digits)


def values_text(difference: ResultDifference) -> tuple[str, str]:
    """Formats both results with enough digits to distinguish them, up to `RESOLUTION`; fractions in percent."""
    shown = _in_percent(difference)
    digits = _digits(shown)
    texts = _result(shown.a, shown.ci95_a, digits), _result(shown.b, shown.ci95_b, digits)
    one, other = (text if shown is difference or text == NOTHING else f"{text} %" for text in texts)
    return one, other


def _in_percent(difference: ResultDifference) -> ResultDifference:
    """Converts a difference of fractions to percent."""
    if not difference.column.endswith(SHARE):
        return difference
    values = {name: getattr(difference, name) for name in ("a", "b", "ci95_a", "ci95_b")}
    return replace(difference, **{name: 100.0 * value for name, value in values.items() if value is not None})


def _digits(difference: ResultDifference) -> int:
    """Returns the number of decimals of both values."""
    values = difference.a, difference.b
    largest = max((abs(value) for value in values if isinstance(value, float)), default=0.0)
    before = 1 + math.floor(math.log10(largest)) if largest else 1
    counts = [min(max(significant - before, 0), AFTER_POINT) for significant in range(SIGNIFICANT, RESOLUTION + 1)]
    apart = (digits for digits in counts if _result(values[0], None, digits) != _result(values[1], None, digits))
    return next(apart, counts[-1])


def _result(value: Any, half_width: float | None, digits: int) -> str:
    """Formats a result."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else with_interval(value, half_width, digits)


def _print_rest(console: Console, count: int) -> None:
    """Prints the number of differences that are not shown."""
    if count > 0:
        console.print(f"{count} more; --json shows all")


def _print_events(console: Console, found: Comparison, events: dict[str, Any]) -> None:
    """Prints where the runs diverge."""
    print_items(console, "*", [outcome_text(found, events)])
    if rows := shown_events(events):
        print_tables(console, event_table(rows))


def event_table(rows: Sequence[tuple[str, Event]]) -> WideTable:
    """Creates the table of events, one per line."""
    headings = ("", "time ns", "part", "event", "from", "request", LINE, "workload")
    table = new_table(*headings, left=(0, 2, 3, 4, 5, 6, 7), names=3)
    table.whole = True
    for name, event in rows:
        table.add_row(*event_cells(name, event))
    return table

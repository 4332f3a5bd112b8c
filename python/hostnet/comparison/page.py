"""Page of a comparison of two runs: headlines side by side, the hosts, the largest changes, events, and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.comparison.event_text import event_cells, outcome_text, shown_events
from hostnet.comparison.page_changes import changes_section, results_section
from hostnet.comparison.page_headline import headline_section
from hostnet.comparison.page_hosts import hosts_section
from hostnet.files import write_file
from hostnet.report.html import Html, element, fact_list, section, warning
from hostnet.report.html import table as html_table
from hostnet.report.numbers import MISSING, time_from_ns
from hostnet.report.page import page

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hostnet.comparison.compare_runs import Comparison
    from hostnet.comparison.differences import KeyDifference
    from hostnet.comparison.sides import Side

KEYS_IN_HEADER = 4
"""Largest number of keys that the header names with their values."""

KEYS_MAX = 200
"""Maximum number of keys of the configuration that are shown."""

EVENT_COLUMNS = ("run", "time ns", "part", "event", "from", "request", "channel/bank/row/column", "workload")


def write_comparison(file: Path, found: Comparison) -> None:
    """Writes the page of a comparison.

    Raises:
        OSError: The page cannot be written.
    """
    write_file(file, comparison_page(found).encode())


def comparison_page(found: Comparison) -> str:
    """Returns the page."""
    return page(
        f"{found.a.label} and {found.b.label} \u2013 hostnet",
        header(found),
        *result_sections(found),
        results_section(found.results),
        element("footer", f"hostnet compare; A is configuration {found.a.config_hash}, B is {found.b.config_hash}"),
    )


def result_sections(found: Comparison) -> list[Html | None]:
    """Creates the headlines side by side, the largest changes, the hosts, the events, and the keys that differ."""
    return [
        headline_section(found),
        None if found.identical else changes_section(found.results),
        hosts_section(found),
        None if found.identical else events_section(found),
        config_section(found.config),
    ]


def header(found: Comparison) -> Html:
    """Creates the title, how much differs, and warnings of runs that did not finish."""
    names = [str(side.config.get("run", {}).get("name") or side.label) for side in (found.a, found.b)]
    title = names[0] if names[0] == names[1] else " and ".join(names)
    stopped = [name for name, side in (("A", found.a), ("B", found.b)) if not side.complete]
    return element(
        "header",
        element("p", "Comparison of two runs", class_="eyebrow"),
        element("h1", title),
        element("p", lead_text(found), class_="lead"),
        *(warning(f"{name} was stopped before its end") for name in stopped),
        fact_list(
            [*((name, side_text(side)) for name, side in (("A", found.a), ("B", found.b))), keys_fact(found.config)]
        ),
    )


def side_text(side: Side) -> str:
    """Describes a run in one line."""
    return f"{side.label}, seed {side.seed}, {time_from_ns(side.simulated_ns)} simulated, hostnet {side.version}"


def keys_fact(differences: Sequence[KeyDifference]) -> tuple[str, str | None]:
    """Names the configuration values that differ, unless there are many."""
    if len(differences) > KEYS_IN_HEADER:
        return "Configuration", None
    return "Configuration", "; ".join(f"{each.key} {known(each.a)} \u2192 {known(each.b)}" for each in differences)


def known(value: Any) -> str:
    """Formats a configuration value, which may be missing."""
    return MISSING if value is None else str(value)


def lead_text(found: Comparison) -> str:
    """Says how much differs."""
    if found.identical:
        return "The same run: configuration, results and all states are equal."
    keys, results = len(found.config), len(found.results)
    return f"{counted(keys, 'value')} of the configuration and {counted(results, 'result')} differ."


def counted(count: int, noun: str) -> str:
    """Formats a count with its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def events_section(found: Comparison) -> Html | None:
    """Creates the events at which the runs diverge; None if they were not looked for."""
    if found.events is None:
        return None
    cells = [event_cells(name, event) for name, event in shown_events(found.events)]
    words = outcome_text(found, found.events)
    sentence = element("p", f"{words[0].upper()}{words[1:]}", class_="note")
    shown = html_table(EVENT_COLUMNS, cells, text_columns=len(EVENT_COLUMNS), label="Events") if cells else None
    return section("The first event that differs", sentence, shown)


def config_section(differences: Sequence[KeyDifference]) -> Html | None:
    """Creates the table of configuration values that differ; None without any."""
    if not differences:
        return None
    rows = [[wrapped(each.key), wrapped(each.a), wrapped(each.b)] for each in differences[:KEYS_MAX]]
    hidden = len(differences) - KEYS_MAX
    rest = element("p", f"{hidden:,} more: hostnet compare --json", class_="note below") if hidden > 0 else None
    return section("Configuration", html_table(["key", "A", "B"], rows, text_columns=3, label="Configuration"), rest)


def wrapped(value: Any) -> Html:
    """Creates text that wraps if it is long."""
    return element("span", known(value), class_="name")

"""What the user should know before trusting the numbers of a run, in the words of the screen and of pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.drift import drift_notes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STOPPED = "stopped before its end: the numbers are of the part that was simulated"
"""Stands where a run did not finish."""

NAMES_MAX = 8
"""Names of a list that are told on the screen."""

RATES = (
    ("classes", "class", "goodput_gbps", "goodput_ci95"),
    ("workloads", "workload", "throughput_gb_per_s", "throughput_ci95"),
)
"""Tables with rates: the columns of names, of rates and of their intervals."""

WITHOUT_EFFECT = {
    "no_effect": "no effect in this run",
    "never_met": "limits and rules that were not reached while measuring",
}
"""What is said of the names in a list of the summary."""


def some(names: Sequence[str], most: int | None = NAMES_MAX) -> str:
    """Names the first of many, or all of them if `most` is None."""
    shown = names if most is None else names[:most]
    return ", ".join(shown) + (f" and {len(names) - len(shown)} more" if len(names) > len(shown) else "")


def notes_of(summary: Mapping[str, Any]) -> list[str]:
    """Returns all notes on a summary."""
    lines = [] if summary["complete"] else [STOPPED]
    if summary["unvalidated"]:
        lines.append(summary["unvalidated"])
    lines += drift_notes(summary)
    lines += not_told(summary)
    lines += summary["ignored"]
    return lines + without_effect(summary)


def not_told(summary: Mapping[str, Any]) -> list[str]:
    """Says whose rate is not told, as its 95 % interval is wider than the rate itself."""
    names = [
        str(row[name]) for table, name, *columns in RATES for row in summary.get(table, ()) if _is_open(row, columns)
    ]
    if not names:
        return []
    remedy = "a longer run.duration or more seeds tell" if summary.get("seeds") else "a longer run.duration tells"
    return [f"the 95 % interval of the rate is wider than the rate itself; {remedy} more: {some(names)}"]


def _is_open(row: Mapping[str, Any], columns: Sequence[str]) -> bool:
    value, half_width = (row.get(column) for column in columns)
    if isinstance(value, dict):
        # Over several seeds, each value has a mean and an interval.
        value, half_width = value["mean"], value["ci95"]
    return bool(value) and half_width is not None and half_width > value


def without_effect(summary: Mapping[str, Any], most: int | None = NAMES_MAX) -> list[str]:
    """Says which given keys did nothing, and which limits and rules were not reached; `most` as of `some`."""
    return [f"{text}: {some(summary[kind], most)}" for kind, text in WITHOUT_EFFECT.items() if summary.get(kind)]

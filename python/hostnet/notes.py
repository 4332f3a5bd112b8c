"""Notes on the validity of the results of a run, for the screen and for pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.drift import drift_notes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STOPPED = _core.STOPPED
"""Note on a run that did not finish."""

NAMES_MAX = 8
"""Maximum number of names of a list that the screen shows."""

RATES = (
    ("classes", "class", "goodput_gbps", "goodput_ci95"),
    ("workloads", "workload", "throughput_gb_per_s", "throughput_ci95"),
)
"""Tables with rates: the columns of names, of rates and of the half-widths of their confidence intervals."""

NO_EFFECT_TEXTS = {
    "no_effect": "no effect in this run",
    "never_met": "limits and rules that the run never reached",
}
"""Introductions to the lists of names in a summary."""


def list_names(names: Sequence[str], most: int | None = NAMES_MAX) -> str:
    """Lists the first `most` names, or all of them if `most` is None."""
    shown = names if most is None else names[:most]
    return ", ".join(shown) + (f" and {len(names) - len(shown)} more" if len(names) > len(shown) else "")


def notes_of(summary: Mapping[str, Any]) -> list[str]:
    """Returns all notes on a summary."""
    lines = [] if summary["complete"] else [STOPPED]
    if summary["unvalidated"]:
        lines.append(summary["unvalidated"])
    lines += forward_notes(summary)
    lines += drift_notes(summary)
    lines += wide_interval_notes(summary)
    lines += summary["ignored"]
    return lines + no_effect_notes(summary)


def forward_notes(summary: Mapping[str, Any]) -> list[str]:
    """Returns the note on what a run with `run.forward = "auto"` did not simulate, if the run has this key."""
    return [summary["forward"]["note"]] if "forward" in summary else []


def wide_interval_notes(summary: Mapping[str, Any]) -> list[str]:
    """Returns a note on the rates whose 95 % interval is wider than the rate itself."""
    names = [
        str(row[name]) for table, name, *columns in RATES for row in summary.get(table, ()) if _is_wide(row, columns)
    ]
    if not names:
        return []
    remedy = "a longer run.duration or more seeds narrow" if summary.get("seeds") else "a longer run.duration narrows"
    return [f"the 95 % interval of the rate is wider than the rate itself; {remedy} it: {list_names(names)}"]


def _is_wide(row: Mapping[str, Any], columns: Sequence[str]) -> bool:
    """Returns True if the confidence interval of a rate is wider than the rate."""
    value, half_width = (row.get(column) for column in columns)
    if isinstance(value, dict):
        # Over several seeds, a value is a mean with a confidence interval.
        value, half_width = value["mean"], value["ci95"]
    return bool(value) and half_width is not None and half_width > value


def no_effect_notes(summary: Mapping[str, Any], most: int | None = NAMES_MAX) -> list[str]:
    """Returns notes on keys that had no effect and on limits and rules that were not reached.

    Each note names at most `most` of them, as in `list_names`.
    """
    return [f"{text}: {list_names(summary[kind], most)}" for kind, text in NO_EFFECT_TEXTS.items() if summary.get(kind)]

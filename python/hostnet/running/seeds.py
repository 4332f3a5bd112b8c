"""What several runs of one configuration under different seeds say together."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    Row = dict[str, Any]

KEYS = {
    "workloads": ("workload",),
    "domains": ("domain", "part", "workload"),
    "channels": ("channel",),
    "caches": ("workload",),
    "upi": ("from", "to"),
    "mesh": ("socket", "column", "row", "side"),
    "mesh_ways": ("socket", "workload", "leg"),
    "classes": ("class",),
    "latencies": ("class",),
    "stages": ("class", "way", "stage"),
    "hosts": ("host",),
    "memory": ("host", "workload"),
    "queues": ("place", "port"),
    "control": ("host",),
    "pool": ("place",),
    "energy": ("host", "part"),
    "efficiency": ("name",),
}
"""What names a row of each table. Not every run has all of them."""

STUDENT_T_95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""Two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom."""

NORMAL_95 = 1.96
"""The same for many degrees of freedom."""


def combine(summaries: Sequence[Row]) -> Row:
    """The means over several summaries of one configuration, each number as {"mean": ..., "ci95": ...}."""
    first = summaries[0]
    return {
        "format": 1,
        "name": first["name"],
        "seeds": [summary["seed"] for summary in summaries],
        "complete": all(summary["complete"] for summary in summaries),
        "window_ns": mean_of([summary["window_ns"] for summary in summaries]),
        **{table: combine_rows(table, [summary[table] for summary in summaries]) for table in KEYS if first.get(table)},
        "ignored": first["ignored"],
        "unvalidated": first["unvalidated"],
        "no_effect": [
            name for name in first.get("no_effect", []) if all(name in other["no_effect"] for other in summaries)
        ],
    }


def combine_rows(table: str, tables: Sequence[Sequence[Row]]) -> list[Row]:
    """Row by row, the means of one table over all runs."""
    keys = KEYS[table]
    by_key = [{tuple(row[key] for key in keys): row for row in rows} for rows in tables]
    combined = []
    for key, row in by_key[0].items():
        same = [rows[key] for rows in by_key if key in rows]
        combined.append({column: combine_column(column, keys, [other.get(column) for other in same]) for column in row})
    return combined


def combine_column(column: str, keys: Sequence[str], values: Sequence[Any]) -> Any:
    """The mean of numbers, or the text that all runs share."""
    if column in keys or column == "capacity":
        return values[0]
    if any(isinstance(value, str) for value in values):
        return values[0] if len(set(values)) == 1 else ""
    return mean_of(values)


def mean_of(values: Sequence[float | None]) -> dict[str, float | None]:
    """Mean and half width of its 95 % confidence interval (Student's t); null where there is nothing to say."""
    known = [value for value in values if value is not None]
    if not known:
        return {"mean": None, "ci95": None}
    if len(known) == 1:
        return {"mean": known[0], "ci95": None}
    freedom = len(known) - 1
    quantile = STUDENT_T_95[freedom - 1] if freedom <= len(STUDENT_T_95) else NORMAL_95
    return {"mean": statistics.fmean(known), "ci95": quantile * statistics.stdev(known) / math.sqrt(len(known))}

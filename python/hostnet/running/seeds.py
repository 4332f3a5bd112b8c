"""Combines runs of one configuration with different seeds into means and confidence intervals."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from hostnet._core import interval
from hostnet.running.skipped import note_on, skipped_share
from hostnet.tables import ROWS_MAX, all_rows, key_columns, result_tables, rows_by_key, table_info

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostnet.running.results import Results

    Row = dict[str, Any]


def combine_runs(runs: Sequence[Results]) -> Row:
    """Returns the means over runs of one configuration with several seeds, as {"mean": ..., "ci95": ...}."""
    summaries = [results.summary for results in runs]
    first = summaries[0]
    tables = {name: [results.rows(name) for results in runs] for name in result_tables()}
    large = [name for name, rows in tables.items() if any(len(own) > ROWS_MAX for own in rows)]
    for name in large:
        tables[name] = []
    return {
        "format": 1,
        "name": first["name"],
        "seeds": [summary["seed"] for summary in summaries],
        "complete": all(summary["complete"] for summary in summaries),
        "window_ns": mean_of([summary["window_ns"] for summary in summaries]),
        **combine_tables(summaries, tables),
        "ignored": [
            *first["ignored"],
            *(f"table {name} has more than {ROWS_MAX} rows; seeds.json leaves out its means" for name in large),
        ],
        "unvalidated": first["unvalidated"],
        **combine_forward(summaries),
        **{
            kind: [name for name in first.get(kind, []) if all(name in other[kind] for other in summaries)]
            for kind in ("no_effect", "never_met")
        },
    }


def combine_forward(summaries: Sequence[Row]) -> Row:
    """Returns what all runs skipped on average, if their configuration asks for fast-forward."""
    shares = [share for summary in summaries if (share := skipped_share(summary)) is not None]
    if not shares:
        return {}
    return {"forward": {"skipped_share": sum(shares) / len(shares), "note": note_on(shares)}}


def combine_tables(summaries: Sequence[Row], tables: Mapping[str, Sequence[Sequence[Row]]]) -> dict[str, list[Row]]:
    """Returns the means of every result table that any of the runs has."""
    found = {}
    for name, of_runs in tables.items():
        rows = of_runs or [()] * len(summaries)
        combined = combine_rows(
            name, [all_rows(name, summary, own) for summary, own in zip(summaries, rows, strict=True)]
        )
        if combined:
            found[name] = combined
    return found


def combine_rows(table: str, tables: Sequence[Sequence[Row]]) -> list[Row]:
    """Returns the means of each row of a table over all runs that have it."""
    by_key = [rows_by_key(table, rows) for rows in tables]
    combined = []
    for key in dict.fromkeys(key for rows in by_key for key in rows):
        same = [rows[key] for rows in by_key if key in rows]
        constant = {*key_columns(table, same[0]), *table_info()[table]["given"]}
        columns = dict.fromkeys(column for row in same for column in row)
        combined.append(
            {
                column: same[0].get(column) if column in constant else combine_column([row.get(column) for row in same])
                for column in columns
            }
        )
    return combined


def combine_column(values: Sequence[Any]) -> Any:
    """Returns the mean of numbers, or the text that all runs share."""
    if any(isinstance(value, str) for value in values):
        return values[0] if len(set(values)) == 1 else ""
    return mean_of(values)


def mean_of(values: Sequence[float | None]) -> dict[str, float | None]:
    """Returns the mean and the half-width of its 95 % confidence interval (Student's t); None if undefined."""
    known = [value for value in values if value is not None]
    if not known:
        return {"mean": None, "ci95": None}
    if len(known) == 1:
        return {"mean": known[0], "ci95": None}
    return {"mean": statistics.fmean(known), "ci95": interval(known)}

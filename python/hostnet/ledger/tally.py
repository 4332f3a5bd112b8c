"""Counts the statements of a study by role, and its rows by verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Tally:
    """`Tally` holds the counts of a study: of its statements by role, and of the rows that are judged.

    A statement holds if all of its rows pass. One of whose rows a constant was fitted to is calibrated, not a target.
    `error` is the median error of the published values among the targets, as a share of them; None without any. A mean
    would be that of the few values near 0.
    """

    holding: int
    targets: int
    calibrated: int
    context: int
    passed: int
    judged: int
    error: float | None


def tally(rows: Sequence[Mapping[str, Any]]) -> Tally:
    """Counts rows, as `Row.as_dict` returns them."""
    statements: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        statements.setdefault(row["statement"], []).append(row)
    roles = {name: {row["role"] for row in own} for name, own in statements.items()}
    calibrated = {name for name, own in roles.items() if "calibrated" in own}
    targets = {name for name, own in roles.items() if "target" in own and name not in calibrated}
    judged = [row for row in rows if row["verdict"] in ("pass", "fail")]
    errors = [abs(row["error"]) for row in judged if is_value(row) and row["statement"] in targets]
    return Tally(
        holding=sum(holds(statements[name]) for name in targets),
        targets=len(targets),
        calibrated=len(calibrated),
        context=len(statements) - len(targets) - len(calibrated),
        passed=sum(row["verdict"] == "pass" for row in judged),
        judged=len(judged),
        error=round(median(errors), 3) if errors else None,
    )


def holds(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Returns True if every judged row of a statement passes."""
    return all(row["verdict"] == "pass" for row in rows if row["role"] != "context")


def is_value(row: Mapping[str, Any]) -> bool:
    """Returns True if a row compares with a published value, not with a bound or a range."""
    return row["kind"] == "relative" and row["error"] is not None

"""Quantities of host congestion control, from the summary and the time series of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hostnet.ledger.panels import Series
from hostnet.ledger.quantities import Estimate, Outcome, Quantity, number

CHANGE_STEPS = 40
"""Steps of a time series before a change of the level in which its cause is searched."""

CONGESTED_LINES, TARGET_GBPS = 70.0, 84.0
"""I_T in lines and B_T in Gbps of the publication."""


def watched(run: Outcome) -> Mapping[str, Any]:
    """Returns the row of the controller of the server; empty if there is none."""
    return next(iter(run.summary.get("control", ())), {})


def column_total(row: Mapping[str, Any], column: str) -> float:
    """Returns a column that a row may lack."""
    return number(row, column) if column in row else math.nan


def level_time(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the share of time at the throttling levels in `parts`, in %."""
    return Estimate(100 * sum(column_total(watched(run), f"level_{level}_share") for level in series.parts), None)


def stops(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the number of changes between the two highest levels."""
    return Estimate(column_total(watched(run), "level_3_4_switches"), None)


def read_time(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the mean time of a read of the occupancy register, which the sampling loop does back to back, in ns."""
    row = watched(run)
    samples = column_total(row, "occupancy_samples") + column_total(row, "occupancy_discarded")
    return Estimate(number(run.summary, "window_ns") / samples if samples else math.nan, None)


def explained_changes(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the share of changes between levels 3 and 4 that the smoothed signals explain, in %."""
    steps = [row for row in run.summary["series"] if row.get("level") is not None]
    changes = [place for place in range(CHANGE_STEPS, len(steps)) if is_stop(steps[place - 1], steps[place])]
    explained = sum(is_explained(steps[place - CHANGE_STEPS : place + 1]) for place in changes)
    return Estimate(100 * explained / len(changes) if changes else math.nan, None)


def is_stop(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Returns True if the level changes between 3 and 4."""
    return {before["level"], now["level"]} == {3, 4}


def is_explained(steps: Sequence[Mapping[str, Any]]) -> bool:
    """Returns True if the signals of one of the steps demand the change at the last one."""
    up = steps[-1]["level"] > steps[-2]["level"]
    return any(
        (row["occupancy_smoothed_lines"] > CONGESTED_LINES) == up
        and (row["bandwidth_smoothed_gbps"] < TARGET_GBPS) == up
        for row in steps
    )


CONTROL_QUANTITIES: dict[str, Quantity] = {
    function.__name__: function for function in (level_time, stops, read_time, explained_changes)
}
"""Quantities of host congestion control that `study.toml` can name."""

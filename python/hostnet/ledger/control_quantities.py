"""How quantities of host congestion control follow from the summary of a run and its time series."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hostnet.ledger.panels import Series
from hostnet.ledger.quantities import Estimate, Outcome, Quantity, number

CHANGE_STEPS = 40
"""Steps of a time series before a change of the level in which its reason is looked for."""

CONGESTED_LINES, TARGET_GBPS = 70.0, 84.0
"""I_T and B_T of the publication."""


def watched(run: Outcome) -> Mapping[str, Any]:
    """The row of what watches the server of the cluster; empty where nothing does."""
    return next(iter(run.summary.get("control", ())), {})


def counted(row: Mapping[str, Any], column: str) -> float:
    """A column that a row may not have."""
    return number(row, column) if column in row else math.nan


def level_time(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Time at the levels of host congestion control that `parts` names, in %."""
    return Estimate(100 * sum(counted(watched(run), f"level_{level}_share") for level in series.parts), None)


def stops(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Changes between the two highest levels."""
    return Estimate(counted(watched(run), "level_3_4_switches"), None)


def read_time(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Mean time of a read of the register of occupancy, which is all that its loop does, in ns."""
    row = watched(run)
    samples = counted(row, "occupancy_samples") + counted(row, "occupancy_discarded")
    return Estimate(number(run.summary, "window_ns") / samples if samples else math.nan, None)


def explained_changes(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Changes between levels 3 and 4 that the smoothed signals explain, at most a signal's time before, in %."""
    steps = [row for row in run.summary["series"] if row.get("level") is not None]
    changes = [place for place in range(CHANGE_STEPS, len(steps)) if is_stop(steps[place - 1], steps[place])]
    explained = sum(is_explained(steps[place - CHANGE_STEPS : place + 1]) for place in changes)
    return Estimate(100 * explained / len(changes) if changes else math.nan, None)


def is_stop(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether the level changes between 3 and 4."""
    return {before["level"], now["level"]} == {3, 4}


def is_explained(steps: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the signals of one of the steps ask for the change at the last."""
    up = steps[-1]["level"] > steps[-2]["level"]
    return any(
        (row["occupancy_smoothed_lines"] > CONGESTED_LINES) == up
        and (row["bandwidth_smoothed_gbps"] < TARGET_GBPS) == up
        for row in steps
    )


CONTROL_QUANTITIES: dict[str, Quantity] = {
    function.__name__: function for function in (level_time, stops, read_time, explained_changes)
}
"""Those that `study.toml` can name."""

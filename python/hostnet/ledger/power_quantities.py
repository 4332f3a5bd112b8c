"""Quantities of cores with frequencies and sleep states, and of their services, from the summary of a run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from hostnet.ledger.panels import Series
from hostnet.ledger.quantities import Estimate, Outcome, Quantity, needed, number

US_PER_MS = 1000

SURGE = 0.1
"""Share of the largest rate of any step at or above which a step belongs to a surge."""

PAUSE_US = 2000
"""Surges that are closer to each other, in us, are merged."""

Step = Mapping[str, Any]
"""A row of the time series of cores."""


def cores_power(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the total power of all cores, in W."""
    return Estimate(sum(number(row, "power_w") for row in run.summary["power"]), None)


def answer_time(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns a percentile, or the mean, of the time from the arrival of a request to the end of its answer, in ms."""
    return Estimate(number(run.row("services"), f"{series.percentile}_us") / US_PER_MS, None)


def answer_time_ratio(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """Returns the answer time over that of the baseline."""
    there = answer_time(series, needed(series, base), None).value
    return Estimate(answer_time(series, run, None).value / there, None)


def answered(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the rate of answered requests, in thousands per second."""
    return Estimate(number(run.row("services"), "answered_per_s") / 1000, None)


def state_share(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the share of time of all cores in the states `parts`, in %."""
    rows = run.summary["power_states"]
    cores = len(run.summary["power"])
    return Estimate(100 * sum(number(row, "share") for row in rows if row["state"] in series.parts) / cores, None)


def cores_frequency(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the mean frequency of the cores, in GHz."""
    rows = run.summary["power"]
    return Estimate(sum(number(row, "ghz_mean") for row in rows) / len(rows), None)


def demand_frequency(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the mean frequency in steps of the time series with a busy share of at least `constant`, in GHz."""
    busy = [step["ghz_mean"] for step in steps_of(run) if step["running_share"] >= series.constant]
    return Estimate(sum(busy) / len(busy) if busy else math.nan, None)


def bursts_told(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the number of bursts that NCAP signals (IT_HIGH), per 5 ms."""
    return Estimate(number(run.row("ncap"), "high") / (number(run.summary, "window_ns") / 5e6), None)


def reaction(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the time from the start of a surge of received packets until the next rise of the frequency, in ms.

    `percentile` is "mean" or "max". A surge without a rise before the next surge does not count.
    """
    rises = [row["at_us"] for row in risen(run.summary["frequencies"])]
    begins = [begin for begin, _ in surges(steps_of(run), "received_gbps")]
    found = []
    for begin, following in zip(begins, [*begins[1:], math.inf], strict=True):
        rise = next((at for at in rises if begin <= at < following), None)
        found += [] if rise is None else [(rise - begin) / US_PER_MS]
    if not found:
        return Estimate(math.nan, None)
    return Estimate(max(found) if series.percentile == "max" else sum(found) / len(found), None)


def onset(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the mean time from surges of the first column of `parts` to the nearest surge of the second, in ms."""
    first, second = ([begin for begin, _ in surges(steps_of(run), column)] for column in series.parts)
    if not first or not second:
        return Estimate(math.nan, None)
    after = [min((at - begin for at in second), key=abs) for begin in first]
    return Estimate(sum(after) / len(after) / US_PER_MS, None)


def late_sleeps(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns how often cores sleep between `constant` ms after the start of a surge and its last packet, per surge."""
    steps = steps_of(run)
    ends = [end for _, end in surges(steps, "sent_gbps")]
    spans = [
        (begin + series.constant * US_PER_MS, next((end for end in ends if end > begin), begin))
        for begin, _ in surges(steps, "received_gbps")
    ]
    asleep = sum(step["sleeps"] for begin, end in spans for step in steps if begin <= step["time_us"] <= end)
    return Estimate(asleep / len(spans) if spans else math.nan, None)


def steps_of(run: Outcome) -> Sequence[Step]:
    """Returns the time series of the cores of the only server."""
    steps: Sequence[Step] = run.summary["power_series"]
    return steps


def risen(rows: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yields the changes to a higher frequency."""
    return (row for before, row in pairwise(rows) if row["ghz"] > before["ghz"])


def surges(steps: Sequence[Step], column: str) -> list[tuple[float, float]]:
    """Returns start and end, in us, of the times in which a column is high, except one at the start of the run."""
    most = max((step[column] for step in steps), default=0.0)
    begins = [0.0, *(step["time_us"] for step in steps)]
    high = [
        (begin, step["time_us"])
        for begin, step in zip(begins, steps, strict=False)
        if most > 0 and step[column] >= SURGE * most
    ]
    spans: list[tuple[float, float]] = []
    for begin, end in high:
        if spans and begin - spans[-1][1] <= PAUSE_US:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((begin, end))
    return [span for span in spans if span[0] > PAUSE_US]


POWER_QUANTITIES: dict[str, Quantity] = {
    function.__name__: function
    for function in (
        cores_power,
        answer_time,
        answer_time_ratio,
        answered,
        state_share,
        cores_frequency,
        demand_frequency,
        bursts_told,
        reaction,
        onset,
        late_sleeps,
    )
}
"""Quantities of power that `study.toml` can name."""

"""Quantities of training jobs, from the summary of a run: the time of an iteration, and its parts."""

from __future__ import annotations

from hostnet.ledger.panels import Series
from hostnet.ledger.quantities import Estimate, Outcome, Quantity, number

US_PER_S = 1e6
ITERATIONS = 100
"""Number of iterations that published times refer to."""
S_PER_H = 3600

OF_WORKERS = ("forward", "backward", "copy")
OF_THE_SUM = ("sum", "update")
"""Steps of the rank that computes the sum, if one does, or else of every worker."""


def iteration_s(run: Outcome, job: str | None) -> float:
    """Returns the time of an iteration, in s."""
    return number(run.row("jobs", job=job), "iteration_us") / US_PER_S


def part_s(run: Outcome, job: str | None, part: str) -> float:
    """Returns the time of the steps of a name per iteration and participating rank, in s."""
    rows = {row["step"]: row for row in run.summary["steps"] if row["job"] == job}
    if part not in rows:
        return 0.0
    iterations = number(run.row("jobs", job=job), "iterations")
    ranks = 1.0 if part in OF_THE_SUM and "gather" in rows else workers_of(run, job)
    return number(rows[part], "count") * number(rows[part], "mean_us") / US_PER_S / iterations / ranks


def workers_of(run: Outcome, job: str | None) -> float:
    """Returns the number of ranks with a vector of their own."""
    row = run.row("jobs", job=job)
    gathered = [step for step in run.summary["steps"] if step["job"] == job and step["step"] == "gather"]
    return number(gathered[0], "messages") / number(row, "iterations") if gathered else number(row, "ranks")


def communication_s(run: Outcome, job: str | None) -> float:
    """Returns the time of an iteration without computation, copies and sums, in s."""
    return iteration_s(run, job) - sum(part_s(run, job, part) for part in (*OF_WORKERS, *OF_THE_SUM))


def ratio_of(run: Outcome) -> float:
    """Returns the compression ratio of all compressed data."""
    rows = [row for row in run.summary["engines"] if row["direction"] == "out"]
    return sum(number(row, "bytes") for row in rows) / sum(number(row, "wire_bytes") for row in rows)


def train_time(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the time of 100 iterations, in s."""
    return Estimate(ITERATIONS * iteration_s(run, series.workload), None)


def train_hours(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the time of `constant` iterations, in h."""
    return Estimate(series.constant * iteration_s(run, series.workload) / S_PER_H, None)


def train_part(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the time of `parts` in 100 iterations, in s."""
    return Estimate(ITERATIONS * sum(part_s(run, series.workload, part) for part in series.parts), None)


def train_part_share(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the share of `parts` in the time of the iterations, in %."""
    whole = train_time(series, run, None).value
    return Estimate(100 * train_part(series, run, None).value / whole, None)


def communication(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the communication time of 100 iterations, in s."""
    return Estimate(ITERATIONS * communication_s(run, series.workload), None)


def communication_share(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the share of communication in the time of the iterations, in %."""
    return Estimate(100 * communication_s(run, series.workload) / iteration_s(run, series.workload), None)


def exchange(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the time of communication and sums in an iteration, in s."""
    added = part_s(run, series.workload, "sum")
    return Estimate(communication_s(run, series.workload) + added, None)


def compression_ratio(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Returns the compression ratio."""
    return Estimate(ratio_of(run), None)


TRAINING_QUANTITIES: dict[str, Quantity] = {
    function.__name__: function
    for function in (
        train_time,
        train_hours,
        train_part,
        train_part_share,
        communication,
        communication_share,
        exchange,
        compression_ratio,
    )
}
"""Quantities of training that `study.toml` can name."""

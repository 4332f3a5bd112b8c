"""How quantities of jobs that train follow from the summary of a run: what an iteration takes, and its parts."""

from __future__ import annotations

from hostnet.ledger.panels import Series
from hostnet.ledger.quantities import Estimate, Outcome, Quantity, needed, number

US_PER_S = 1e6
ITERATIONS = 100
"""Published times are of so many iterations."""
S_PER_H = 3600

OF_WORKERS = ("forward", "backward", "copy")
OF_THE_SUM = ("sum", "update")
"""Steps of the rank that sums up, where one does, else of every worker."""


def iteration_s(run: Outcome, job: str | None) -> float:
    """What an iteration takes."""
    return number(run.row("jobs", job=job), "iteration_us") / US_PER_S


def part_s(run: Outcome, job: str | None, part: str) -> float:
    """What the steps of this name take of a rank that has them, in an iteration."""
    rows = {row["step"]: row for row in run.summary["steps"] if row["job"] == job}
    if part not in rows:
        return 0.0
    iterations = number(run.row("jobs", job=job), "iterations")
    ranks = 1.0 if part in OF_THE_SUM and "gather" in rows else workers_of(run, job)
    return number(rows[part], "count") * number(rows[part], "mean_us") / US_PER_S / iterations / ranks


def workers_of(run: Outcome, job: str | None) -> float:
    """Ranks with a vector of their own."""
    row = run.row("jobs", job=job)
    gathered = [step for step in run.summary["steps"] if step["job"] == job and step["step"] == "gather"]
    return number(gathered[0], "messages") / number(row, "iterations") if gathered else number(row, "ranks")


def communication_s(run: Outcome, job: str | None) -> float:
    """What is left of an iteration without what is computed, copied and added."""
    return iteration_s(run, job) - sum(part_s(run, job, part) for part in (*OF_WORKERS, *OF_THE_SUM))


def ratio_of(run: Outcome) -> float:
    """Data by what engines make of it, of all that they make smaller."""
    rows = [row for row in run.summary["engines"] if row["direction"] == "out"]
    return sum(number(row, "bytes") for row in rows) / sum(number(row, "wire_bytes") for row in rows)


def train_time(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """What 100 iterations take, in s."""
    return Estimate(ITERATIONS * iteration_s(run, series.workload), None)


def train_hours(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """What `constant` iterations take, in h."""
    return Estimate(series.constant * iteration_s(run, series.workload) / S_PER_H, None)


def train_part(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """What `parts` take of 100 iterations, in s."""
    return Estimate(ITERATIONS * sum(part_s(run, series.workload, part) for part in series.parts), None)


def train_part_share(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """The same, in % of the iterations."""
    whole = train_time(series, run, None).value
    return Estimate(100 * train_part(series, run, None).value / whole, None)


def communication(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """What communication takes of 100 iterations, in s."""
    return Estimate(ITERATIONS * communication_s(run, series.workload), None)


def communication_share(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """The same, in % of the iterations."""
    return Estimate(100 * communication_s(run, series.workload) / iteration_s(run, series.workload), None)


def exchange(series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """What communication and sums take of an iteration, in s."""
    added = part_s(run, series.workload, "sum")
    return Estimate(communication_s(run, series.workload) + added, None)


def compression_ratio(_series: Series, run: Outcome, _: Outcome | None) -> Estimate:
    """Data by what engines make of it."""
    return Estimate(ratio_of(run), None)


def scaled_communication_s(series: Series, run: Outcome, base: Outcome | None) -> float:
    """Communication of the baseline, of which the share `constant` shrinks by the ratio of the run."""
    return communication_s(needed(series, base), series.workload) * (1 - series.constant * (1 - 1 / ratio_of(run)))


def scaled_communication(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """The same of 100 iterations, in s: what the publication computes in the place of measuring it."""
    return Estimate(ITERATIONS * scaled_communication_s(series, run, base), None)


def scaled_time(series: Series, run: Outcome, base: Outcome | None) -> Estimate:
    """What 100 iterations take with that, in s."""
    there = needed(series, base)
    other = iteration_s(there, series.workload) - communication_s(there, series.workload)
    return Estimate(ITERATIONS * (other + scaled_communication_s(series, run, base)), None)


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
        scaled_communication,
        scaled_time,
    )
}
"""Those that `study.toml` can name."""

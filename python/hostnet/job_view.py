"""Tables of the jobs of a cluster for the screen and the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.view import Column, View, percent_column, text_column, value_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.view import Row


def job_view(rows: Sequence[Row]) -> View:
    """Creates the table of jobs, each of which consists of ranks."""
    columns = [
        text_column("job", "job"),
        text_column("kind", "kind"),
        value_column("ranks", "ranks"),
        value_column("done µs", "done_us"),
        Column("not done", lambda row: row["unfinished_ranks"] or None, key="unfinished_ranks"),
        value_column("iterations", "iterations"),
        value_column("µs each", "iteration_us"),
        percent_column("messages %", "communication_share"),
        value_column("sent", "messages"),
        Column("MB", lambda row: row["bytes"] / 1e6, key="bytes"),
        Column(
            "slowest rank", lambda row: f"{row['slowest_rank']} at {row['slowest_host']}", text=True, key="slowest_rank"
        ),
        Column("path", lambda row: row.get("path_host"), text=True, key="path_host"),
        Column("of it %", lambda row: 100 * row["path_share"] if row.get("path_share") else None, key="path_share"),
    ]
    about = (
        "Done is when the last rank finished. Messages % is the share of time in which ranks sent messages or waited "
        "for them. Not done is the number of ranks that had not finished when the run ended. Path is the host with the "
        "largest share of the critical path, including messages to and from it."
    )
    return View("Jobs", about, columns, rows, "jobs")


def step_view(rows: Sequence[Row]) -> View:
    """Creates the table of the steps of jobs."""
    columns = [
        text_column("job", "job"),
        text_column("step", "step"),
        value_column("count", "count"),
        percent_column("time %", "share"),
        value_column("mean µs", "mean_us"),
        value_column("max", "max_us"),
        value_column("computes µs", "compute_us"),
        Column("MB", lambda row: row["bytes"] / 1e6 or None, key="bytes"),
        value_column("Gbps", "rate_gbps"),
    ]
    about = "Steps of all ranks by name. Gbps is the rate at which a rank sends while it does not compute."
    return View("Steps of jobs", about, columns, rows, "steps")


def path_view(rows: Sequence[Row]) -> View:
    """Creates the table of the critical paths of jobs: the limit that binds each step."""
    columns = [
        text_column("job", "job"),
        text_column("step", "step"),
        text_column("does", "does"),
        text_column("bound by", "limit"),
        text_column("at", "place"),
        Column("ms", lambda row: row["time_us"] / 1000, key="time_us"),
        percent_column("path %", "share"),
    ]
    about = (
        "Critical path of each job: the limit that binds each step. Only a faster limit on this path makes the job "
        "faster."
    )
    return View("Critical paths of jobs", about, columns, rows, "path")

"""Sections of jobs: a timeline of the ranks with the critical path, its limits, and the stragglers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.limit_names import NOT_KNOWN
from hostnet.report.clusters.lanes import timeline_of
from hostnet.report.clusters.timeline import time_text, timeline_legend, timeline_picture
from hostnet.report.distributions import distribution_cards, of_values
from hostnet.report.html import Html, element, section
from hostnet.report.numbers import percent
from hostnet.report.shares import ShareRow, share_bars

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.report.load import Row, RunFiles

JOBS_MAX = 4
"""Maximum number of jobs with a timeline each."""

TOGETHER = 0.005
"""Share of the time of a job within which ranks are done together."""

STEPS_MIN = 5
"""Smallest number of steps with a name whose times have a chart."""

UNEVEN, NEARLY_ALL = 1.5, 0.95
"""Multiple of an even share of the critical path from which a host is called a straggler, and a share that suffices."""

NOTE = (
    "A lane shows what a rank does: it computes, hands a message to its connection, or waits for one. The line is the "
    "critical path, always along what came last: level while a rank works, slanted while a message is in flight. "
    "Work off this path may take longer without making the job slower."
)


def job_sections(run: RunFiles) -> list[Html]:
    """Creates a section for each job."""
    jobs = run.summary.get("jobs", ())
    return [job_section(run, job) for job in jobs[:JOBS_MAX]]


def job_section(run: RunFiles, job: Row) -> Html:
    """Creates the section of a job."""
    timeline = timeline_of(job["job"], run.timeline, run.path_pieces, run.ranks)
    drawing = None
    if timeline is not None:
        few = len(timeline.lanes) < timeline.ranks
        hidden = f"{len(timeline.lanes)} of {timeline.ranks} ranks are shown. " if few else ""
        early = (
            "" if timeline.whole else f"The last {time_text(timeline.end - timeline.start)} are recorded step by step. "
        )
        note = element("p", hidden, early, class_="note below") if hidden or early else None
        drawing = element("div", timeline_legend(), timeline_picture(timeline), note, class_="card")
    path = [row for row in run.summary.get("path", ()) if row["job"] == job["job"]]
    more = [path_card(path), *message_cards([row for row in run.timeline if row["job"] == job["job"]])]
    return section(
        f"Job {job['job']}",
        element("p", job_words(job, [row for row in run.ranks if row["job"] == job["job"]]), class_="words"),
        drawing,
        element("div", *(card for card in more if card is not None), class_="pair fixed"),
        note=NOTE if drawing is not None else None,
    )


def job_words(job: Row, ranks: Sequence[Row]) -> str:
    """Describes a job in sentences: its time, and its straggler."""
    who = f"{counted(job['ranks'], 'rank')} on {counted(job['hosts'], 'host')}"
    if job["done_us"] is None:
        words = f"{who}; {job['unfinished_ranks']} had not finished when the run ended."
    else:
        words = f"{who} took {time_text(job['done_us'] - job['began_us'])}"
        words += f", {time_text(job['iteration_us'])} per iteration." if job["iterations"] > 1 else "."
    if job["communication_share"] is not None:
        words += f" They communicate {percent(job['communication_share'], 0)} of their time."
    return words + last_words(job, ranks) + straggler_words(job)


def last_words(job: Row, ranks: Sequence[Row]) -> str:
    """Names the rank that was done last, unless all were done at almost the same time."""
    done = [row["done_us"] for row in ranks if row["done_us"] is not None]
    span = (job["done_us"] or 0.0) - job["began_us"]
    if ranks and len(done) == len(ranks) and max(done) - min(done) < TOGETHER * span:
        return ""
    return f" Rank {job['slowest_rank']} at {job['slowest_host']} was done last."


def counted(number: int, noun: str) -> str:
    """Formats a number of things."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def straggler_words(job: Row) -> str:
    """Names the straggler: the host with much more than an even share of the critical path, if there is one."""
    share, hosts = job.get("path_share"), job["hosts"]
    # A message counts for the host at each of its ends.
    even = min(2 / hosts, 1.0)
    if not share or hosts < 2:
        return ""
    if even >= 1.0:
        return f" {percent(share, 0)} of the critical path is at {job['path_host']}, leads there or comes from there."
    if share < min(UNEVEN * even, NEARLY_ALL):
        return f" No straggler: the largest share of the critical path is {percent(share, 0)}, at {job['path_host']}."
    return (
        f" The straggler is {job['path_host']}: {percent(share, 0)} of the critical path is there, leads there or "
        f"comes from there; an even share is {percent(even, 0)}."
    )


def path_card(rows: Sequence[Row]) -> Html | None:
    """Creates the bars of the critical path by step and limit; None without a path."""
    if not rows:
        return None
    steps = dict.fromkeys((row["step"], row["does"]) for row in rows)
    bars = []
    for step, does in steps:
        own = [row for row in rows if (row["step"], row["does"]) == (step, does)]
        values: dict[str, float] = {}
        for row in own:
            values[limit_text(row)] = values.get(limit_text(row), 0.0) + row["time_us"]
        total = sum(values.values())
        share = sum(row["share"] for row in own)
        bars.append(ShareRow(f"{step}, {does}", values, f"{time_text(total)}, {percent(share, 0)}"))
    bars.sort(key=lambda bar: -sum(bar.values.values()))
    chart = share_bars("Critical path by step and limit", bars, text=time_text, fills={NOT_KNOWN: "bar fill-n"})
    return element("div", element("h3", "What limits the critical path"), chart, class_="card")


def message_cards(steps: Sequence[Row]) -> list[Html]:
    """Creates the charts of the times that steps send and wait for messages."""
    times: dict[str, list[float]] = {}
    for row in steps:
        if row["received_us"] > row["computed_us"]:
            times.setdefault(row["step"], []).append(row["received_us"] - row["computed_us"])
    every = [of_values(name, own) for name, own in times.items() if len(own) >= STEPS_MIN]
    return distribution_cards("Messages of a step", "steps", [one for one in every if one is not None])


def limit_text(row: Row) -> str:
    """Names a limit and its place."""
    if row["limit"] == NOT_KNOWN or not row["place"]:
        return str(row["limit"])
    return f"{row['limit']}, {row['place']}"

"""Lanes of the timeline of a job: what each rank does over time, and which ranks are shown."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostnet.report.load import Row

LANES_MAX = 16
"""Maximum number of ranks in the picture of a job."""

QUANTILES = ((0.0, "least"), (0.25, "P25"), (0.5, "median"), (0.75, "P75"), (1.0, "most"))
"""Ranks that are shown of many, by their place in the order of waiting, and what they are called."""

ACTIVITIES = {
    "compute": ("began_us", "computed_us"),
    "send": ("computed_us", "written_us"),
    "wait": ("written_us", "received_us"),
    "copy": ("received_us", "ended_us"),
}
"""Activities of a rank in a step, with the columns of the table `timeline` between which each lasts."""

Span = tuple[float, float]


@dataclass(frozen=True)
class Lane:
    """A rank and the spans of its activities, in us from the start of the run."""

    rank: int
    host: str
    spans: Mapping[str, tuple[Span, ...]]
    role: str = ""
    """Reason why this rank is shown, where only some of many are."""

    @property
    def extent(self) -> Span:
        """Start of the first span and end of the last one."""
        every = [span for spans in self.spans.values() for span in spans]
        return min((start for start, _ in every), default=0.0), max((end for _, end in every), default=0.0)

    @cached_property
    def shares(self) -> dict[str, float]:
        """Share of the time of each activity."""
        sums = {name: sum(to - start for start, to in spans) for name, spans in self.spans.items()}
        total = sum(sums.values()) or 1.0
        return {name: value / total for name, value in sums.items()}


@dataclass(frozen=True)
class PathPoint:
    """A piece of the critical path."""

    step: str
    ranks: tuple[int, int]
    start: float
    end: float


@dataclass(frozen=True)
class JobTimeline:
    """A job over time: the lanes that are shown, and its critical path."""

    lanes: tuple[Lane, ...]
    path: tuple[PathPoint, ...]
    start: float
    end: float
    ranks: int
    """Number of all ranks."""
    whole: bool
    """False if the first steps of the job are not recorded."""


def timeline_of(job: str, steps: Sequence[Row], pieces: Sequence[Row], ranks: Sequence[Row]) -> JobTimeline | None:
    """Returns the timeline of a job; None without recorded steps."""
    own = [row for row in steps if row["job"] == job]
    if not own:
        return None
    totals = {row["rank"]: row for row in ranks if row["job"] == job}
    by_rank: dict[int, list[Row]] = defaultdict(list)
    for row in own:
        by_rank[row["rank"]].append(row)
    whole = all(totals[rank]["steps"] == len(rows) for rank, rows in by_rank.items() if rank in totals)
    firsts = [rows[0]["began_us"] for rows in by_rank.values()]
    start = min(firsts) if whole else max(firsts)
    lanes = {rank: lane_of(rank, [row for row in rows if row["ended_us"] > start]) for rank, rows in by_rank.items()}
    path = tuple(
        PathPoint(row["step"], (row["from_rank"], row["to_rank"]), max(row["from_us"], start), row["to_us"])
        for row in pieces
        if row["job"] == job and row["to_us"] > start
    )
    end = max(row["ended_us"] for row in own)
    return JobTimeline(shown_lanes(lanes, totals), path, start, end, max(len(totals), len(lanes)), whole)


def lane_of(rank: int, rows: Sequence[Row]) -> Lane:
    """Returns the lane of a rank with these steps; spans that follow each other are joined."""
    spans: dict[str, list[Span]] = {name: [] for name in ACTIVITIES}
    for row in rows:
        for name, (first, last) in ACTIVITIES.items():
            start, end = row[first], row[last]
            known = spans[name]
            if end <= start:
                continue
            if known and known[-1][1] == start:
                known[-1] = (known[-1][0], end)
            else:
                known.append((start, end))
    return Lane(rank, rows[0]["host"] if rows else "", {name: tuple(own) for name, own in spans.items()})


def shown_lanes(lanes: Mapping[int, Lane], totals: Mapping[int, Row]) -> tuple[Lane, ...]:
    """Returns all lanes if they are few; of many, the slowest rank, those on the critical path, and quantiles."""
    if len(lanes) <= LANES_MAX and len(totals) <= LANES_MAX:
        return tuple(lanes[rank] for rank in sorted(lanes))
    roles: dict[int, str] = {}
    slowest = max(lanes, key=lambda rank: (_done(totals, rank), -rank))
    roles[slowest] = "last"
    by_wait = sorted(lanes, key=lambda rank: lanes[rank].shares["wait"])
    for share, name in QUANTILES:
        roles.setdefault(by_wait[round(share * (len(by_wait) - 1))], f"{name} waiting")
    on_path = [rank for rank in lanes if rank in totals and totals[rank]["path_us"] > 0]
    for rank in sorted(on_path, key=lambda rank: -totals[rank]["path_us"]):
        if len(roles) < LANES_MAX:
            roles.setdefault(rank, "critical path")
    every = list(lanes)
    for rank in (*every[:: -(-len(every) // LANES_MAX)], *every):
        if len(roles) < LANES_MAX:
            roles.setdefault(rank, "")
    return tuple(Lane(rank, lanes[rank].host, lanes[rank].spans, roles[rank]) for rank in sorted(roles))


def _done(totals: Mapping[int, Row], rank: int) -> float:
    """Returns when a rank was done; infinity if it was not."""
    done = totals[rank]["done_us"] if rank in totals else None
    return float("inf") if done is None else float(done)

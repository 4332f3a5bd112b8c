"""The timeline of a job: lanes, the critical path through them, and the stragglers."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostnet.report.clusters.jobs import job_words, straggler_words
from hostnet.report.clusters.lanes import LANES_MAX, JobTimeline, timeline_of
from hostnet.report.clusters.timeline import BINS, SCALE, bin_shares, timeline_picture

Row = dict[str, Any]

TIMES = ("began_us", "computed_us", "written_us", "received_us", "ended_us")


def step(rank: int, *times: float, name: str = "exchange") -> Row:
    return {"job": "j", "rank": rank, "host": f"h-{rank}", "step": name, **dict(zip(TIMES, times, strict=True))}


def totals(count: int, steps: int = 1) -> list[Row]:
    """Returns the rows of ranks of which the last one is done last and on the critical path."""
    return [
        {
            "job": "j",
            "rank": rank,
            "host": f"h-{rank}",
            "steps": steps,
            "done_us": 100.0 + rank,
            "path_us": float(rank == count - 1),
        }
        for rank in range(count)
    ]


def piece(start: float, end: float, one: int, other: int, name: str = "exchange") -> Row:
    ends = {"from_us": start, "to_us": end, "from_rank": one, "to_rank": other}
    return {"job": "j", "step": name, "does": "transfer", "limit": "cable", "place": "", **ends}


def timeline(steps: list[Row], pieces: list[Row], ranks: list[Row]) -> JobTimeline:
    found = timeline_of("j", steps, pieces, ranks)
    assert found is not None
    return found


def test_a_step_is_computing_sending_waiting_and_copying() -> None:
    (lane,) = timeline([step(0, 0, 10, 30, 70, 80)], [], totals(1)).lanes
    assert lane.spans == {"compute": ((0, 10),), "send": ((10, 30),), "wait": ((30, 70),), "copy": ((70, 80),)}
    assert lane.shares == {"compute": 0.125, "send": 0.25, "wait": 0.5, "copy": 0.125}


def test_steps_that_follow_each_other_are_one_span() -> None:
    (lane,) = timeline([step(0, 0, 10, 10, 10, 10), step(0, 10, 25, 25, 25, 25)], [], totals(1, 2)).lanes
    assert lane.spans["compute"] == ((0, 25),)


def test_the_critical_path_runs_through_the_lanes() -> None:
    steps = [step(0, 0, 40, 50, 50, 50), step(1, 0, 10, 10, 80, 100)]
    pieces = [piece(0, 40, 0, 0, "work"), piece(40, 80, 0, 1), piece(80, 100, 1, 1)]
    picture = str(timeline_picture(timeline(steps, pieces, totals(2))))
    (points,) = set(re.findall(r'<polyline points="([^"]*)"', picture))
    assert points == "0,12 400,12 800,36 1000,36"
    assert re.findall(r'<span title="(\w+): ', picture) == ["work", "exchange"]
    assert "<b>1</b> h-1" in picture
    assert "other ranks" not in picture


@pytest.mark.parametrize("count", [LANES_MAX + 1, 64])
def test_of_many_ranks_the_last_and_those_on_the_path_are_shown(count: int) -> None:
    steps = [step(rank, 0, 10, 20, 20 + rank, 100 + rank) for rank in range(count)]
    shown = timeline(steps, [piece(0, 50, 1, count - 1)], totals(count))
    assert (len(shown.lanes), shown.ranks) == (LANES_MAX, count)
    roles = {lane.rank: lane.role for lane in shown.lanes}
    assert roles[count - 1] == "last"
    assert {"least waiting", "median waiting"} <= set(roles.values())
    hidden = piece(0, 50, 2 if 2 not in roles else 3, count - 1)
    if hidden["from_rank"] not in roles:
        assert "other ranks" in str(timeline_picture(timeline(steps, [hidden], totals(count))))


def test_a_long_job_begins_where_all_ranks_are_recorded() -> None:
    steps = [step(0, 40, 50, 50, 50, 60), step(0, 60, 70, 70, 70, 70), step(1, 55, 60, 60, 60, 65)]
    shown = timeline(steps, [piece(30, 60, 0, 1)], totals(2, steps=9))
    assert (shown.whole, shown.start, shown.end, shown.path[0].start) == (False, 55, 70, 55)


@given(st.lists(st.tuples(st.floats(0, SCALE), st.floats(0, 50)), max_size=30))
def test_bins_cover_as_much_as_the_spans(gaps: list[tuple[float, float]]) -> None:
    spans, at = [], 0.0
    for gap, length in gaps:
        start = at + gap
        at = start + length
        if at < SCALE:
            spans.append((start, at))
    shares = bin_shares(spans, SCALE / BINS)
    assert sum(shares) * SCALE / BINS == pytest.approx(sum(end - start for start, end in spans), abs=1e-6)
    assert all(0 <= share <= 1 + 1e-9 for share in shares)


def test_very_many_steps_are_drawn_in_bins() -> None:
    steps = [step(0, at, at + 0.25, at + 0.5, at + 1, at + 1) for at in range(2000)]
    picture = str(timeline_picture(timeline(steps, [], totals(1, 2000))))
    assert len(picture) < 25_000
    assert picture.count("h4v") == 2 * BINS


def job(**changes: Any) -> Row:
    row = {
        "job": "j",
        "ranks": 8,
        "hosts": 8,
        "began_us": 0.0,
        "done_us": 3000.0,
        "iterations": 3,
        "iteration_us": 1000.0,
    }
    row |= {"communication_share": 0.5, "slowest_rank": 7, "slowest_host": "h-7", "unfinished_ranks": 0}
    return {**row, "path_host": "h-3", "path_share": 0.9, **changes}


def test_a_straggler_has_much_more_than_its_share_of_the_path() -> None:
    assert "The straggler is h-3: 90\u00a0%" in straggler_words(job()).replace(" %", "\u00a0%")
    assert "No straggler" in straggler_words(job(path_share=0.3))
    assert "straggler" not in straggler_words(job(hosts=2))
    assert straggler_words(job(path_share=None)) == ""


def test_the_last_rank_is_named_unless_all_are_done_together() -> None:
    done = [{"done_us": 3000.0}, {"done_us": 2000.0}]
    assert "Rank 7 at h-7 was done last" in job_words(job(), done)
    assert "was done last" not in job_words(job(), done[:1])
    assert "2 had not finished" in job_words(job(done_us=None, unfinished_ranks=2), [{"done_us": None}])

"""Processes that share a run: the processors that they have, and notes on runs that they make slower."""

from __future__ import annotations

from pathlib import Path

import pytest

from hostnet.cli.show_cluster import slower_notes
from hostnet.processes import usable
from hostnet.processes.effort import Effort, Shares
from hostnet.running.results import Timing


@pytest.mark.parametrize(
    ("limit", "expected"), [("50000 100000", 1), ("150000 100000", 2), ("max 100000", 64), ("", 64)]
)
def test_the_quota_of_a_container_counts(
    limit: str, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "cpu.max"
    file.write_text(f"{limit}\n")
    monkeypatch.setattr(usable, "CPU_MAX", file)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(64)), raising=False)
    assert usable.usable_processors() == expected


def test_a_system_without_quotas_has_its_processors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usable, "CPU_MAX", tmp_path / "absent")
    assert usable.usable_processors() >= 1


def timing(wall_s: float, alone_s: float, threads: int = 1) -> Timing:
    return Timing("", wall_s, 0.0, threads, 4, Shares(10, 0.5, 0.25, 0.25, alone_s))


def test_a_run_that_one_process_would_finish_earlier_is_told() -> None:
    assert len(slower_notes(timing(8.0, 7.9))) == 1
    assert slower_notes(timing(8.0, 8.0)) == []
    assert len(slower_notes(timing(8.0, 15.9, threads=2))) == 1
    assert slower_notes(timing(0.9, 0.1)) == [], "too short to matter"
    assert slower_notes(Timing("", 8.0, 0.0, 1)) == [], "one process"


def test_effort_sums_the_processor_time_of_all() -> None:
    effort = Effort()
    effort.add([3.0, 1.0], [2.0, 1.0])
    effort.add([1.0, 1.0], [1.0, 0.5])
    shares = effort.shares(8.0)
    assert shares.alone_s == 4.5
    assert (shares.meetings, shares.work, shares.imbalance, shares.meeting) == (2, 0.375, 0.125, 0.5)
    assert shares.as_dict()["simulating_cpu_s"] == 4.5

"""Progress of long runs, with a simulated clock."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from hostnet.terminal.progress import Watch, new_bar


class Clock:
    """A clock that only advances when it is moved."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def status(share: float) -> dict[str, Any]:
    return {
        "simulated_ps": round(share * 50_000_000),
        "target_ps": 50_000_000,
        "events": round(share * 8_000_000),
        "phase": "measure",
        "progress": share,
    }


def lines_after(path: Path, until_s: float, **options: bool) -> list[str]:
    clock = Clock()
    with path.open("w") as stream, Watch(stream=stream, clock=clock, **options) as watch:
        for tenth in range(round(until_s * 10) + 1):
            clock.now_s = 100 + tenth / 10
            assert watch(status(tenth / 1000))
    return path.read_text().splitlines()


def test_without_a_terminal_there_is_a_line_every_ten_seconds(tmp_path: Path) -> None:
    lines = lines_after(tmp_path / "stderr", 31, show=True)
    assert len(lines) == 3
    assert lines[0] == "hostnet: measure: 10 %, 5 us of 50 us simulated, 80 k events/s, about 1 min 30 s left"


@pytest.mark.parametrize(("until_s", "show"), [(9.9, True), (60.0, False)])
def test_short_and_quiet_runs_print_nothing(tmp_path: Path, until_s: float, show: bool) -> None:
    assert lines_after(tmp_path / "stderr", until_s, show=show) == []


def test_the_time_left_is_that_of_what_is_being_done(tmp_path: Path) -> None:
    """Rates of slow runs before say nothing about the current run."""
    clock = Clock()
    with (tmp_path / "stderr").open("w") as stream, Watch(show=True, stream=stream, clock=clock) as watch:
        rates = {"simulated_ps": 0, "target_ps": 0, "events": 0, "phase": "rates of the memory"}
        watch({**rates, "points": 0, "progress": 0.0})
        clock.now_s += 20
        watch({**rates, "points": 4, "progress": 0.8})
        assert watch.line() == "hostnet: rates of the memory: 80 %, 0.2 points/s, about 5 s left"
        clock.now_s += 5
        watch(status(0.0))
        clock.now_s += 10
        watch(status(0.5))
        assert watch.line() == "hostnet: measure: 50 %, 25 us of 50 us simulated, 400 k events/s, about 10 s left"


def test_nothing_is_foretold_of_a_run_until_its_jobs_are_done(tmp_path: Path) -> None:
    clock = Clock()
    with (tmp_path / "stderr").open("w") as stream, Watch(show=True, stream=stream, clock=clock) as watch:
        watch({**status(0.0), "target_ps": 0})
        clock.now_s += 10
        watch({**status(0.5), "target_ps": 0, "progress": 1e-9})
        assert watch.line() == "hostnet: measure: 25 us simulated, 400 k events/s"


def test_many_runs_are_counted(tmp_path: Path) -> None:
    with (tmp_path / "stderr").open("w") as stream, Watch(show=True, stream=stream) as watch:
        watch({"done": 3, "total": 8, "simulated_ps": 5_000_000, "events": 1000, "progress": 0.4})
        assert watch.line().startswith("hostnet: 3 of 8 runs: 40 %, 5 us simulated")


def test_the_bar_has_a_space_before_its_percent_sign() -> None:
    bar = new_bar(io.StringIO())
    bar.add_task("measure", total=100, completed=96, detail="")
    console = Console(file=io.StringIO(), width=100)
    console.print(bar.get_renderable())
    assert isinstance(console.file, io.StringIO)
    assert " 96 % " in console.file.getvalue()

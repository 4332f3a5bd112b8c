"""Progress of long runs, with a simulated clock."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import hostnet
from hostnet.terminal.bar import new_bar
from hostnet.terminal.progress import SWITCH, Display, Watch, follow, is_watched
from tests.support import QUADRANT


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
    assert lines[0] == "hostnet: measure: 10 %, 5 µs of 50 µs simulated, 80 k events/s, about 1 min 30 s left"


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
        assert watch.pace.line() == "hostnet: rates of the memory: 80 %, 0.2 points/s, about 5 s left"
        clock.now_s += 5
        watch(status(0.0))
        clock.now_s += 10
        watch(status(0.5))
        assert watch.pace.line() == "hostnet: measure: 50 %, 25 µs of 50 µs simulated, 400 k events/s, about 10 s left"


def test_a_run_that_may_end_early_takes_at_most_the_time_left(tmp_path: Path) -> None:
    clock = Clock()
    with (tmp_path / "stderr").open("w") as stream, Watch(show=True, stream=stream, clock=clock) as watch:
        watch.pace.may_end_early = True
        watch(status(0.0))
        clock.now_s += 10
        watch(status(0.5))
        assert watch.pace.line().endswith(", at most 10 s left")


def test_nothing_is_foretold_of_a_run_until_its_jobs_are_done(tmp_path: Path) -> None:
    clock = Clock()
    with (tmp_path / "stderr").open("w") as stream, Watch(show=True, stream=stream, clock=clock) as watch:
        watch({**status(0.0), "target_ps": 0})
        clock.now_s += 10
        watch({**status(0.5), "target_ps": 0, "progress": 1e-9})
        assert watch.pace.line() == "hostnet: measure: 25 µs simulated, 400 k events/s"


def test_many_runs_are_counted(tmp_path: Path) -> None:
    with (tmp_path / "stderr").open("w") as stream, Watch(show=True, stream=stream) as watch:
        watch({"done": 3, "total": 8, "simulated_ps": 5_000_000, "events": 1000, "progress": 0.4})
        assert watch.pace.line().startswith("hostnet: 3 of 8 runs: 40 %, 5 µs simulated")


def test_the_bar_has_a_space_before_its_percent_sign() -> None:
    bar = new_bar(io.StringIO())
    bar.update(bar.tasks[0].id, completed=0.96)
    console = Console(file=io.StringIO(), width=100)
    console.print(bar.get_renderable())
    assert isinstance(console.file, io.StringIO)
    assert " 96 % " in console.file.getvalue()


class Notebook:
    """Stands for the package IPython in a kernel, and keeps what is displayed."""

    kernel = "of a notebook"

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.displayed: list[str] = []
        monkeypatch.setitem(sys.modules, "IPython", self)
        monkeypatch.setitem(sys.modules, "IPython.display", self)

    def get_ipython(self) -> Notebook:
        return self

    def display(self, content: dict[str, str], **_: Any) -> Notebook:
        self.displayed.append(content["text/html"])
        return self

    update = display


def test_a_notebook_shows_a_bar_that_disappears(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = Notebook(monkeypatch)
    clock = Clock()
    shown = Display(stream=io.StringIO(), clock=clock)
    for share in (0.1, 0.25, 0.5):
        assert shown(status(share))
        clock.now_s += 1.5
    shown.close()
    bar, end = notebook.displayed
    assert "measure" in bar
    assert " 50 %" in bar
    assert "25 µs of 50 µs" in bar
    assert bar.count("<pre") == bar.count("</pre>") == 1
    assert end == ""


@pytest.mark.parametrize(
    ("environment", "watched"), [({}, True), ({SWITCH: "0"}, False), ({"PYTEST_CURRENT_TEST": "x"}, False)]
)
@pytest.mark.parametrize("where", ["terminal", "notebook", "file"])
def test_a_bar_is_for_someone_who_looks(
    monkeypatch: pytest.MonkeyPatch, where: str, environment: dict[str, str], watched: bool
) -> None:
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    monkeypatch.setattr(sys, "stderr", Terminal() if where == "terminal" else io.StringIO())
    if where == "notebook":
        Notebook(monkeypatch)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert is_watched() == (watched and where != "file")


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("progress", [None, False])
def test_a_run_within_another_shows_what_that_shows(monkeypatch: pytest.MonkeyPatch, progress: bool | None) -> None:
    with follow(progress) as outer:
        monkeypatch.setattr("hostnet.terminal.progress.is_watched", lambda: True)
        with follow(outer) as inner:
            assert inner is outer
            assert inner(status(0.5)) is None
    with follow(True) as outer, follow(outer) as inner:
        assert isinstance(inner, Display)


def test_a_run_takes_a_switch_in_place_of_a_function(tmp_path: Path) -> None:
    (tmp_path / "quadrant.toml").write_text(QUADRANT)
    results = [hostnet.run(tmp_path / "quadrant.toml", progress=progress) for progress in (True, False, None)]
    assert len({one.result_hash for one in results}) == 1

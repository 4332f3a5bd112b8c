"""`hostnet memory --over`: a row for every combination, and what it refuses."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import pytest

from hostnet import memory_alone
from hostnet.cli.memory import Options
from hostnet.cli.memory_over import over_command

if TYPE_CHECKING:
    from hostnet import _core
    from tests.support import Cli

SMALL = ("--requests", "3k")


@pytest.fixture
def memory(cli: Cli) -> Cli:
    """The command in an empty folder."""
    cli.file.unlink()
    return cli


def test_a_row_for_every_combination(memory: Cli) -> None:
    over = ("--over", "traffic.load=0.2,0.6", "--over", "memory.channels=1..2")
    done = memory("memory", *SMALL, *over)
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("0.")]
    assert [row[:2] for row in rows] == [["0.2", "1"], ["0.2", "2"], ["0.6", "1"], ["0.6", "2"]]
    points = json.loads(memory("memory", *SMALL, *over, "--json").stdout)
    assert [point["over"] for point in points] == [
        {"traffic.load": load, "memory.channels": channels} for load in ("0.2", "0.6") for channels in ("1", "2")
    ]
    single = json.loads(memory("memory", *SMALL, "--load", "0.6", "--channels", "2", "--json").stdout)
    assert points[-1]["result_hash"] == single["result_hash"]
    assert float(rows[-1][2]) == pytest.approx(single["bandwidth"]["gb_per_s"], rel=0.01)


def test_combinations_are_checked_before_the_first_runs(memory: Cli) -> None:
    assert "memory.device" in memory.fails("memory", "--over", "memory.device=DDR4_2933,DDR4_2934")
    assert '"=" is missing' in memory.fails("memory", "--over", "memory.channels")
    assert "leave out --over" in memory.fails("memory", "--over", "memory.channels=1,2", "--commands", "x.csv")


@pytest.mark.parametrize("last", [1, 3])
def test_ctrl_c_between_short_runs_ends_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], last: int
) -> None:
    """Runs as short as these never ask whether to go on."""
    run, begun = memory_alone.run_plan, []

    def followed(plan: _core.MemoryPlan, **_more: Any) -> memory_alone.MemoryResult:
        begun.append(plan)
        result = run(plan)
        if len(begun) == last:
            signal.raise_signal(signal.SIGINT)
        return result

    monkeypatch.setattr(memory_alone, "run_plan", followed)
    assert over_command(Options(requests="1k", json=True, over=("memory.channels=1..3",))) == 130
    assert len(begun) == last
    assert len(json.loads(capsys.readouterr().out)) == last

"""`hostnet memory --over`: a row for every combination, and its errors."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

from hostnet import memory_alone
from hostnet.cli.memory_options import MemoryOptions
from hostnet.cli.memory_over import over_command
from tests.support import assert_tells

if TYPE_CHECKING:
    from hostnet import _core
    from tests.support import Cli

SMALL = ("--requests", "3k")


@pytest.fixture
def memory(cli: Cli) -> Cli:
    """Returns the command in an empty folder."""
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
        {"traffic.load": load, "memory.channels": channels} for load in (0.2, 0.6) for channels in (1, 2)
    ]
    single = json.loads(memory("memory", *SMALL, "--load", "0.6", "--channels", "2", "--json").stdout)
    assert points[-1]["result_hash"] == single["result_hash"]
    assert float(rows[-1][2]) == pytest.approx(single["bandwidth"]["gb_per_s"], rel=0.01)


def test_combinations_are_checked_before_the_first_runs(memory: Cli) -> None:
    told = memory.fails("memory", "--over", "memory.device=DDR4_2933,DDR4_2934")
    assert_tells(told, "unknown-name | --over memory.device=DDR4_2934")
    told = memory.fails("memory", "--over", "traffic.load=0.2", "--over", "memory.device=DDR4_2934")
    assert_tells(told, "unknown-name | --over memory.device=DDR4_2934")
    assert_tells(told, "unknown-name | traffic.load | 0.2 | memory.device")
    assert_tells(memory.fails("memory", "--over", "memory.channels"), 'malformed-value | "="')
    assert_tells(
        memory.fails("memory", "--over", "memory.channels=1,2", "--commands", "x.csv"), "conflicting-keys | --over"
    )


def test_combinations_have_a_bound(memory: Cli) -> None:
    over = ("--over", "traffic.seed=1..1000000", "--over", "run.outstanding=1..1000")
    told = memory.fails("memory", *over)
    assert_tells(told, "too-many | --over | 1000 = 1000000000")


@pytest.mark.parametrize(
    ("options", "key", "value"),
    [
        (("--load", "0.2"), "traffic.load", "0.5"),
        (("--set", "traffic.load = 0.2"), "traffic.load", "0.5"),
        (("--queue-reads", "32"), "memory.controller.rpq.entries", "40"),
        (("--scheduler", "fcfs"), "memory.controller.scheduler", '"oldest-ready"'),
    ],
)
def test_what_has_a_value_takes_no_others(memory: Cli, options: tuple[str, str], key: str, value: str) -> None:
    told = memory.fails("memory", *SMALL, *options, "--over", f"{key}={value}")
    assert_tells(told, f"conflicting-keys | {' '.join(options)} | {key} | --over")


def test_what_an_option_only_implies_takes_other_values(memory: Cli) -> None:
    over = ("--over", "memory.controller.rpq.full_threshold=16,32")
    done = memory("memory", *SMALL, "--queue-reads", "32", *over)
    assert (done.returncode, done.stderr) == (0, "")


def test_columns_of_combinations_have_names_of_their_own(memory: Cli) -> None:
    queues = [f"memory.controller.{queue}" for queue in ("rpq", "wpq")]
    over = [word for queue in queues for word in ("--over", f"{queue}.entries=64")]
    lines = memory("memory", *SMALL, *over, env={**os.environ, "COLUMNS": "100"}).stdout.splitlines()
    assert lines[1].split()[:2] == ["rpq.entries", "wpq.entries"]
    assert lines[3].split()[:2] == ["64", "64"]


def test_texts_have_no_quotes(memory: Cli) -> None:
    over = ("--over", 'traffic.pattern="random"')
    assert json.loads(memory("memory", *SMALL, *over, "--json").stdout)[0]["over"] == {"traffic.pattern": "random"}
    assert memory("memory", *SMALL, *over).stdout.splitlines()[3].split()[0] == "random"


def test_what_combinations_drop_is_told_once(memory: Cli) -> None:
    (memory.folder / "mine.toml").write_text('[memory]\ndevice = "DDR4_2933"\ndram.timing.cl = 30\n')
    over = ("--over", "memory.device=DDR4_3200", "--over", "memory.channels=1,2")
    done = memory("memory", *SMALL, "--config", "mine.toml", *over)
    assert (done.returncode, done.stderr) == (0, "")
    told = 'note: memory.device = "DDR4_3200" drops what was set over "DDR4_2933": memory.dram.timing.cl'
    assert " ".join(done.stdout.split()).count(told) == 1


@pytest.mark.parametrize("last", [1, 3])
def test_ctrl_c_between_short_runs_ends_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], last: int
) -> None:
    """Runs as short as these never check for an interrupt."""
    run, begun = memory_alone.run_plan, []

    def followed(plan: _core.MemoryPlan, **_more: Any) -> memory_alone.MemoryResult:
        begun.append(plan)
        result = run(plan)
        if len(begun) == last:
            signal.raise_signal(signal.SIGINT)
        return result

    monkeypatch.setattr(memory_alone, "run_plan", followed)
    assert over_command(MemoryOptions(requests="1k", json=True, over=("memory.channels=1..3",))) == 130
    assert len(begun) == last
    assert len(json.loads(capsys.readouterr().out)) == last

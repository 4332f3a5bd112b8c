"""`hostnet run` with the trace of a program."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path

import pytest

from hostnet import _core
from tests.support import Cli, assert_tells, read_json

CONFIG = """
[server]
preset = "cascade-lake-6234"
[cache]
enabled = true
llc.sets = 64
[workload.replay]
kind = "app"
app = "trace"
file = "traces/program.lackey"
cores = "0-1"
[run]
warmup = "5 us"
duration = "20 us"
seed = 1
"""

ACCESSES = "".join(f"I  00001000,4\n L {0x40_0000 + 64 * number:08x},8\n" for number in range(4000))


@pytest.fixture
def replay(cli: Cli) -> Path:
    folder = cli.folder / "configs"
    (folder / "traces").mkdir(parents=True)
    (folder / "traces" / "program.lackey").write_text(ACCESSES)
    cli.file = folder / "replay.toml"
    cli.file.write_text(CONFIG)
    return folder / "traces" / "program.lackey"


def test_a_trace_is_found_beside_its_configuration(cli: Cli, replay: Path) -> None:
    first = read_json(cli.run() / "summary.json")
    packed = replay.with_suffix(".gz")
    packed.write_bytes(gzip.compress(ACCESSES.encode()))
    again = read_json(cli.run("--set", f"workload.replay.file={packed}") / "summary.json")
    assert first["workloads"] == again["workloads"], "compressed, it is the same trace"


def test_a_plan_of_a_trace_goes_to_another_process(replay: Path) -> None:
    plan = _core.resolve(CONFIG, base_dir=str(replay.parents[1]))
    assert pickle.loads(pickle.dumps(plan)).hash == plan.hash
    assert plan.with_seed(1).hash == plan.hash


def test_what_is_wrong_with_a_trace_is_told_before_the_run(cli: Cli, replay: Path) -> None:
    for text, message in (
        ("I  1000,4\n L what,8\n", "malformed-file | :2: "),
        ("", "malformed-file | holds no access"),
        ("what\n", "malformed-file | what"),
    ):
        replay.write_text(text)
        assert_tells(cli.fails("run", cli.file, "--quiet"), message)
    replay.unlink()
    assert_tells(cli.fails("run", cli.file, "--quiet"), "file-not-found | workload.replay.file")


def test_what_is_wrong_further_on_ends_the_run_and_leaves_nothing(cli: Cli, replay: Path) -> None:
    replay.write_text(ACCESSES + " L what,8\n")
    assert_tells(cli.fails("run", cli.file, "--quiet"), f"malformed-file | {replay} | 8001")
    replay.write_text(ACCESSES[:-1])
    assert_tells(cli.fails("run", cli.file, "--quiet"), f"malformed-file | {replay} | 8000")

"""`run.forward` in what the command prints and writes."""

from __future__ import annotations

import re
from pathlib import Path

from hostnet import _core
from tests.support import Cli, read_json

FORWARD = ("--set", "run.forward=auto")

JOBS = """\
[host.worker]
kind = "endpoint"
count = 4

[job.train]
kind = "allreduce"
hosts = "worker"
bytes = "64 KiB"
compute = "100 us"
iterations = 100

[run]
until = "jobs"
"""


def jobs_file(cli: Cli) -> Path:
    """Writes a job whose iterations are alike, and returns its file."""
    file = cli.folder / "jobs.toml"
    file.write_text(JOBS)
    return file


def test_a_run_says_why_it_is_simulated_in_full(cli: Cli) -> None:
    done = cli("run", cli.file, *FORWARD, "--out", "forward")
    forward = read_json(cli.folder / "forward" / "summary.json")["forward"]
    assert (done.returncode, forward["skipped_share"]) == (0, 0.0)
    told = "run.forward: nothing was skipped, because "
    assert forward["note"].startswith(told)
    assert told.strip() in " ".join(done.stdout.split())
    assert told in (cli.folder / "forward" / "report.html").read_text(encoding="utf-8")


def test_runs_without_the_key_say_nothing(cli: Cli) -> None:
    assert "forward" not in read_json(cli.run() / "summary.json")


def test_seeds_tell_the_share_of_all(cli: Cli) -> None:
    done = cli("run", cli.file, *FORWARD, "--seeds", "2", "--out", "seeds")
    forward = read_json(cli.folder / "seeds" / "seeds.json")["forward"]
    assert (done.returncode, forward["skipped_share"]) == (0, 0.0)
    assert "run.forward: 0.0 %" in done.stdout


def test_only_runs_with_the_key_may_end_early(cli: Cli) -> None:
    assert not _core.resolve(cli.file.read_text(encoding="utf-8")).forwards
    assert _core.resolve(cli.file.read_text(encoding="utf-8"), overrides=["run.forward=auto"]).forwards


def test_a_sweep_sums_up_what_was_skipped(cli: Cli) -> None:
    done = cli("sweep", jobs_file(cli), "--over", "job.train.iterations=4,100", *FORWARD, "--out", "swept")
    assert (done.returncode, done.stderr) == (0, "")
    said = " ".join(done.stdout.split())
    found = re.search(r"run.forward: (\S+) % of the time was skipped, in 1 of 2 runs", said)
    assert found is not None, said
    assert 40 < float(found[1]) < 50


def test_a_checkpoint_after_the_end_names_the_key(cli: Cli) -> None:
    file = jobs_file(cli)
    wanted = ("--checkpoint-at", "9 ms", "--checkpoint", "state.ckpt", "--quiet")
    done = cli("run", file, *FORWARD, *wanted)
    assert done.returncode == 2
    assert "the run, of which run.forward skipped a part, ended at" in " ".join(done.stderr.split())
    assert cli("run", file, *wanted).returncode == 0


def test_a_precise_run_refuses_the_key(cli: Cli) -> None:
    done = cli("run", cli.file, *FORWARD, "--set", "run.precision=0.1")
    assert done.returncode == 2
    assert "no-effect" in done.stderr

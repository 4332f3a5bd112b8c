"""One simulation in several processes started by mpirun."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hostnet.processes import launch
from tests.mpi.support import BIN, CLUSTER, Folder, processes_of

pytest.importorskip("mpi4py")


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@pytest.mark.parametrize(("ranks", "threads"), [(2, 1), pytest.param(3, 2, marks=pytest.mark.long)])
def test_every_number_of_processes_writes_the_same_files(folder: Folder, ranks: int, threads: int) -> None:
    options = ("--series", "20us", "--counters", "perf", "--counters-interval", "20us", "--pcap-host", "s")
    alone = folder.found(1, "alone", *options, "--pcap", "alone.pcap")
    found = folder.found(ranks, "several", *options, "--pcap", "several.pcap", "--threads", str(threads))
    assert found.keys() == alone.keys()
    assert [file for file in alone if found[file] != alone[file]] == []
    assert (folder.path / "several.pcap").read_bytes() == (folder.path / "alone.pcap").read_bytes()
    manifest = json.loads((folder.path / "several" / "manifest.json").read_text())
    assert manifest["processes"] == ranks
    shares = manifest["shares"]
    assert shares["meetings"] > 100
    assert sum(shares[f"{name}_share"] for name in ("work", "imbalance", "meeting")) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("ranks", [1, pytest.param(3, marks=pytest.mark.long)])
def test_checkpoints_go_on_in_another_number_of_processes(folder: Folder, ranks: int) -> None:
    whole = folder.found(1, "whole")
    kept = folder.found(2, "kept", "--checkpoint-every", "50us", "--checkpoint", "kept-there")
    assert kept == whole
    assert [entry.name for entry in (folder.path / "kept-there").iterdir()] == ["150000000ps"]
    assert folder.found(ranks, "on", "--from", "kept-there") == whole


@pytest.mark.long
def test_checkpoints_at_a_time_go_on_in_another_number_of_processes(folder: Folder) -> None:
    whole = folder.found(1, "whole")
    single = folder.found(2, "single", "--checkpoint-at", "70us", "--checkpoint", "state")
    assert single == whole
    assert folder.found(1, "from-file", "--from", "state") == whole
    assert folder.found(1, "by-itself", "--checkpoint-every", "100us") == whole
    assert [entry.name for entry in (folder.path / "checkpoints" / "cluster").iterdir()] == ["100000000ps"]
    assert folder.found(3, "across", "--from", "state", "--threads", "2") == whole


JOB = """
[job.train]
kind = "allreduce"
hosts = "e"
bytes = "300 kB"
iterations = 2
compute = "20 us"
[run]
until = "jobs"
"""


@pytest.mark.long
def test_jobs_end_alike_in_every_number_of_processes(folder: Folder) -> None:
    text = CLUSTER.partition("[run]")[0] + JOB
    (folder.path / "cluster.toml").write_text(text)
    alone = folder.found(1, "alone")
    (row,) = json.loads(alone["summary.json"])["jobs"]
    assert (row["unfinished_ranks"], row["iterations"]) == (0, 2)
    kept = folder.found(2, "two", "--threads", "2", "--checkpoint-every", "300us", "--checkpoint", "kept")
    assert kept == alone
    assert folder.found(3, "on", "--from", "kept") == alone


RACK = """
[chip]
preset = "scale-out-64"
columns = 4
rows = 2
[coherence]
llc = "256 KiB"
[rack]
kind = "torus"
size = [2, 2, 2]
[workload]
mode = "async"
[run]
warmup = "2 us"
window = "4 us"
max = 2
"""


@pytest.mark.parametrize(("ranks", "threads"), [(2, 2), pytest.param(8, 1, marks=pytest.mark.long)])
def test_the_chips_of_a_rack_do_the_same_in_every_number_of_processes(folder: Folder, ranks: int, threads: int) -> None:
    (folder.path / "rack.toml").write_text(RACK)
    alone = folder.found(1, "alone", file="rack.toml")
    assert sorted(alone) == ["config.toml", "report.html", "summary.json"]
    assert folder.found(ranks, "several", "--threads", str(threads), file="rack.toml") == alone
    assert json.loads((folder.path / "several" / "manifest.json").read_text())["processes"] == ranks
    done = folder.run(9, "run", "rack.toml")
    assert (done.returncode, done.stderr.count("error[")) == (2, 1)
    assert "error[too-many]: mpirun: 9 processes are more than the 8 partitions" in done.stderr
    done = folder.run(2, "run", "rack.toml", "--set", "rack.kind=mirror")
    assert "error[no-effect]" in done.stderr
    assert "rack.size: " in done.stderr


@pytest.mark.parametrize(
    ("ranks", "arguments", "message"),
    [
        (2, ("run", "none.toml"), "error[file-not-found]: none.toml: "),
        (2, ("run", "cluster.toml", "--seeds", "2"), "error[not-supported]: --seeds: "),
        (2, ("run", "cluster.toml", "--trace"), "error[not-supported]: --trace: "),
        (2, ("validate", "hostcc"), "error[not-supported]: mpirun: "),
        (9, ("run", "cluster.toml"), "error[too-many]: mpirun: 9 processes are more than the 7 partitions"),
    ],
)
def test_what_is_wrong_is_told_once(folder: Folder, ranks: int, arguments: tuple[str, ...], message: str) -> None:
    done = folder.run(ranks, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("error[") == 1
    assert [path.name for path in folder.path.iterdir()] == ["cluster.toml"]


def test_a_run_starts_its_processes_itself(folder: Folder) -> None:
    alone = folder.found(1, "alone")
    assert folder.found(1, "shared", "--processes", "2") == alone
    assert json.loads((folder.path / "shared" / "manifest.json").read_text())["processes"] == 2
    done = folder.run(1, "run", "cluster.toml", "--processes", "9")
    assert done.returncode == 2
    assert done.stderr.startswith("error[too-many]: --processes 9: ")
    done = folder.run(1, "run", "cluster.toml", "--processes", "2", "--seeds", "2")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("error[not-supported]: --seeds: ")


def test_processes_that_are_given_different_things_do_not_begin(folder: Folder) -> None:
    own = [str(BIN / "hostnet"), "run", "cluster.toml"]
    command = [str(BIN / "mpirun"), "-n", "1", *own, ":", "-n", "1", *own, "--seed", "5"]
    done = subprocess.run(command, cwd=folder.path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 2
    assert "error[other-configuration]: process 1: " in done.stderr
    assert done.stderr.count("error[") == 1


def test_a_process_that_dies_ends_the_others_and_the_run_goes_on_from_the_last_checkpoint(folder: Folder) -> None:
    whole = folder.found(1, "whole", "--set", "run.duration=1 ms")
    command = folder.command(1, "run", "cluster.toml", "--out", "killed", "--set", "run.duration=1 ms")
    command += ["--processes", "2"]
    command += ["--checkpoint-every", "50us", "--checkpoint", "kept"]
    running = subprocess.Popen(command, cwd=folder.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    kept = folder.path / "kept"
    while not (kept.is_dir() and any(not entry.name.startswith(".") for entry in kept.iterdir())):
        assert running.poll() is None, running.communicate()
        time.sleep(0.02)
    victim = processes_of(folder.path)[-1]
    os.kill(victim, signal.SIGKILL)
    began = time.monotonic()
    told = running.communicate(timeout=30)[1].decode()
    assert time.monotonic() - began < 10
    assert running.returncode == 1
    assert re.fullmatch(
        r"error\[cluster-failed\]: process \d of 2 has died, and the others were ended; the last checkpoint is "
        r"kept/\d+ps; go on with --from kept\n",
        told,
    )
    assert processes_of(folder.path) == []
    assert not (folder.path / "killed").exists()
    assert folder.found(1, "on", "--set", "run.duration=1 ms", "--from", "kept") == whole


@pytest.mark.parametrize(("told", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_processes_end_with_the_one_that_has_started_them(folder: Folder, told: signal.Signals, code: int) -> None:
    command = folder.command(1, "run", "cluster.toml", "--out", "out", "--set", "run.duration=200 ms")
    command += ["--checkpoint-every", "50us", "--checkpoint", "kept", "--processes", "2"]
    running = subprocess.Popen(command, cwd=folder.path, stderr=subprocess.PIPE)
    while not any((folder.path / "kept").glob("[0-9]*ps")):
        assert running.poll() is None, running.communicate()
        time.sleep(0.02)
    running.send_signal(told)
    said = running.communicate(timeout=30)[1].decode()
    assert running.returncode == code, said
    assert "has died" not in said
    assert processes_of(folder.path) == []
    kept = folder.path / "out" / "manifest.json"
    assert kept.is_file() == (told == signal.SIGINT), "Ctrl-C keeps what was measured"


@pytest.mark.parametrize("starter", ["hostnet", "mpirun"])
def test_processes_end_when_the_one_that_has_started_them_is_killed(folder: Folder, starter: str) -> None:
    own = starter == "hostnet"
    command = folder.command(1 if own else 2, "run", "cluster.toml", "--out", "out", "--set", "run.duration=900 ms")
    command += ["--checkpoint-every", "50us", "--checkpoint", "kept", *(("--processes", "2") if own else ())]
    running = subprocess.Popen(command, cwd=folder.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while len(processes_of(folder.path)) < (3 if own else 2) or not any((folder.path / "kept").glob("[0-9]*ps")):
        assert running.poll() is None
        time.sleep(0.02)
    for place in (["--out", "out"], ["--checkpoint-every", "50us", "--checkpoint", "kept"]):
        second = folder.run(1, "run", "cluster.toml", *place)
        assert (second.returncode, second.stderr.count("\n")) == (2, 1)
        assert re.search(r"process \d+ on \S+ \(since ", second.stderr)
    running.kill()
    running.wait()
    until = time.monotonic() + 30
    while processes_of(folder.path):
        assert time.monotonic() < until
        time.sleep(0.02)
    assert not (folder.path / "out").exists()


def test_ports_stay_on_loopback_unless_a_scheduler_places_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in launch.SCHEDULERS:
        monkeypatch.delenv(name, raising=False)
    assert launch.loopback() == (launch.LOOPBACK if sys.platform == "linux" else {})
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    assert launch.loopback() == {}


def test_processes_are_heard_to_the_end_when_nobody_listens() -> None:
    said = iter(["one\n", "two\n", "three\n"])

    def nobody(_line: str) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        launch._pass_on(said, nobody)
    assert list(said) == []

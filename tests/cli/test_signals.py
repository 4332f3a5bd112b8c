"""Stopping a run and asking how it goes."""

from __future__ import annotations

import signal
import time

import pytest

from tests.support import Cli, read_json

LONG = ("--set", "run.duration=10 s")


def test_ctrl_c_keeps_what_was_measured(cli: Cli) -> None:
    process = cli.start("run", cli.file, "--out", "part", *LONG)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "being kept" in errors
    assert output.splitlines()[-1] == "part"
    assert "stopped before its end" in output
    assert read_json(cli.folder / "part" / "summary.json")["complete"] is False
    assert read_json(cli.folder / "part" / "manifest.json")["complete"] is False
    assert (cli.folder / "part" / "report.html").exists()


def test_ctrl_c_stops_many_runs(cli: Cli) -> None:
    process = cli.start("run", cli.file, "--out", "part", "--seeds", "3", "--quiet", *LONG)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=30)
    assert (process.returncode, output) == (130, "part\n")
    assert read_json(cli.folder / "part" / "seeds.json")["complete"] is False


@pytest.mark.parametrize("pause_s", [0.0, 0.5])
def test_a_second_ctrl_c_leaves_nothing_half_written(cli: Cli, pause_s: float) -> None:
    process = cli.start("run", cli.file, "--out", "part", *LONG)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    time.sleep(pause_s)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode in (130, -signal.SIGINT)
    whole = cli.folder / "part"
    assert cli.entries() == [cli.file] or (whole / "manifest.json").exists()


def test_sigusr1_prints_a_status_line(cli: Cli) -> None:
    process = cli.start("run", cli.file, "--quiet", *LONG)
    for _ in range(2):
        time.sleep(1.2)
        process.send_signal(signal.SIGUSR1)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    line = errors.splitlines()[1]
    assert line.startswith("hostnet: ")
    assert "simulated" in line
    assert "events/s" in line
    assert "left" in line

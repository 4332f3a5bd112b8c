"""Stopping a run and requesting its status."""

from __future__ import annotations

import signal

import pytest

from tests.support import Cli, interrupted, read_json, status_of

LONG = ("--set", "run.duration=10 s")


def test_ctrl_c_keeps_what_was_measured(cli: Cli) -> None:
    process = cli.start("run", cli.file, "--out", "part", *LONG)
    status_of(process, "measure: ")
    output, errors = interrupted(process)
    assert process.returncode == 130
    assert "being kept" in errors
    assert output.splitlines()[-1] == "part"
    assert "stopped before its end" in output
    assert read_json(cli.folder / "part" / "summary.json")["complete"] is False
    assert read_json(cli.folder / "part" / "manifest.json")["complete"] is False
    assert (cli.folder / "part" / "report.html").exists()


def test_ctrl_c_stops_many_runs(cli: Cli) -> None:
    process = cli.start("run", cli.file, "--out", "part", "--seeds", "3", "--quiet", *LONG)
    status_of(process, "0 of 3 runs")
    output, _ = interrupted(process)
    assert (process.returncode, output) == (130, "part\n")
    assert read_json(cli.folder / "part" / "seeds.json")["complete"] is False


@pytest.mark.parametrize("noticed", [False, True])
def test_a_second_ctrl_c_leaves_nothing_half_written(cli: Cli, noticed: bool) -> None:
    process = cli.start("run", cli.file, "--out", "part", *LONG)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    if noticed:
        assert "stopping" in process.stderr.readline()
    interrupted(process)
    assert process.returncode in (130, -signal.SIGINT)
    whole = cli.folder / "part"
    # A lock whose holder has ended is not a result; the next run there takes it over.
    left = [entry for entry in cli.entries() if entry.suffix != ".lock"]
    assert left == [cli.file] or (whole / "manifest.json").exists()


def test_sigusr1_prints_a_status_line(cli: Cli) -> None:
    process = cli.start("run", cli.file, "--quiet", *LONG)
    line = status_of(process, " left")
    interrupted(process)
    assert line.startswith("hostnet: ")
    assert "simulated" in line
    assert "events/s" in line

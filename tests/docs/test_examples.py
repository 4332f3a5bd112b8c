"""The examples run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.reference import ROOT
from tests.support import HANG_S, Cli, with_small_llc

OF_A_PART = {"noc.toml"}
"""Configurations of a single part, which `hostnet run` does not take."""

CHIP = ROOT / "examples/chip.toml"
OTHERS = {*OF_A_PART, CHIP.name}
CONFIGURATIONS = [file for file in sorted(ROOT.glob("examples/*.toml")) if file.name not in OTHERS]
SCRIPTS = sorted(ROOT.glob("examples/*.py"))


@pytest.mark.parametrize("file", CONFIGURATIONS, ids=lambda file: file.name)
def test_a_configuration_runs(cli: Cli, file: Path) -> None:
    settings = ["run.warmup=5 us", "run.duration=20 us", *with_small_llc(file)]
    done = cli("run", file, "--quiet", *(word for setting in settings for word in ("--set", setting)))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"runs/{file.stem}-1\n"


def test_the_network_on_a_chip_runs(cli: Cli) -> None:
    done = cli("noc", "--config", ROOT / "examples/noc.toml", "--cycles", "500")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("mesh 8x8, o1turn, 4 virtual channels of 8 flits")


def test_the_chip_runs(cli: Cli) -> None:
    done = cli("run", CHIP, "--quiet", "--set", "run.warmup=1 us", "--set", "run.window=1 us", "--set", "run.max=2")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "runs/chip-1\n")


def output_of(name: str, folder: Path) -> list[str]:
    """Returns the output of a script that runs in another folder."""
    command = [sys.executable, str(ROOT / "examples" / name)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=HANG_S, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert list(folder.iterdir()) == [], "a script leaves nothing behind"
    return done.stdout.splitlines()


def test_every_script_is_tested() -> None:
    assert {file.name for file in SCRIPTS} == {
        "cxl_throttle.py",
        "sweep_cores.py",
        "tiering_colloid.py",
        "tiering_tpp.py",
        "time_series.py",
        "train_compressed.py",
        "what_if.py",
    }


def test_a_controller_gives_local_memory_its_bandwidth_back(tmp_path: Path) -> None:
    near, far = (row.split() for row in output_of("cxl_throttle.py", tmp_path)[1:])
    assert (near[0], far[0]) == ("near", "far")
    assert float(near[2]) > 2.5 * float(near[1]), "local memory waits for entries without the controller"
    assert float(far[2]) > 0.8 * float(far[1]), "the link stays busy with it"


def test_pages_that_are_accessed_are_faster_in_local_memory(tmp_path: Path) -> None:
    stay, tpp = (row.split() for row in output_of("tiering_tpp.py", tmp_path)[1:])
    assert float(tpp[1]) > float(stay[1]), "two channels are filled"


@pytest.mark.long
def test_balanced_latencies_help_whether_or_not_a_neighbour_is_busy(tmp_path: Path) -> None:
    rows = [row.split() for row in output_of("tiering_colloid.py", tmp_path)[1:]]
    rates = {(row[0], row[1]): float(row[2]) for row in rows}
    assert rates["idle", "Colloid"] > 1.08 * rates["idle", "Tpp"] > rates["idle", "none"], "both memories are used"
    assert rates["busy", "Tpp"] < 0.7 * rates["busy", "none"], "a promotion makes accesses slower"
    assert rates["busy", "Colloid"] > 0.9 * rates["busy", "none"]


def test_sweep_cores_prints_a_row_per_number_of_cores(tmp_path: Path) -> None:
    heading, *rows = output_of("sweep_cores.py", tmp_path)
    assert heading.startswith("cores")
    slower = [[float(value) for value in re.findall(r"[\d.]+(?=x)", row)] for row in rows]
    assert len(slower) == 6
    assert slower[-1][1] > slower[0][1], "six cores slow the drives down more than one does"


def test_what_if_prints_every_change(tmp_path: Path) -> None:
    lines = output_of("what_if.py", tmp_path)
    assert len(lines) == 15
    assert sum("limited by" in line for line in lines) == 10


def test_time_series_prints_a_row_per_step(tmp_path: Path) -> None:
    heading, *rows = output_of("time_series.py", tmp_path)
    assert heading.split() == ["ns", "WPQ", "RPQ"]
    assert [int(row.split()[0]) for row in rows] == list(range(100, 4001, 100))

"""Processes that are killed at arbitrary times."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.mpi.support import Folder, processes_of

pytest.importorskip("mpi4py")

KILLS = int(os.environ.get("PROPTEST_CASES", "100"))
"""Number of runs that lose a process."""


@pytest.mark.long
def test_whoever_is_killed_and_when_the_others_end_and_the_run_goes_on(tmp_path: Path) -> None:
    folder, random_numbers = Folder(tmp_path), random.Random(7)
    longer = ("--set", "run.duration=1 ms")
    whole = folder.found(1, "whole", *longer)
    for number in range(KILLS):
        ranks = random_numbers.randint(2, 4)
        keeps = ("--checkpoint-every", "40us", "--checkpoint", f"kept-{number}")
        command = folder.command(1, "run", "cluster.toml", "--out", f"killed-{number}", *longer, *keeps)
        command += ["--processes", str(ranks)]
        running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(random_numbers.uniform(0.2, 6))
        victims = processes_of(tmp_path)
        # The first process has started the others.
        if running.poll() is None and len(victims) > 1:
            os.kill(random_numbers.choice(victims[1:]), signal.SIGKILL)
        began = time.monotonic()
        told = running.communicate(timeout=60)[1]
        assert time.monotonic() - began < 10 or running.returncode == 0
        assert processes_of(tmp_path) == []
        if running.returncode == 0:
            continue
        assert running.returncode == 1, (running.returncode, told)
        assert not (tmp_path / f"killed-{number}").exists()
        assert "has died" in told
        kept = tmp_path / f"kept-{number}"
        if kept.is_dir() and any(not entry.name.startswith(".") for entry in kept.iterdir()):
            on = random_numbers.randint(1, 3)
            assert folder.found(on, f"on-{number}", *longer, "--from", f"kept-{number}") == whole
    assert json.loads((tmp_path / "whole" / "manifest.json").read_text())["complete"]

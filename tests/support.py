"""Shared by all tests: a small configuration, and the real command in a private folder."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hostnet import _core
from hostnet.errors import CodedError, ConfigError
from tests.zygote import zygote

HANG_S = 1500
"""Time after which a process counts as hanging, in seconds: longer than any command takes on a busy machine."""

HOSTNET = Path(sys.executable).with_name("hostnet")

QUADRANT = """\
[server]
preset = "cascade-lake-6234"

[run]
name = "quadrant"
seed = 7
warmup = "5 us"
duration = "20 us"

[workload.stream]
kind = "stream"
cores = "0-1"

[workload.disk]
kind = "fio"
jobs = [{ rw = "read", bs = "64 KiB", iodepth = 16, size = "1 GiB", ssd = 0 }]
"""
"""A run of a few milliseconds with a workload of each kind."""


OWN_CACHE = re.compile(r"^\[cache\]", re.MULTILINE)


def with_small_llc(file: Path) -> list[str]:
    """Returns overrides that make the LLC of a configuration with caches small, so that it fills soon."""
    return ["cache.llc.sets=64"] if OWN_CACHE.search(file.read_text(encoding="utf-8")) else []


class Complaint(str):
    """Message of a command that rejects its input, with its code of the table."""

    code: str


def assert_tells(error: Complaint | CodedError, wanted: str) -> None:
    """Checks the code of an error and parts of its text: "code | part | part"."""
    code, *parts = wanted.split(" | ")
    assert error.code == code, error
    for part in parts:
        assert part in str(error), (part, str(error))


@contextmanager
def raises_code(wanted: str, kind: type[CodedError] = ConfigError) -> Iterator[pytest.ExceptionInfo[CodedError]]:
    """Checks that the body raises an error of a kind, with its code and parts of its text: "code | part | part"."""
    with pytest.raises(kind) as found:
        yield found
    assert_tells(found.value, wanted)


def complaint_of(errors: str) -> Complaint:
    """Returns the error in the stderr of a command, which must be one line."""
    found = re.fullmatch(r"error\[([a-z-]+)\]: (.*)\n", errors)
    assert found is not None, errors
    assert found[1] in {code for code, _, _ in _core.error_table()}
    complaint = Complaint(found[2])
    complaint.code = found[1]
    return complaint


class Cli:
    """The command `hostnet`, run in a private folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "quadrant.toml"
        self.file.write_text(QUADRANT)

    def __call__(self, *arguments: str | Path, **more: Any) -> subprocess.CompletedProcess[str]:
        """Runs the command; in a new process if it needs its own environment or streams."""
        command = [str(HOSTNET), *map(str, arguments)]
        if not more:
            return zygote().run(command[1:], self.folder)
        # Changes of the environment that a library makes in this process, unknown to Python, must not reach the child.
        more = {"env": dict(os.environ), **more}
        return subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, timeout=HANG_S, check=False, **more
        )

    def run(self, *arguments: str | Path) -> Path:
        """Runs the configuration, which must succeed, and returns the run directory."""
        done = self("run", self.file, "--quiet", *arguments)
        assert (done.returncode, done.stderr) == (0, "")
        return self.folder / done.stdout.rstrip("\n")

    def start(self, *arguments: str | Path) -> subprocess.Popen[str]:
        """Starts the command and returns once it handles signals."""
        command = [str(HOSTNET), *map(str, arguments)]
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        process = subprocess.Popen(command, cwd=self.folder, env=dict(os.environ), start_new_session=True, **pipes)
        while not catches(process.pid, signal.SIGUSR1):
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        return process

    def fails(self, *arguments: str | Path, code: int = 2) -> Complaint:
        """Runs the command, which must fail cleanly, and returns its message with its code."""
        before = self.entries()
        done = self(*arguments)
        assert done.returncode == code, done
        assert done.stdout == ""
        complaint = complaint_of(done.stderr)
        assert "Traceback" not in done.stderr
        assert self.entries() == before, "something was left behind"
        return complaint

    def entries(self) -> list[Path]:
        """Returns everything in the folder, hidden files included."""
        return sorted(self.folder.rglob("*"))


def status_of(process: subprocess.Popen[str], word: str = "") -> str:
    """Requests the status of a running command until it reports progress and a word, and returns the line."""
    assert process.stderr is not None
    while True:
        process.send_signal(signal.SIGUSR1)
        line = process.stderr.readline()
        assert line, f"it has ended without a word of {word!r}"
        if "starting" not in line and word in line:
            return line
        time.sleep(0.02)


def interrupted(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Returns the remaining output of a command after Ctrl-C."""
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=HANG_S)


def catches(process: int, number: signal.Signals) -> bool:
    """Returns true if a process has a handler for a signal. Outside of Linux, waits for the handler instead."""
    status = Path(f"/proc/{process}/status")
    if not status.exists():
        time.sleep(3)
        return True
    masks = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
    return bool(int(masks["SigCgt"], 16) >> (number - 1) & 1)


def read_json(path: Path) -> dict[str, Any]:
    """Returns the content of a JSON file."""
    content: dict[str, Any] = json.loads(path.read_text())
    return content

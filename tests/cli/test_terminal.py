"""The output on a terminal."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import pytest

from tests.support import HANG_S, HOSTNET, Cli

if sys.platform == "win32":
    pytest.skip("needs pseudo-terminals", allow_module_level=True)

import fcntl
import pty
import struct
import termios

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A pseudo-terminal of a number of columns in which the command runs."""

    def __init__(self, cli: Cli, columns: int, *arguments: str) -> None:
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        self.process = subprocess.Popen(
            [HOSTNET, *arguments],
            cwd=cli.folder,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm-256color"},
            start_new_session=True,
        )
        os.close(theirs)

    def read_until(self, *words: str) -> str:
        """Returns the output until all words were shown, or the command ends."""
        shown = b""
        while not words or not all(word.encode() in shown for word in words):
            try:
                part = os.read(self.ours, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        return shown.decode(errors="replace")

    def read(self) -> str:
        """Returns the output until the command ends."""
        shown = self.read_until()
        os.close(self.ours)
        self.process.wait(timeout=HANG_S)
        return shown


@pytest.mark.parametrize("columns", [70, 100, 200])
def test_the_tables_fit_the_terminal(cli: Cli, columns: int) -> None:
    terminal = Terminal(cli, columns, "run", "quadrant.toml")
    shown = terminal.read()
    lines = ESCAPES.sub("", shown).replace("\r", "").splitlines()
    assert terminal.process.returncode == 0
    assert max(map(len, lines)) <= min(columns, 100)
    assert "\x1b[1m" in shown
    assert lines[-1] == "runs/quadrant-1"


def test_a_long_run_shows_a_progress_bar_that_vanishes(cli: Cli) -> None:
    terminal = Terminal(cli, 100, "run", "quadrant.toml", "--set", "run.duration=10 s")
    shown = terminal.read_until("events/s", "left")
    terminal.process.send_signal(signal.SIGINT)
    shown += terminal.read()
    assert terminal.process.returncode == 130
    assert "events/s" in shown
    assert "left" in shown
    assert "\x1b[2K" in shown, "the bar is erased"
    assert ESCAPES.sub("", shown).replace("\r", "").splitlines()[-1] == "runs/quadrant-1"

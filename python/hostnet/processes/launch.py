"""Starts the processes of a run with mpirun, and says what became of them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from hostnet._core import ConfigError
from hostnet.terminal.screen import complain, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

ROLL = "HOSTNET_ROLL"
"""The variable that names the folder where each process leaves its number."""

ENDS = (0, 1, 2, 70, 130)
"""The exit codes that a process of hostnet ends with by itself."""

BANNER = re.compile(r"BAD TERMINATION|^=+$|^= |^YOUR APPLICATION|^This typically|^Please see the FAQ|^\s*$")
"""What mpirun says of a process that died."""

RULE = re.compile(r"={70,}")
"""The line before that."""

DEAD = re.compile(r"PID (\d+) RUNNING AT (\S+)")
"""Where it says which one."""


def sign_in(rank: int) -> None:
    """Leaves the number of this process where whoever started it looks."""
    folder = os.environ.get(ROLL)
    if folder is not None:
        (Path(folder) / str(os.getpid())).write_text(str(rank), encoding="utf-8")


def launch(ranks: int, arguments: Sequence[str]) -> tuple[int, int | None]:
    """Runs `hostnet ARGUMENTS` in so many processes.

    Returns:
        The exit code, and the number of the process that died, -1 if it is not known; None if none did.

    Raises:
        ConfigError: There is no mpirun.
    """
    command = [_mpirun(), "-n", str(ranks), sys.executable, "-c", "from hostnet.cli import main; main()", *arguments]
    with tempfile.TemporaryDirectory(prefix="hostnet-") as roll:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            # The processes hear of Ctrl-C from mpirun, which is in the same group.
            pipe = subprocess.PIPE
            started = subprocess.Popen(
                command, stdout=pipe, stderr=pipe, text=True, encoding="utf-8", env={**os.environ, ROLL: roll}
            )
            with ThreadPoolExecutor(2) as readers:
                told = [
                    readers.submit(_pass_on, lines or (), tell)
                    for lines, tell in ((started.stdout, say), (started.stderr, complain))
                ]
            code = started.wait()
            dead = told[0].result() or told[1].result()
        finally:
            signal.signal(signal.SIGINT, before)
        if code in ENDS:
            return code, None
        entry = Path(roll) / (dead or "")
        return 1, int(entry.read_text(encoding="utf-8")) if dead and entry.is_file() else -1


def _pass_on(lines: Iterable[str], tell: Callable[[str], None]) -> str | None:
    """Tells what the processes say; returns the number that the system had given to one that died.

    Raises:
        BrokenPipeError: Nobody listened any more. All that they said was read all the same: they would wait for that.
    """
    dead, talks, broken = None, False, None
    for line in lines:
        talks = talks or "BAD TERMINATION" in line
        found = DEAD.search(line)
        if found is not None:
            dead = found[1]
        if broken is None and not (BANNER.search(line) if talks else RULE.fullmatch(line.rstrip("\n"))):
            try:
                tell(line.rstrip("\n"))
            except BrokenPipeError as error:
                broken = error
    if broken is not None:
        raise broken
    return dead


def _mpirun() -> str:
    beside = Path(sys.executable).parent / "mpirun"
    found = str(beside) if beside.is_file() else shutil.which("mpirun")
    if found is None:
        raise ConfigError("--processes: there is no mpirun; install one: pip install 'hostnet[mpi]'")
    return found

"""Starts the processes of a run with mpirun, and says what became of them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from hostnet._core import ConfigError
from hostnet.processes.guard import end_with_parent, end_with_writer, life_line
from hostnet.terminal.screen import complain, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

ROLL = "HOSTNET_ROLL"
"""The variable that names the folder where each process leaves its number."""

LIFE_LINE = "alive"
"""The named pipe in that folder: it has a writer as long as the command that started the processes is alive."""

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that the processes hear of."""

LOOPBACK = {"UCX_NET_DEVICES": "lo", "FI_TCP_IFACE": "lo"}
"""Variables that bind the ports of MPICH's transports, UCX and libfabric, to the loopback interface."""

SCHEDULERS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "HYDRA_HOST_FILE")
"""Variables of schedulers, under which `mpirun` may start processes on other machines that loopback cannot reach."""

TWICE_S = 1.0
"""A second Ctrl-C within this time is the first one, told twice."""

ENDS = (0, 1, 2, 70, 130)
"""The exit codes that a process of hostnet ends with by itself."""

BANNER = re.compile(r"BAD TERMINATION|^=+$|^= |^YOUR APPLICATION|^This typically|^Please see the FAQ|^\s*$")
"""What mpirun says of a process that died."""

RULE = re.compile(r"={70,}")
"""The line before that."""

DEAD = re.compile(r"PID (\d+) RUNNING AT (\S+)")
"""Where it says which one."""


def sign_in(rank: int) -> None:
    """Tells the process that started this one its number, and ends this one when that is gone."""
    end_with_parent()
    folder = os.environ.get(ROLL)
    if folder is None:
        return
    end_with_writer(Path(folder) / LIFE_LINE)
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
        pipe, environment = subprocess.PIPE, {**loopback(), **os.environ, ROLL: roll}
        with life_line(Path(roll) / LIFE_LINE), _Relay() as relay:
            # In a session of its own: what it hears of, it hears once, from here.
            started = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=pipe,
                stderr=pipe,
                text=True,
                encoding="utf-8",
                env=environment,
                start_new_session=True,
            )
            relay.to(started)
            with ThreadPoolExecutor(2) as readers:
                told = [
                    readers.submit(_pass_on, lines or (), tell)
                    for lines, tell in ((started.stdout, say), (started.stderr, complain))
                ]
            code = started.wait()
            dead = told[0].result() or told[1].result()
        if relay.ended_by is not None:
            return 128 + relay.ended_by, None
        if code in ENDS:
            return code, None
        entry = Path(roll) / (dead or "")
        return 1, int(entry.read_text(encoding="utf-8")) if dead and entry.is_file() else -1


class _Relay:
    """Passes on to mpirun what this process is told: to stop and keep what was measured, or to end at once."""

    def __init__(self) -> None:
        self._started: subprocess.Popen[str] | None = None
        self._asked_s: float | None = None
        self.ended_by: int | None = None
        """The signal that ended all, if one did."""

    def to(self, started: subprocess.Popen[str]) -> None:
        """From now on they are passed on to this process; it ends at once if there was one before."""
        self._started = started
        if self.ended_by is not None:
            started.terminate()

    def __enter__(self) -> _Relay:
        self._before = {number: signal.signal(number, self._on_signal) for number in PASSED_ON}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _on_signal(self, number: int, _frame: object) -> None:
        now_s = time.monotonic()
        if number == signal.SIGINT and self._started is not None and self._asked_s is None:
            self._asked_s = now_s
            self._started.send_signal(signal.SIGINT)
        elif number != signal.SIGINT or self._asked_s is None or now_s - self._asked_s > TWICE_S:
            self.ended_by = number
            if self._started is not None:
                self._started.terminate()


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


def loopback() -> dict[str, str]:
    """Returns the variables that keep ports on this machine, unless a scheduler may use others."""
    here = sys.platform == "linux" and not any(name in os.environ for name in SCHEDULERS)
    return LOOPBACK if here else {}


def _mpirun() -> str:
    beside = Path(sys.executable).parent / "mpirun"
    found = str(beside) if beside.is_file() else shutil.which("mpirun")
    if found is None:
        raise ConfigError(
            "missing-package",
            "--processes: there is no mpirun beside this Python or in PATH; install one: make mpi in the source tree, "
            "or pip install 'hostnet[mpi]'",
        )
    return found

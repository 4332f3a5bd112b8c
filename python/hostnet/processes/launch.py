"""Starts the processes of a run with mpirun and reports how they ended."""

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
from hostnet.processes.guard import end_with_parent, end_with_writer, lifeline
from hostnet.terminal.screen import echo, echo_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

REGISTRY = "HOSTNET_ROLL"
"""Environment variable with the folder in which each process registers its rank."""

LIFE_LINE = "alive"
"""Named pipe in that folder. It has a writer as long as the command that started the processes is alive."""

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that are forwarded to the processes."""

LOOPBACK = {"UCX_NET_DEVICES": "lo", "FI_TCP_IFACE": "lo"}
"""Environment variables that bind MPICH's transports, UCX and libfabric, to the loopback interface."""

SCHEDULERS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "HYDRA_HOST_FILE")
"""Environment variables of schedulers. Under a scheduler, `mpirun` may start processes on other machines."""

TWICE_S = 1.0
"""A second Ctrl-C within this time, in s, is a duplicate of the first."""

ENDS = (0, 1, 2, 70, 130)
"""Exit codes of a process of hostnet that was not killed."""

BANNER = re.compile(r"BAD TERMINATION|^=+$|^= |^YOUR APPLICATION|^This typically|^Please see the FAQ|^\s*$")
"""Lines that mpirun prints about a process that died."""

RULE = re.compile(r"={70,}")
"""Line that precedes them."""

DEAD = re.compile(r"PID (\d+) RUNNING AT (\S+)")
"""Line that names the process that died and its machine."""


def register_rank(rank: int) -> None:
    """Registers the rank of this process with its starter, and ends this process when the starter exits."""
    end_with_parent()
    folder = os.environ.get(REGISTRY)
    if folder is None:
        return
    end_with_writer(Path(folder) / LIFE_LINE)
    (Path(folder) / str(os.getpid())).write_text(str(rank), encoding="utf-8")


def launch(ranks: int, arguments: Sequence[str]) -> tuple[int, int | None]:
    """Runs `hostnet ARGUMENTS` in `ranks` processes.

    Returns:
        The exit code, and the rank of the process that died: -1 if unknown, None if none died.

    Raises:
        ConfigError: There is no mpirun.
    """
    command = [_mpirun(), "-n", str(ranks), sys.executable, "-c", "from hostnet.cli import main; main()", *arguments]
    with tempfile.TemporaryDirectory(prefix="hostnet-") as registry:
        pipe, environment = subprocess.PIPE, {**loopback(), **os.environ, REGISTRY: registry}
        with lifeline(Path(registry) / LIFE_LINE), _SignalRelay() as relay:
            # A new session keeps the terminal from signalling mpirun too, so each signal arrives once, from the relay.
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
            relay.set_target(started)
            with ThreadPoolExecutor(2) as readers:
                outputs = [
                    readers.submit(_pass_on, lines or (), write_line)
                    for lines, write_line in ((started.stdout, echo), (started.stderr, echo_error))
                ]
            code = started.wait()
            dead = outputs[0].result() or outputs[1].result()
        if relay.ended_by is not None:
            return 128 + relay.ended_by, None
        if code in ENDS:
            return code, None
        entry = Path(registry) / (dead or "")
        return 1, int(entry.read_text(encoding="utf-8")) if dead and entry.is_file() else -1


class _SignalRelay:
    """Forwards signals to mpirun: to stop and keep the results so far, or to end at once."""

    def __init__(self) -> None:
        self._started: subprocess.Popen[str] | None = None
        self._interrupted_s: float | None = None
        self.ended_by: int | None = None
        """Signal that ended all processes, if any."""

    def set_target(self, started: subprocess.Popen[str]) -> None:
        """Sets the process that signals are forwarded to. Ends it at once if a signal has already ended the run."""
        self._started = started
        if self.ended_by is not None:
            started.terminate()

    def __enter__(self) -> _SignalRelay:
        self._before = {number: signal.signal(number, self._on_signal) for number in PASSED_ON}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _on_signal(self, number: int, _frame: object) -> None:
        now_s = time.monotonic()
        if number == signal.SIGINT and self._started is not None and self._interrupted_s is None:
            self._interrupted_s = now_s
            self._started.send_signal(signal.SIGINT)
        elif number != signal.SIGINT or self._interrupted_s is None or now_s - self._interrupted_s > TWICE_S:
            self.ended_by = number
            if self._started is not None:
                self._started.terminate()


def _pass_on(lines: Iterable[str], write_line: Callable[[str], None]) -> str | None:
    """Prints the lines of the processes. Returns the process id of one that died, if any.

    Raises:
        BrokenPipeError: The output was closed. All lines were read nevertheless, because their writers would block.
    """
    dead, talks, broken = None, False, None
    for line in lines:
        talks = talks or "BAD TERMINATION" in line
        found = DEAD.search(line)
        if found is not None:
            dead = found[1]
        if broken is None and not (BANNER.search(line) if talks else RULE.fullmatch(line.rstrip("\n"))):
            try:
                write_line(line.rstrip("\n"))
            except BrokenPipeError as error:
                broken = error
    if broken is not None:
        raise broken
    return dead


def loopback() -> dict[str, str]:
    """Returns the variables that keep ports on this machine, unless a scheduler may use other machines."""
    here = sys.platform == "linux" and not any(name in os.environ for name in SCHEDULERS)
    return LOOPBACK if here else {}


def _mpirun() -> str:
    """Returns the path of mpirun: beside this Python, or in PATH."""
    beside = Path(sys.executable).parent / "mpirun"
    found = str(beside) if beside.is_file() else shutil.which("mpirun")
    if found is None:
        raise ConfigError(
            "missing-package",
            "--processes: there is no mpirun beside this Python or in PATH; install one: make mpi in the source tree, "
            "or pip install 'hostnet[mpi]'",
        )
    return found

"""The group of processes that share a simulation, and their message exchange."""

from __future__ import annotations

import json
import os
import struct
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from hostnet._core import ConfigError
from hostnet.processes.effort import Effort
from hostnet.terminal.screen import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpi4py.MPI import Intracomm

NUMBERS = (
    ("PMI_RANK", "PMI_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("PMIX_RANK", "SLURM_STEP_NUM_TASKS"),
)
"""Environment variables in which MPI launchers pass a process its rank and the number of processes."""

POLLS_MAX = 20
"""Probes for a message before a process yields its processor: some ten microseconds.

The process that it waits for may need this processor, also where the system counts enough of them, as in a container
with fewer. Where processors are idle, yielding takes a microsecond.
"""

YIELDS_MAX = 1000
"""Times that a process then yields its processor before it sleeps: some milliseconds."""

NAP_S = 50e-6
"""Sleep between two probes, in s."""

STAMP = struct.Struct("<dd")
"""Trailer of a message: busy time and processor time of its sender before the exchange, in s."""

TAG = 7
"""Tag of all messages. One tag suffices because the messages between two processes stay in order."""


class OtherProcessError(Exception):
    """Raised if another process failed; that process reports the error."""


class ResultsElsewhereError(Exception):
    """Raised if a run is over and another process has its results."""


class Group:
    """All processes that `mpirun` has started, as seen by one of them."""

    def __init__(self, comm: Intracomm) -> None:
        """Creates the group of the processes of a communicator."""
        self._comm = comm
        self.rank: int = comm.rank
        """Rank of this process, from 0."""
        self.ranks: int = comm.size
        """Number of processes."""
        self._speaks = os.dup(2)  # for `fail`, even if stderr is silenced later
        self.here = _on_this_machine(comm)
        """Number of processes on this machine."""
        self._left_s = self._left_cpu_s = 0.0
        self.effort = Effort()
        """Breakdown of the time since `begin`."""

    def begin(self) -> None:
        """Starts to measure the time of a run."""
        self.effort = Effort()
        self._leave()

    def exchange(self, letters: Sequence[bytes]) -> list[bytes]:
        """Sends a message to each process, by rank, and returns the messages from all processes, by rank.

        All processes call it equally often. There is one message per pair of processes. A waiting process first polls,
        then yields its processor, then sleeps, so that more processes than processors still make progress.
        """
        from mpi4py import MPI

        own = (time.perf_counter() - self._left_s, time.process_time() - self._left_cpu_s)
        busy_s = [own] * self.ranks
        stamp = STAMP.pack(*own)
        others = [rank for rank in range(self.ranks) if rank != self.rank]
        sent = [self._comm.Isend([letters[rank] + stamp, MPI.BYTE], rank, TAG) for rank in others]
        got = list(letters)
        waiting, looked = others, 0
        while waiting:
            waiting = [rank for rank in waiting if not self._receive(rank, got, busy_s)]
            looked += 1
            if waiting and looked > POLLS_MAX:
                _step_aside(looked)
        while not MPI.Request.Testall(sent):
            _step_aside(POLLS_MAX)
        self.effort.add([wall_s for wall_s, _ in busy_s], [cpu_s for _, cpu_s in busy_s])
        self._leave()
        return got

    def _leave(self) -> None:
        """Notes the end of an exchange."""
        self._left_s, self._left_cpu_s = time.perf_counter(), time.process_time()

    def _receive(self, rank: int, got: list[bytes], busy_s: list[tuple[float, float]]) -> bool:
        """Receives the message of a process if it has arrived. Returns True if it has."""
        from mpi4py import MPI

        status = MPI.Status()
        message = self._comm.Improbe(rank, TAG, status)
        if message is None:
            return False
        letter = bytearray(status.Get_count(MPI.BYTE))
        message.Recv([letter, MPI.BYTE])
        got[rank] = bytes(letter[: -STAMP.size])
        busy_s[rank] = STAMP.unpack_from(letter, len(letter) - STAMP.size)
        return True

    def all_gather(self, own: Any) -> list[Any]:
        """Sends a JSON value to all processes, and returns the values from all processes, by rank."""
        letter = json.dumps(own).encode()
        return [json.loads(told) for told in self.exchange([letter] * self.ranks)]

    def fail(self, message: str, code: int = 1) -> NoReturn:
        """Aborts all processes, because this one failed and the others wait for it."""
        with suppress(OSError):
            os.write(
                self._speaks,
                f"error[cluster-failed]: process {self.rank} of {self.ranks}: {visible(message)}\n".encode(),
            )
        self._comm.Abort(code)
        raise SystemExit(code)


def _step_aside(looked: int) -> None:
    """Lets other processes run: yields the processor at first, and sleeps after `YIELDS_MAX` more probes."""
    if looked >= POLLS_MAX + YIELDS_MAX or not hasattr(os, "sched_yield"):
        time.sleep(NAP_S)
    else:
        os.sched_yield()


def _on_this_machine(comm: Intracomm) -> int:
    """Returns the number of processes on this machine."""
    from mpi4py import MPI

    here = comm.Split_type(MPI.COMM_TYPE_SHARED)
    count: int = here.size
    here.Free()
    return count


def launcher_rank() -> tuple[int, int]:
    """Returns the rank and the number of processes that an MPI launcher passed; 0 and 1 without a launcher."""
    for rank, ranks in NUMBERS:
        try:
            return int(os.environ[rank]), int(os.environ[ranks])
        except (KeyError, ValueError):
            continue
    return 0, 1


def connect() -> Group:
    """Connects to the other processes.

    Raises:
        ConfigError: mpi4py is missing, or belongs to another MPI than the launcher.
    """
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise ConfigError(
            "missing-package",
            f"mpirun has started several processes, and mpi4py cannot be loaded ({reason}); "
            "install it: pip install 'hostnet[mpi]'",
        ) from None
    if MPI.Query_thread() < MPI.THREAD_SERIALIZED:
        raise ConfigError(
            "missing-package",
            "this MPI lets only one thread of a process call it (it offers less than THREAD_SERIALIZED)",
        )
    group = Group(MPI.COMM_WORLD)
    expected = launcher_rank()[1]
    if group.ranks != expected:
        raise ConfigError(
            "missing-package",
            f"mpirun has started {expected} processes, of which mpi4py sees {group.ranks}: they are of two MPIs; use "
            "the mpirun beside this Python, or install mpi4py for the MPI of this machine",
        )
    return group

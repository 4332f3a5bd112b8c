"""The processes that share a simulation, and how they speak with each other."""

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
"""Variables in which the launchers of MPI tell a process its number, and how many there are."""

LOOKS = 2000
"""How often a process looks for a letter before it lets others run: some hundred microseconds."""

OFFERS = 200
"""How often it then offers its processor to others before it sleeps."""

NAP_S = 50e-6
"""How long it sleeps between two looks."""

STAMP = struct.Struct("<d")
"""What a letter ends with: how long its sender was at work before it, in s."""

TAG = 7
"""All letters have the same tag: those of two processes come in their order."""


class OtherProcessError(Exception):
    """Another process came to an error; it is told there."""


class ResultsElsewhereError(Exception):
    """A run is over, and another process has its results."""


class Group:
    """All processes that `mpirun` has started, as one of them sees them."""

    def __init__(self, comm: Intracomm) -> None:
        """The processes of a communicator."""
        self._comm = comm
        self.rank: int = comm.rank
        """The number of this process, from 0 on."""
        self.ranks: int = comm.size
        """How many processes there are."""
        self._speaks = os.dup(2)  # what the process says when it ends all, silent or not
        crowded = _on_this_machine(comm) > (os.cpu_count() or 1)
        self._looks = 20 if crowded else LOOKS
        self._left_s = 0.0
        self.effort = Effort()
        """Where time goes since `begin`."""

    def begin(self) -> None:
        """Begins to count the time of a run."""
        self.effort = Effort()
        self._left_s = time.perf_counter()

    def exchange(self, letters: Sequence[bytes]) -> list[bytes]:
        """Hands a letter to each process, by their numbers, and returns what each has handed to this one.

        All processes call it equally often. There is one message per pair of processes; who waits looks for a while,
        then lets others run, then sleeps, so that more processes than processors come on too.
        """
        from mpi4py import MPI

        busy_s = [time.perf_counter() - self._left_s] * self.ranks
        stamp = STAMP.pack(busy_s[self.rank])
        others = [rank for rank in range(self.ranks) if rank != self.rank]
        sent = [self._comm.Isend([letters[rank] + stamp, MPI.BYTE], rank, TAG) for rank in others]
        got = list(letters)
        waiting, looked = others, 0
        while waiting:
            waiting = [rank for rank in waiting if not self._take(rank, got, busy_s)]
            looked += 1
            if waiting and looked > self._looks:
                time.sleep(0 if looked < self._looks + OFFERS else NAP_S)
        while not MPI.Request.Testall(sent):
            time.sleep(0)
        self.effort.add(busy_s)
        self._left_s = time.perf_counter()
        return got

    def _take(self, rank: int, got: list[bytes], busy_s: list[float]) -> bool:
        """Takes in the letter of a process if it has come."""
        from mpi4py import MPI

        status = MPI.Status()
        message = self._comm.Improbe(rank, TAG, status)
        if message is None:
            return False
        letter = bytearray(status.Get_count(MPI.BYTE))
        message.Recv([letter, MPI.BYTE])
        got[rank] = bytes(letter[: -STAMP.size])
        (busy_s[rank],) = STAMP.unpack_from(letter, len(letter) - STAMP.size)
        return True

    def told(self, own: Any) -> list[Any]:
        """Tells all processes something that JSON can hold; returns what each has told, by their numbers."""
        letter = json.dumps(own).encode()
        return [json.loads(told) for told in self.exchange([letter] * self.ranks)]

    def fail(self, message: str, code: int = 1) -> NoReturn:
        """Ends all processes at once, because this one cannot go on and the others wait for it."""
        with suppress(OSError):
            os.write(
                self._speaks,
                f"error[cluster-failed]: process {self.rank} of {self.ranks}: {visible(message)}\n".encode(),
            )
        self._comm.Abort(code)
        raise SystemExit(code)


def _on_this_machine(comm: Intracomm) -> int:
    from mpi4py import MPI

    here = comm.Split_type(MPI.COMM_TYPE_SHARED)
    count: int = here.size
    here.Free()
    return count


def started() -> tuple[int, int]:
    """The number of this process and how many there are, as a launcher of MPI tells; 0 and 1 without one."""
    for rank, ranks in NUMBERS:
        try:
            return int(os.environ[rank]), int(os.environ[ranks])
        except (KeyError, ValueError):
            continue
    return 0, 1


def connect() -> Group:
    """Meets the other processes.

    Raises:
        ConfigError: There is no mpi4py, or it belongs to another MPI than the launcher.
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
    expected = started()[1]
    if group.ranks != expected:
        raise ConfigError(
            "missing-package",
            f"mpirun has started {expected} processes, of which mpi4py sees {group.ranks}: they are of two MPIs; use "
            "the mpirun beside this Python, or install mpi4py for the MPI of this machine",
        )
    return group

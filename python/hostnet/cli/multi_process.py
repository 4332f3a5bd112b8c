"""`mpirun -n N hostnet run`: executes a command in several processes that report as one."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hostnet import _core
from hostnet._core import ConfigError, version
from hostnet.cli.main import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_USAGE, classify_error, error_line
from hostnet.processes import Group, OtherProcessError, ResultsElsewhereError, connect, launcher_rank
from hostnet.processes.launch import register_rank
from hostnet.processes.usable import usable_processors
from hostnet.terminal.screen import echo_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hostnet._core import Plan
    from hostnet.cli.request import Request


class _Session:
    """Progress of this process and the others with their command."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.synchronized = False
        """True once all processes have reported that they are ready, or will never be."""


_session: _Session | None = None


def group() -> Group | None:
    """Returns the processes that execute the command together, or None for a single process."""
    return None if _session is None else _session.group


def run_in_processes(command: Callable[[], int], arguments: Sequence[str]) -> int:
    """Executes a command together with the other processes, which also call this; returns the exit code of all."""
    global _session
    rank, _ = launcher_rank()
    try:
        _check_command(arguments)
        _session = _Session(connect())
        register_rank(rank)
    except ConfigError as error:
        if rank == 0:
            echo_error(error_line(error.code, str(error)))
        return EXIT_USAGE
    if rank > 0:
        _discard_output()
    exit_code, code, message = _outcome(_session, command)
    outcomes = _session.group.all_gather([exit_code, code, message])
    if rank == 0:
        _report_error_once([(code, message) for _, code, message in outcomes])
    return next((exit_code for exit_code, *_ in outcomes if exit_code), 0)


def synchronize(own: str) -> None:
    """Waits for the other processes before a run; `own` is a text that must be equal in all of them.

    Raises:
        OtherProcessError: Another process failed, or has a different text.
        ConfigError: This process has a different text than the first one.
    """
    assert _session is not None
    texts = _session.group.all_gather(f"{version()} {own}")
    _session.synchronized = True
    if None in texts:
        raise OtherProcessError
    if texts[_session.group.rank] != texts[0]:
        raise ConfigError(
            "other-configuration", "was given another configuration, other options or another hostnet than process 0"
        )
    if len(set(texts)) > 1:
        raise OtherProcessError


def warn_of_crowding() -> None:
    """Warns if more processes of a run are on this machine than processors that they may use."""
    assert _session is not None
    processors = usable_processors()
    if _session.group.here > processors:
        echo_error(
            f"warning: {_session.group.here} processes share {processors} processor{'s' * (processors > 1)}; "
            "fewer processes are faster"
        )


@contextmanager
def synchronized_run() -> Iterator[None]:
    """Executes a run in its body and then waits for the other processes, if any.

    Raises:
        OtherProcessError: The run failed in another process.
    """
    failed = True
    try:
        yield
        failed = False
    except ResultsElsewhereError:
        failed = False
        raise
    finally:
        if _session is not None and any(_session.group.all_gather(failed)) and not failed:
            raise OtherProcessError


def check_shared(request: Request, plan: Plan) -> None:
    """Rejects options that several processes cannot handle together, if there are several.

    Raises:
        ConfigError: There is such an option; the message suggests a remedy.
    """
    processes = group()
    shared = processes is not None or request.processes not in (None, 1)
    alone = {"--seeds": request.seeds, "--trace": request.trace or None, "--compare": request.compare}
    without = "leave --processes out" if request.processes is not None else "start it without mpirun"
    for option, given in alone.items():
        if shared and given is not None:
            raise ConfigError("not-supported", f"{option}: is of a run in one process; {without}")
    if processes is None:
        return
    partitions = _core.shares(plan, processes.ranks, request.threads or 1)[0]
    used = len({home for _, _, home in partitions})
    check_count(request, used, "every server is one, and so is every switch with its endpoints")


def check_count(request: Request, used: int, rule: str) -> None:
    """Rejects more processes than partitions; `rule` defines a partition.

    Raises:
        ConfigError: There are too many processes; the message states how many there may be.
    """
    processes = group()
    if processes is None:
        return
    if request.processes not in (None, processes.ranks):
        raise ConfigError(
            "conflicting-keys", f"--processes {request.processes}: mpirun has started {processes.ranks}; leave it out"
        )
    if used < processes.ranks:
        origin = "mpirun" if request.processes is None else f"--processes {request.processes}"
        raise ConfigError(
            "too-many",
            f"{origin}: {processes.ranks} processes are more than the {_partitions(used)} of this configuration: "
            f"{rule}; start at most {used}",
        )


def _partitions(count: int) -> str:
    """Formats a number of partitions."""
    return "1 partition" if count == 1 else f"{count} partitions"


def _outcome(session: _Session, command: Callable[[], int]) -> tuple[int, str, str]:
    """Returns the exit code, the error code and the error message of a command in this process."""
    exit_code, code, message = 0, "", ""
    try:
        exit_code = command()
    except (OtherProcessError, ResultsElsewhereError):
        pass
    except KeyboardInterrupt:
        exit_code = EXIT_INTERRUPTED
    except SystemExit as leaving:
        exit_code = leaving.code if isinstance(leaving.code, int) else EXIT_FAILED
    except BaseException as error:
        verdict = classify_error(error)
        exit_code, code, message = verdict.exit_code, verdict.code, verdict.message
    if not session.synchronized:
        # Processes that wait in `synchronize` learn that this one will not start.
        session.group.all_gather(None)
    return exit_code, code, message


def _report_error_once(errors: Sequence[tuple[str, str]]) -> None:
    """Prints the first of the (code, message) pairs by process, with its process unless all have the same."""
    found = next(((rank, error) for rank, error in enumerate(errors) if error[1]), None)
    if found is None:
        return
    rank, (code, message) = found
    alike = all(other == (code, message) for other in errors)
    where = "" if alike or rank == 0 else f"process {rank}: "
    echo_error(error_line(code, f"{where}{message}"))


def _check_command(arguments: Sequence[str]) -> None:
    """Rejects commands other than `hostnet run`."""
    named = next((argument for argument in arguments if not argument.startswith("-")), None)
    if named != "run":
        what = f"hostnet {named}" if named else "this"
        raise ConfigError(
            "not-supported", f"mpirun: only `hostnet run` goes over several processes; start {what} without mpirun"
        )


def _discard_output() -> None:
    """Discards the output of this process, because only the first one prints."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

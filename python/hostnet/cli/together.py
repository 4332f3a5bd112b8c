"""`mpirun -n N hostnet run`: a command that several processes do together, and that speaks once."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hostnet import _core
from hostnet._core import ConfigError, version
from hostnet.cli.main import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_USAGE, error_line, judge
from hostnet.processes import Group, OtherProcessError, ResultsElsewhereError, connect, started
from hostnet.processes.launch import sign_in
from hostnet.terminal.screen import complain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hostnet._core import Plan
    from hostnet.cli.request import Request


class _Session:
    """How far this process and the others have come with their command."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.met = False
        """Whether all have said that they are ready, or that they will never be."""


_session: _Session | None = None


def group() -> Group | None:
    """The processes that do this command together; none if it is alone."""
    return None if _session is None else _session.group


def together(command: Callable[[], int], arguments: Sequence[str]) -> int:
    """Does a command in this process and in others, each of which calls it; returns the exit code of all."""
    global _session
    rank, _ = started()
    try:
        _check_command(arguments)
        _session = _Session(connect())
        sign_in(rank)
    except ConfigError as error:
        if rank == 0:
            complain(error_line(error.code, str(error)))
        return EXIT_USAGE
    if rank > 0:
        _be_silent()
    exit_code, code, message = _outcome(_session, command)
    outcomes = _session.group.told([exit_code, code, message])
    if rank == 0:
        _complain_once([(code, message) for _, code, message in outcomes])
    return next((exit_code for exit_code, *_ in outcomes if exit_code), 0)


def ready(own: str) -> None:
    """Waits for the others before a run begins; `own` is what all must have in common.

    Raises:
        OtherProcessError: One of them has come to an error, or has something else.
        ConfigError: This one has something else than the first.
    """
    assert _session is not None
    told = _session.group.told(f"{version()} {own}")
    _session.met = True
    if None in told:
        raise OtherProcessError
    if told[_session.group.rank] != told[0]:
        raise ConfigError(
            "other-configuration", "was given another configuration, other options or another hostnet than process 0"
        )
    if len(set(told)) > 1:
        raise OtherProcessError


@contextmanager
def running() -> Iterator[None]:
    """Does a run in its body, and waits for the others when it is over; nothing more without others.

    Raises:
        OtherProcessError: It has failed in one of them.
    """
    failed = True
    try:
        yield
        failed = False
    except ResultsElsewhereError:
        failed = False
        raise
    finally:
        if _session is not None and any(_session.group.told(failed)) and not failed:
            raise OtherProcessError


def check_shared(request: Request, plan: Plan) -> None:
    """Refuses what several processes cannot do together, if there are several.

    Raises:
        ConfigError: Says what, and what would be right.
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
    """Refuses more processes than have something to do; the rule says what a partition is.

    Raises:
        ConfigError: Says how many there may be.
    """
    processes = group()
    if processes is None:
        return
    if request.processes not in (None, processes.ranks):
        raise ConfigError(
            "conflicting-keys", f"--processes {request.processes}: mpirun has started {processes.ranks}; leave it out"
        )
    if used < processes.ranks:
        asked = "mpirun" if request.processes is None else f"--processes {request.processes}"
        raise ConfigError(
            "too-many",
            f"{asked}: {processes.ranks} processes are more than the {_partitions(used)} of this configuration: "
            f"{rule}; start at most {used}",
        )


def _partitions(count: int) -> str:
    return "1 partition" if count == 1 else f"{count} partitions"


def _outcome(session: _Session, command: Callable[[], int]) -> tuple[int, str, str]:
    """Exit code, code of the error and message of a command in this process."""
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
        verdict = judge(error)
        exit_code, code, message = verdict.exit_code, verdict.code, verdict.message
    if not session.met:
        # Those that wait to begin hear that this one will not.
        session.group.told(None)
    return exit_code, code, message


def _complain_once(errors: Sequence[tuple[str, str]]) -> None:
    """Says what went wrong first, and where that was unless it was everywhere: codes and messages, by process."""
    found = next(((rank, error) for rank, error in enumerate(errors) if error[1]), None)
    if found is None:
        return
    rank, (code, message) = found
    alike = all(other == (code, message) for other in errors)
    where = "" if alike or rank == 0 else f"process {rank}: "
    complain(error_line(code, f"{where}{message}"))


def _check_command(arguments: Sequence[str]) -> None:
    named = next((argument for argument in arguments if not argument.startswith("-")), None)
    if named != "run":
        what = f"hostnet {named}" if named else "this"
        raise ConfigError(
            "not-supported", f"mpirun: only `hostnet run` goes over several processes; start {what} without mpirun"
        )


def _be_silent() -> None:
    """Only the first process speaks."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

"""The entry point: runs a command and turns every error into one line and an exit code."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from hostnet.errors import CodedError, SimulationError
from hostnet.processes import started
from hostnet.terminal.screen import complain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

EXIT_FAILED = 1
"""The simulation could not go on, or a strict validation has failing rows."""
EXIT_USAGE = 2
"""Something the user gave is wrong, or a file cannot be read or written."""
EXIT_INTERNAL = 70
"""A defect of hostnet (EX_SOFTWARE of sysexits.h)."""
EXIT_INTERRUPTED = 130
"""Stopped by Ctrl-C, as shells count it."""
EXIT_PIPE = 141
"""The reader of our output went away, as shells count it."""


RULES = {"int": "must be a whole number", "float": "must be a number"}
"""What a value has to be, by how the kind of an error begins."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and leaves with its exit code."""
    _survive_encodings()
    if started()[1] > 1:
        from hostnet.cli.together import together

        sys.exit(together(lambda: _run(arguments), sys.argv[1:] if arguments is None else arguments))
    sys.exit(_guarded(lambda: _run(arguments)))


def _run(arguments: Sequence[str] | None) -> int:
    from hostnet.cli.app import app

    code = app(arguments, standalone_mode=False)
    sys.stdout.flush()
    return code if isinstance(code, int) else 0


def _guarded(command: Callable[[], int]) -> int:
    try:
        return command()
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except SystemExit as leaving:
        return _exit_code_of(leaving)
    except BaseException as error:
        return _report(error)


def _exit_code_of(leaving: SystemExit) -> int:
    """Typer leaves by itself when a pipe breaks."""
    if isinstance(leaving.__context__, BrokenPipeError):
        _silence_output()
        return EXIT_PIPE
    return leaving.code if isinstance(leaving.code, int) else EXIT_FAILED


def _report(error: BaseException) -> int:
    """Prints what went wrong, and returns the exit code for it."""
    if isinstance(error, BrokenPipeError):
        _silence_output()
        return EXIT_PIPE
    verdict = judge(error)
    if os.environ.get("HOSTNET_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
    if isinstance(error, OSError):
        _silence_output()
    with suppress(OSError):  # if nobody can hear us, the exit code remains
        complain(verdict.line)
    return verdict.exit_code


@dataclass(frozen=True)
class Verdict:
    """What a command leaves with when it has come to an error."""

    exit_code: int
    code: str
    """The code of the error, as in `hostnet list errors`."""
    message: str

    @property
    def line(self) -> str:
        """The line on the screen."""
        return error_line(self.code, self.message)


def error_line(code: str, message: str) -> str:
    """An error as the command line shows it."""
    return f"error[{code}]: {message}"


def judge(error: BaseException) -> Verdict:
    """The exit code for an error, its own code, and what to say of it."""
    if isinstance(error, typer.TyperException):
        return Verdict(EXIT_USAGE, "usage", _usage_message(error))
    if isinstance(error, CodedError):
        exit_code = EXIT_FAILED if isinstance(error, SimulationError) else EXIT_USAGE
        return Verdict(exit_code, error.code, str(error))
    if isinstance(error, OSError):
        missing = isinstance(error, FileNotFoundError)
        return Verdict(EXIT_USAGE, "file-not-found" if missing else "file-access", _os_message(error))
    if isinstance(error, MemoryError):
        return Verdict(EXIT_USAGE, "too-large", "not enough memory for this run")
    return Verdict(EXIT_INTERNAL, "defect", _internal_message(error))


def _usage_message(error: typer.TyperException) -> str:
    """Says what is wrong with a command line, and shows its usage."""
    from hostnet.cli.app import COMMANDS

    if wrong := _wrong_value(error):
        return wrong
    message = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    if message.startswith("No such command") and "Did you mean" not in message:
        return f"{message}; the commands are {', '.join(COMMANDS)}"
    if message.startswith("Missing") and context is not None:
        usage = " ".join(context.get_usage().split()).removeprefix("Usage: ")
        return f"{message}; usage: {usage}, see {context.command_path} --help"
    return error.format_message()


def _wrong_value(error: typer.TyperException) -> str | None:
    """Says which value cannot be read as what its option wants, if the error is about one."""
    found = getattr(error.__cause__, "errors", None)
    parameter = getattr(error, "param", None)
    if found is None or parameter is None:
        return None
    from hostnet.cli.options import cut

    first = found()[0]
    value = str(first["input"])
    rule = next((rule for kind, rule in RULES.items() if first["type"].startswith(kind)), "is not allowed")
    return f"{parameter.opts[0]} {cut(value) if value.strip() else repr(value)}: {rule}"


def _os_message(error: OSError) -> str:
    if error.strerror is None:
        return str(error)
    where = f"{error.filename2 or error.filename}: " if error.filename is not None else ""
    return f"{where}{error.strerror}"


def _internal_message(error: BaseException) -> str:
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return (
        f"this is a defect of hostnet, not of your input ({text}). "
        "Please report this line with the command and its configuration file; HOSTNET_DEBUG=1 shows where it happened."
    )


def _survive_encodings() -> None:
    """Lets characters that the terminal cannot show become a question mark instead of an error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _silence_output() -> None:
    """Points stdout to nowhere, so that the interpreter's last flush cannot fail again."""
    with suppress(OSError, ValueError):  # there may be no stdout
        stdout = sys.stdout.fileno()
        os.dup2(os.open(os.devnull, os.O_WRONLY), stdout)

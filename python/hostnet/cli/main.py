"""Entry point: runs a command and turns every error into one line and an exit code."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any

import typer

from hostnet.errors import CodedError, SimulationError
from hostnet.processes import launcher_rank
from hostnet.terminal.screen import echo_error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

EXIT_FAILED = 1
"""A simulation failed, or a strict validation has failing rows."""
EXIT_USAGE = 2
"""Invalid input, or a file cannot be read or written."""
EXIT_INTERNAL = 70
"""Defect of hostnet (EX_SOFTWARE of sysexits.h)."""
EXIT_INTERRUPTED = 130
"""Interrupted by Ctrl-C, as in shells."""
EXIT_PIPE = 141
"""The reader of the output closed the pipe, as in shells."""


RULES = {"int": "must be a whole number", "float": "must be a number"}
"""Rules for values, by the name of their type."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and exits with its exit code."""
    _survive_closed_output()
    _survive_encodings()
    if launcher_rank()[1] > 1:
        from hostnet.cli.multi_process import run_in_processes

        sys.exit(run_in_processes(lambda: _run(arguments), sys.argv[1:] if arguments is None else arguments))
    sys.exit(_run_guarded(lambda: _run(arguments)))


def _run(arguments: Sequence[str] | None) -> int:
    """Runs the command line and returns the exit code."""
    from hostnet.cli.app import app

    code = app(arguments, standalone_mode=False)
    sys.stdout.flush()
    return code if isinstance(code, int) else 0


def _run_guarded(command: Callable[[], int]) -> int:
    """Runs a command and converts its exceptions to an exit code."""
    try:
        return command()
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except SystemExit as leaving:
        return _exit_code_of(leaving)
    except BaseException as error:
        return _report(error)


def _exit_code_of(leaving: SystemExit) -> int:
    """Returns the exit code of a SystemExit, which Typer also raises for a broken pipe."""
    if isinstance(leaving.__context__, BrokenPipeError):
        _silence_output()
        return EXIT_PIPE
    return leaving.code if isinstance(leaving.code, int) else EXIT_FAILED


def _report(error: BaseException) -> int:
    """Prints an error and returns its exit code."""
    if isinstance(error, BrokenPipeError):
        _silence_output()
        return EXIT_PIPE
    verdict = classify_error(error)
    if os.environ.get("HOSTNET_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
    if isinstance(error, OSError):
        _silence_output()
    with suppress(OSError):  # stderr may be closed; the exit code is still returned
        echo_error(verdict.line)
    return verdict.exit_code


@dataclass(frozen=True)
class Verdict:
    """Exit code and message with which a command ends after an error."""

    exit_code: int
    code: str
    """Code of the error, as in `hostnet list errors`."""
    message: str

    @property
    def line(self) -> str:
        """Line for stderr."""
        return error_line(self.code, self.message)


def error_line(code: str, message: str) -> str:
    """Formats an error for stderr."""
    return f"error[{code}]: {message}"


def classify_error(error: BaseException) -> Verdict:
    """Returns the exit code, the error code and the message of an error."""
    if isinstance(error, typer.TyperException):
        return Verdict(EXIT_USAGE, "usage", _usage_message(error))
    if isinstance(error, CodedError):
        exit_code = EXIT_FAILED if isinstance(error, SimulationError) else EXIT_USAGE
        return Verdict(exit_code, error.code, str(error))
    if isinstance(error, OSError):
        missing = isinstance(error, FileNotFoundError)
        return Verdict(EXIT_USAGE, "file-not-found" if missing else "file-access", _os_message(error))
    if isinstance(error, UnicodeEncodeError):
        return Verdict(EXIT_USAGE, "file-access", "the name of a file is not UTF-8; rename it")
    if isinstance(error, MemoryError):
        return Verdict(EXIT_USAGE, "too-large", "not enough memory for this run")
    return Verdict(EXIT_INTERNAL, "defect", _internal_message(error))


def _usage_message(error: typer.TyperException) -> str:
    """Describes an error in the command line, with the usage where it helps."""
    if wrong := _wrong_value(error):
        return wrong
    message = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    if message.startswith("No such command") and "Did you mean" not in message:
        return f"{message}; {_commands_text(context)}"
    if message.startswith("Missing") and context is not None:
        usage = " ".join(context.get_usage().split()).removeprefix("Usage: ")
        return f"{message}; usage: {usage}, see {context.command_path} --help"
    return error.format_message()


def _commands_text(context: Any) -> str:
    """Lists the commands of the group whose command is missing: those of `hostnet`, or of one of its commands."""
    whose = f" of {context.info_name}" if context.parent else ""
    return f"the commands{whose} are {', '.join(context.command.commands)}"


def _wrong_value(error: typer.TyperException) -> str | None:
    """Describes a value that is no number, or returns None if the error has another cause."""
    parameter = getattr(error, "param", None)
    kind = getattr(getattr(parameter, "type", None), "name", "")
    ending = f" is not a valid {kind}."
    message = str(getattr(error, "message", ""))
    if parameter is None or kind not in RULES or not message.endswith(ending):
        return None
    from ast import literal_eval

    from hostnet.cli.options import shorten

    value = str(literal_eval(message.removesuffix(ending)))
    return f"{parameter.opts[0]} {shorten(value) if value.strip() else repr(value)}: {RULES[kind]}"


def _os_message(error: OSError) -> str:
    """Describes an OSError by file and reason."""
    if error.strerror is None:
        return str(error)
    where = f"{error.filename2 or error.filename}: " if error.filename is not None else ""
    return f"{where}{error.strerror}"


def _internal_message(error: BaseException) -> str:
    """Describes a defect of hostnet."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return (
        f"this is a defect of hostnet, not of your input ({text}). "
        "Please report this line with the command and its configuration file; HOSTNET_DEBUG=1 shows where it happened."
    )


def _survive_closed_output() -> None:
    """Collects in memory what would go to a standard stream that is closed."""
    if sys.stdout is None:
        sys.stdout = StringIO()
    if sys.stderr is None:
        sys.stderr = StringIO()


def _survive_encodings() -> None:
    """Replaces characters that the terminal cannot encode by question marks."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _silence_output() -> None:
    """Redirects stdout to the null device, so that the interpreter's last flush cannot fail again."""
    with suppress(OSError, ValueError):  # stdout may be closed
        stdout = sys.stdout.fileno()
        os.dup2(os.open(os.devnull, os.O_WRONLY), stdout)

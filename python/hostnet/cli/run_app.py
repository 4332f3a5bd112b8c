"""The command `hostnet run`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.cli.declare import command_of
from hostnet.cli.request import Request

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    """Registers the command."""
    app.command()(command_of(Request, run))


def run(request: Request) -> int:
    """Run a configuration and report its bottlenecks.

    Example: hostnet run quadrant.toml --set core.lfb.entries=16 --seeds 5

    Ctrl-C stops the run and keeps the results so far; pressing it again exits at once. SIGUSR1 prints a status line.

    Exit codes: 1 the simulation failed, 2 invalid input, 130 interrupted by Ctrl-C.
    """
    from hostnet.cli.run import run_command

    return run_command(request)

"""The command `hostnet noc`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.cli.declare import command_of
from hostnet.cli.noc_options import NocOptions

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    """Registers the command."""
    app.command("noc")(command_of(NocOptions, noc_run))


def noc_run(options: NocOptions) -> int:
    """Simulate a network on a chip without a server.

    Packets come from a description or from a trace. Several rates print a row each.

    Ctrl-C stops the run and prints the results so far; a second one exits at once.

    Exit codes: 2 invalid input, 130 interrupted by Ctrl-C.
    """
    from hostnet.cli.noc import noc_command

    return noc_command(options)

"""The command `hostnet sweep`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.cli.declare import command_of
from hostnet.cli.sweep_request import SweepRequest

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    """Registers the command."""
    app.command()(command_of(SweepRequest, sweep))


def sweep(request: SweepRequest) -> int:
    """Run a configuration for every combination of parameter values.

    A comma inside quotes or brackets belongs to a value: --over 'workload.stream.cores="0,2","4,6"'.

    The sweep can be interrupted or killed at any time; --resume continues it.

    Exit codes: 1 a run failed, 2 invalid input, 130 interrupted by Ctrl-C.
    """
    from hostnet.cli.sweep import sweep_command

    return sweep_command(request)

"""The command `hostnet compare` and its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="compare")(_compare)


def _compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="A run directory, or a configuration to run first.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="What to compare it with.")],
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    no_rerun: Annotated[
        bool, typer.Option("--no-rerun", help="Do not look for the first event that differs; that runs both again.")
    ] = False,
) -> int:
    """Show what differs between two runs: configuration, results, and the first event.

    Exit codes: 1 a simulation could not go on, 2 something given is wrong, 130 stopped by Ctrl-C.
    """
    from hostnet.cli.compare import compare_command

    return compare_command(a, b, as_json=json, rerun=not no_rerun)

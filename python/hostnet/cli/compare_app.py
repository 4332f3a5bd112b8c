"""The command `hostnet compare` and its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hostnet.cli.declare import html_option, json_option


def register(app: typer.Typer) -> None:
    """Registers the command."""
    app.command(name="compare")(_compare)


def _compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="Run directory, or configuration to run first.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="Run directory or configuration to compare with.")],
    json: Annotated[bool, json_option()] = False,
    html: Annotated[Path | None, html_option("with both runs side by side")] = None,
    no_rerun: Annotated[
        bool, typer.Option("--no-rerun", help="Do not run both again to find the first event that differs.")
    ] = False,
) -> int:
    """Compare two runs: configuration, results, and the first event that differs.

    Exit codes: 1 a simulation failed, 2 invalid input, 130 interrupted by Ctrl-C.
    """
    from hostnet.cli.compare import compare_command

    return compare_command(a, b, as_json=json, rerun=not no_rerun, html=html)

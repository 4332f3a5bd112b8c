"""`hostnet predict` and its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(predict)


def predict(
    file: Annotated[Path, typer.Argument(help="The configuration, TOML or JSON.")],
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Replace a value, e.g. memory.channels=4. Repeatable."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write a directory like that of a run; must be new or empty.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON instead of the tables.")] = False,
) -> int:
    """Predict what a run would show, from the configuration alone, in less than a millisecond.

    Nothing is simulated: a fixed point over credits, latencies and queues. The answer says how far off it may be.

    Exit codes: 2 something given is wrong.
    """
    from hostnet.cli.predict import predict_command

    return predict_command(file, tuple(overrides or ()), out, as_json=json)

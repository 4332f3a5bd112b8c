"""The command `hostnet predict` and its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hostnet.cli.declare import ConfigurationFile, json_option, set_option


def register(app: typer.Typer) -> None:
    """Registers the command."""
    app.command()(predict)


def predict(
    file: ConfigurationFile,
    overrides: Annotated[list[str] | None, set_option("a value, e.g. memory.channels=4")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write a run directory; must be new or empty.")
    ] = None,
    json: Annotated[bool, json_option("Print the summary as JSON instead of the tables.")] = False,
) -> int:
    """Predict the results of a run in less than a millisecond, without simulating.

    The prediction is a fixed point over credits, latencies and queues. The output states its error.

    Exit codes: 2 invalid input.
    """
    from hostnet.cli.predict import predict_command

    return predict_command(file, tuple(overrides or ()), out, as_json=json)

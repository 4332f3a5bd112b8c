"""The command `hostnet explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.cli.declare import command_of
from hostnet.cli.explain_request import ExplainRequest

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    """Registers the command."""
    app.command()(command_of(ExplainRequest, explain))


def explain(request: ExplainRequest) -> int:
    """Explain the performance of a run: bottlenecks, sources of latency, and remedies.

    Exit codes: 1 a run failed or, with --slo, an objective is missed; 2 invalid input; 130 interrupted by Ctrl-C.
    """
    from hostnet.cli.explain import explain_command

    return explain_command(request)

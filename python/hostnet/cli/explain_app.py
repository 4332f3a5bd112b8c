"""The command `hostnet explain` and its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Registers the command."""
    app.command()(explain)


def explain(
    what: Annotated[
        Path,
        typer.Argument(metavar="RUN|FILE|CSV", help="Run directory, configuration to run first, or counters (.csv)."),
    ],
    server: Annotated[
        str | None,
        typer.Option(metavar="PRESET|FILE", help="Server of the counters.", show_default=False),
    ] = None,
    cores: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Number of busy cores, for counters.",
            show_default="estimated from the LFB entries in use",
        ),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Override a value of the configuration. Repeatable."),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Server of a cluster to explain.", show_default="the only one that can be explained"
        ),
    ] = None,
    slo: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PROMISE",
            help='Check a latency objective of services, such as "p99 < 1 ms", and explain their latency. Repeatable.',
        ),
    ] = None,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Also simulate the changes that are predicted to help.")
    ] = False,
    brief: Annotated[bool, typer.Option("--brief", help="Omit the remedies.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of the page.")] = False,
) -> int:
    """Explain the performance of a run: bottlenecks, sources of latency, and remedies.

    Exit codes: 1 a run failed or, with --slo, an objective is missed; 2 invalid input; 130 interrupted by Ctrl-C.
    """
    from hostnet.cli.explain import ExplainRequest, explain_command

    return explain_command(
        ExplainRequest(
            what=what,
            server=server,
            cores=cores,
            host=host,
            overrides=tuple(overrides or ()),
            confirm=confirm,
            brief=brief,
            json=json,
            slos=tuple(slo or ()),
        )
    )

"""The command `hostnet explain` and its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(explain)


def explain(
    what: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|FILE|CSV", help="A run directory, a configuration to run first, or counters (.csv)."
        ),
    ],
    server: Annotated[
        str | None,
        typer.Option(metavar="PRESET|FILE", help="The server that the counters come from.", show_default=False),
    ] = None,
    cores: Annotated[
        int | None,
        typer.Option(metavar="N", help="Busy cores, for counters.", show_default="by the LFB entries in use"),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Replace a value of the configuration. Repeatable."),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The server of a cluster to explain.", show_default="the only one that can be"
        ),
    ] = None,
    slo: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PROMISE",
            help='Say whether services keep it, such as "p99 < 1 ms", and what their latency comes from. Repeatable.',
        ),
    ] = None,
    confirm: Annotated[bool, typer.Option("--confirm", help="Simulate what was predicted to help, too.")] = False,
    brief: Annotated[bool, typer.Option("--brief", help="Leave out what would help.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of the page.")] = False,
) -> int:
    """Say why a run is as fast as it is: what binds it, where its latency comes from, and what would help.

    Exit codes: 1 with --slo: a promise is not kept; or a run could not go on. 2 something given is wrong, 130 stopped
    by Ctrl-C.
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

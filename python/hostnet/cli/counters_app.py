"""The commands of `hostnet counters` and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

counters = typer.Typer(add_completion=False, no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Adds the commands to those of hostnet."""
    app.add_typer(counters, name="counters", help="Hardware counters: which to record, and what a file of them tells.")


@counters.command("events")
def events(
    uarch: Annotated[str | None, typer.Argument(metavar="UARCH|PRESET", help="Whose events; all if not given.")] = None,
    command: Annotated[
        bool, typer.Option("--command", help="Print the perf command that records them instead.")
    ] = False,
    interval_ms: Annotated[
        int | None, typer.Option("--interval-ms", metavar="N", help="Interval of --command.", show_default="1000")
    ] = None,
) -> int:
    """List the events that tell about the host network, with their meaning.

    Exit codes: 2 something given is wrong.
    """
    from hostnet.cli.counters import show_events

    return show_events(uarch, command=command, interval_ms=interval_ms)


@counters.command("read")
def read(
    file: Annotated[Path, typer.Argument(help="What perf stat -x, pcm-raw -csv or pcm-numa -csv wrote.")],
    server: Annotated[
        str | None, typer.Option(metavar="PRESET|FILE", help="The server it comes from: a preset or a configuration.")
    ] = None,
    socket: Annotated[
        int | None, typer.Option(metavar="N", help="The socket to look at.", show_default="the busiest")
    ] = None,
    uarch: Annotated[
        str | None, typer.Option(metavar="NAME", help="The list of events.", show_default="what fits the file")
    ] = None,
    core_ghz: Annotated[
        float | None, typer.Option("--core-ghz", metavar="GHZ", help="Nominal frequency of the cores.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything, every window too, as JSON.")] = False,
) -> int:
    """Show what a file of counters tells, and what is missing in it.

    Exit codes: 2 something given is wrong.
    """
    from hostnet._core import ConfigError
    from hostnet.cli.counters import show_file
    from hostnet.counters import read as read_counters

    if core_ghz is not None and not 0.1 <= core_ghz <= 10:
        raise ConfigError("out-of-range", f"--core-ghz {core_ghz:g}: must be between 0.1 and 10")
    core_hz = None if core_ghz is None else core_ghz * 1e9
    return show_file(read_counters(file, server, socket=socket, uarch=uarch, core_hz=core_hz), as_json=json)

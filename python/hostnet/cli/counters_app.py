"""The commands of `hostnet counters` and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hostnet.cli.declare import json_option

counters = typer.Typer(add_completion=False, no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Registers the commands."""
    app.add_typer(counters, name="counters", help="List hardware counters to record, or evaluate a file of them.")


@counters.command("events")
def events(
    uarch: Annotated[
        str | None, typer.Argument(metavar="UARCH|PRESET", help="Show only the events of this microarchitecture.")
    ] = None,
    command: Annotated[bool, typer.Option("--command", help="Print the perf command that records the events.")] = False,
    interval_ms: Annotated[
        int | None, typer.Option("--interval-ms", metavar="N", help="Interval of --command.", show_default="1000")
    ] = None,
) -> int:
    """List the hardware events that describe the host network, with their meaning.

    Exit codes: 2 invalid input.
    """
    from hostnet.cli.counters import show_events

    return show_events(uarch, command=command, interval_ms=interval_ms)


@counters.command("read")
def read(
    file: Annotated[Path, typer.Argument(help="Output of perf stat -x, pcm-raw -csv or pcm-numa -csv.")],
    server: Annotated[
        str | None, typer.Option(metavar="PRESET|FILE", help="Server of the measurement: a preset or a configuration.")
    ] = None,
    socket: Annotated[
        int | None, typer.Option(metavar="N", help="Socket to evaluate.", show_default="the busiest")
    ] = None,
    uarch: Annotated[
        str | None, typer.Option(metavar="NAME", help="List of events.", show_default="detected from the file")
    ] = None,
    core_ghz: Annotated[float | None, typer.Option("--core-ghz", metavar="GHZ", help="Nominal core frequency.")] = None,
    json: Annotated[bool, json_option("Print everything as JSON, including each window.")] = False,
) -> int:
    """Evaluate a file of counters, and list the counters that are missing.

    Exit codes: 2 invalid input.
    """
    from hostnet._core import ConfigError
    from hostnet.cli.counters import show_file
    from hostnet.counters import read as read_counters

    if core_ghz is not None and not 0.1 <= core_ghz <= 10:
        raise ConfigError("out-of-range", f"--core-ghz {core_ghz:g}: must be between 0.1 and 10")
    core_hz = None if core_ghz is None else core_ghz * 1e9
    return show_file(read_counters(file, server, socket=socket, uarch=uarch, core_hz=core_hz), as_json=json)

"""The command `hostnet sweep` and its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Registers the command."""
    app.command()(sweep)


def sweep(
    file: Annotated[Path, typer.Argument(help="Configuration, TOML or JSON.")],
    over: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH=VALUE,...",
            help="Parameter and its values, e.g. iio.write_credits=46,92,184 or core.lfb.entries=4..12..2. "
            "Repeatable; every combination is computed.",
        ),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Override a value in every point. Repeatable."),
    ] = None,
    seeds: Annotated[int | None, typer.Option(metavar="N", help="Compute every point with N seeds.")] = None,
    engine: Annotated[str, typer.Option(metavar="run|predict", help="Simulate or predict.")] = "run",
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", metavar="N", help="Number of parallel points.", show_default="all cores"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Directory of the sweep.", show_default="runs/<name>-sweep-<n>"),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the sweep in --out.")] = False,
    dask: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Compute on a Dask cluster: tcp://host:port or a scheduler file."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print sweep.json, the directory and the rows as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the path of the directory.")] = False,
) -> int:
    """Run a configuration for every combination of parameter values.

    A comma inside quotes or brackets belongs to a value: --over 'workload.stream.cores="0,2","4,6"'.

    The sweep can be interrupted or killed at any time; --resume continues it.

    Exit codes: 1 a run failed, 2 invalid input, 130 interrupted by Ctrl-C.
    """
    from hostnet.cli.sweep import Request, sweep_command

    return sweep_command(
        Request(
            file=file,
            over=tuple(over or ()),
            overrides=tuple(overrides or ()),
            seeds=seeds,
            engine=engine,
            jobs=jobs,
            out=out,
            resume=resume,
            dask=dask,
            json=json,
            quiet=quiet,
        )
    )

"""The command `hostnet validate` and its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hostnet.cli.declare import Engine


def register(app: typer.Typer) -> None:
    """Registers the command."""
    app.command()(validate)


def validate(
    study: Annotated[str, typer.Argument(help="Study to reproduce; see `hostnet list studies`.")],
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the rows as JSON.")] = None,
    figure: Annotated[
        list[str] | None,
        typer.Option("--figure", metavar="FIGURE", help="Reproduce only this figure (3) or panel (7b). Repeatable."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 1 if a row fails.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Use fewer operating points and shorter runs.")] = False,
    threads: Annotated[int | None, typer.Option(help="Number of parallel runs.", show_default="all cores")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write a run directory with a report; must be new or empty.")
    ] = None,
    engine: Engine = "run",
    plots: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Plot every figure, published beside simulated, as PNG and SVG.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Run operating points again that an earlier validation has kept.")
    ] = False,
) -> int:
    """Reproduce published results and compare them row by row."""
    from hostnet import ledger
    from hostnet.running.ranges import THREADS_MAX, check_range

    check_range("--threads", threads, THREADS_MAX)
    return ledger.cli_validate(study, figure or [], json, strict, quick, threads or 0, out, engine, plots, fresh)

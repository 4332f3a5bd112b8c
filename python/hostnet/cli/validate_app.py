"""The command `hostnet validate` and its options."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from hostnet.cli.declare import Engine


def register(app: typer.Typer) -> None:
    """Registers the command."""
    app.command()(validate)


def validate(
    studies: Annotated[
        list[str] | None,
        typer.Argument(metavar="[STUDY]...", help="Studies to reproduce; see `hostnet list studies`."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Reproduce all studies.")] = False,
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
    write: Annotated[
        bool, typer.Option("--write", help="Write the counts into the README of a checkout, after each study.")
    ] = False,
) -> int:
    """Reproduce published results and compare them row by row."""
    from hostnet import ledger
    from hostnet.ledger.every import cli_validate_every
    from hostnet.running.ranges import THREADS_MAX, check_range

    check_range("--threads", threads, THREADS_MAX)
    names = names_of(studies or [], every)
    if write:
        refuse("--write, which counts full studies", {"--quick": quick, "--engine predict": engine != "run"})
    if len(names) > 1 or write:
        single = {"--json": json, "--figure": figure, "--out": out, "--plots": plots, "--engine": engine != "run"}
        refuse("--write" if write else "several studies", single)
        return cli_validate_every(names, quick=quick, threads=threads or 0, strict=strict, fresh=fresh, write=write)
    return ledger.cli_validate(names[0], figure or [], json, strict, quick, threads or 0, out, engine, plots, fresh)


def names_of(studies: list[str], every: bool) -> list[str]:
    """Returns the studies to reproduce, each once.

    Raises:
        ConfigError: None is named, or some beside --all.
    """
    from hostnet import ledger
    from hostnet.errors import ConfigError

    if every and studies:
        raise ConfigError("conflicting-keys", f"--all: reproduces {studies[0]} too; leave one of them out")
    if not every and not studies:
        known = ", ".join(ledger.study_names())
        raise ConfigError("missing-key", f"STUDY: missing; --all reproduces all, and there are: {known}")
    return ledger.study_names() if every else list(dict.fromkeys(studies))


def refuse(what: str, options: Mapping[str, object]) -> None:
    """Raises ConfigError if an option is given that does not go with `what`."""
    from hostnet.errors import ConfigError

    for name, value in options.items():
        if value:
            raise ConfigError("conflicting-keys", f"{name}: cannot be used with {what}")

"""The command `hostnet paper` and its options."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Registers the command."""
    app.command()(paper)


def paper(
    paper: Annotated[
        str | None,
        typer.Argument(
            metavar="ID", help="Paper to reproduce; see `hostnet list papers`.", show_default="the list of papers"
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Use fewer operating points and shorter runs.")] = False,
    threads: Annotated[int | None, typer.Option(help="Number of parallel runs.", show_default="all cores")] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder to write; must be new or empty.")] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the page in a browser.")] = False,
) -> int:
    """Reproduce a paper: run its studies, print the tables and draw the figures.

    Each study has its run directory with a report and plots in the folder. The last line is the path of a page with all
    figures, published beside simulated. On a terminal with a display the page opens in the browser.
    """
    from hostnet import ledger
    from hostnet.cli.listing import show_papers
    from hostnet.running.ranges import THREADS_MAX, check_range

    check_range("--threads", threads, THREADS_MAX)
    if paper is None:
        refuse_options({"--quick": quick, "--threads": threads, "--out": out, "--no-open": no_open})
        show_papers()
        return 0
    page = ledger.reproduce(ledger.paper_of(paper), quick=quick, threads=threads or 0, out=out)
    if not no_open:
        ledger.open_page(page)
    return 0


def refuse_options(options: Mapping[str, object]) -> None:
    """Refuses options without a paper that they could be for.

    Raises:
        ConfigError: An option is given.
    """
    from hostnet import ConfigError
    from hostnet.ledger import papers

    for name, value in options.items():
        if value not in (None, False):
            raise ConfigError("usage", f"{name}: of which paper? Name one of {', '.join(papers())}")

"""The commands and their options. What they do lies in the other modules, which are loaded when needed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="hostnet",
    help="Simulate the network inside a server: what limits its throughput, and why.",
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from hostnet._core import version

        typer.echo(f"hostnet {version()}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Simulate the network inside a server: what limits its throughput, and why."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def run(
    file: Annotated[Path, typer.Argument(help="The configuration, TOML or JSON. `hostnet new` writes one.")],
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Replace a value, e.g. memory.channels=4. Repeatable."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the random streams, instead of the file's.")] = None,
    seeds: Annotated[
        int | None, typer.Option(metavar="N", help="Run N seeds and show the mean and its 95 % confidence interval.")
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(help="Threads; the results do not depend on it.", show_default="1; all cores with --seeds"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The run directory.", show_default="runs/<name>-<n>")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print summary.json instead of the tables.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Write the tables as CSV files too.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the run directory's path only.")] = False,
    series: Annotated[
        str | None, typer.Option(metavar="TIME", help='Record time series at this step, e.g. "10us".')
    ] = None,
    checkpoint_at: Annotated[
        str | None, typer.Option(metavar="TIME", help="Simulated time at which to write the checkpoint.")
    ] = None,
    checkpoint: Annotated[Path | None, typer.Option(metavar="FILE", help="The checkpoint to write.")] = None,
    from_: Annotated[Path | None, typer.Option("--from", metavar="FILE", help="Continue from a checkpoint.")] = None,
) -> int:
    """Run a configuration and say what limits it.

    Ctrl-C stops the run and keeps what was measured so far; a second one leaves at once.

    SIGUSR1 makes a running simulation print a status line.

    Exit codes: 1 the simulation could not go on, 2 something given is wrong, 130 stopped by Ctrl-C.
    """
    from hostnet.cli.request import Request
    from hostnet.cli.run import run_command

    return run_command(
        Request(
            file=file,
            overrides=tuple(overrides or ()),
            seed=seed,
            seeds=seeds,
            threads=threads,
            out=out,
            json=json,
            csv=csv,
            quiet=quiet,
            series=series,
            checkpoint_at=checkpoint_at,
            checkpoint=checkpoint,
            from_checkpoint=from_,
        )
    )


@app.command()
def validate(
    study: Annotated[str, typer.Argument(help="A study; `hostnet list studies` names them.")],
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the rows as JSON too.")] = None,
    figure: Annotated[
        list[str] | None, typer.Option(metavar="FIGURE", help="Only this figure (3) or panel (7b). Repeatable.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit code 1 if a row fails.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer operating points and shorter runs.")] = False,
    threads: Annotated[int, typer.Option(help="Runs at a time.", show_default="all cores")] = 0,
) -> int:
    """Recompute published results and compare them row by row."""
    from hostnet import ledger

    return ledger.cli_validate(study, figure or [], json, strict, quick, threads)


@app.command()
def plot(run_dir: Annotated[Path, typer.Argument(help="A run directory.")]) -> int:
    """Draw the plots of a run and print their paths."""
    from hostnet.cli.extras import plot_run

    return plot_run(run_dir)


@app.command(name="list")
def list_(
    what: Annotated[str, typer.Argument(metavar="presets|workloads|studies", help="What to list.")],
) -> int:
    """List the presets, the kinds of workloads or the studies."""
    from hostnet.cli.listing import show_list

    return show_list(what)


@app.command()
def schema() -> int:
    """Print the JSON Schema of configurations, for editors."""
    from hostnet import _core

    typer.echo(_core.schema())
    return 0


@app.command()
def new(file: Annotated[Path, typer.Argument(help="The file to write.")] = Path("hostnet.toml")) -> int:
    """Write a commented configuration to start from."""
    from hostnet.cli.extras import write_template

    return write_template(file)


@app.command()
def demo() -> int:
    """Run the four quadrants of "Understanding the Host Network" and write a report."""
    from hostnet.cli.extras import run_demo

    return run_demo()

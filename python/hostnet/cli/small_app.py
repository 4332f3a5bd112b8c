"""The commands `hostnet plot`, `list`, `schema`, `new`, `demo` and `completion`, and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hostnet.cli.declare import command_of
from hostnet.cli.listing import LISTS, show_list
from hostnet.cli.templates import Template, write_template


def register(app: typer.Typer) -> None:
    """Registers the commands."""
    app.command(name="list")(list_)
    app.command()(command_of(Template, new))
    for command in (plot, schema, demo, completion):
        app.command()(command)


def plot(run_dir: Annotated[Path, typer.Argument(help="Directory of a run, a sweep or curves.")]) -> int:
    """Plot a run, a sweep or latency curves, and print the paths of the plots."""
    from hostnet.cli.extras import plot_run

    return plot_run(run_dir)


def list_(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="WHAT", help=f"List to print: {', '.join(LISTS)}.", show_default="the names of all lists"
        ),
    ] = None,
    errors: Annotated[
        bool, typer.Option("--errors", help="Print how far each preset is off from measurements of it.")
    ] = False,
) -> int:
    """List presets, devices, workloads and other names that configurations and commands know."""
    return show_list(what, errors=errors)


def schema(
    cluster: Annotated[
        bool, typer.Option("--cluster", help="Print the schema of clusters instead of servers.")
    ] = False,
    chip: Annotated[bool, typer.Option("--chip", help="Print the schema of chips instead of servers.")] = False,
) -> int:
    """Print the JSON Schema of configurations, for use in editors."""
    from hostnet.cli.extras import show_schema

    return show_schema(cluster=cluster, chip=chip)


def new(template: Template) -> int:
    """Write a commented configuration: a server, an application, a cluster or a chip.

    Example: hostnet new --stream-and-drives && hostnet run server.toml
    """
    return write_template(template)


def demo(
    quick: Annotated[bool, typer.Option("--quick", help="Simulate 0.3 ms of each operating point, not 2 ms.")] = False,
) -> int:
    """Run the four quadrants of "Understanding the Host Network" and write a report."""
    from hostnet.cli.extras import run_demo

    return run_demo(quick=quick)


def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="Shell: bash, zsh or fish.")],
) -> int:
    """Print the script that completes commands, options and values in a shell.

    Load it in the startup file of the shell: eval "$(hostnet completion bash)" in ~/.bashrc, eval "$(hostnet completion
    zsh)" in ~/.zshrc after compinit, or hostnet completion fish | source in ~/.config/fish/config.fish.
    """
    from hostnet.cli.extras import show_completion

    return show_completion(shell)

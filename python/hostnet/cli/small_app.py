"""The small commands and their options: plot, list, schema, new, demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command(name="list")(list_)
    for command in (plot, schema, new, demo):
        app.command()(command)


def plot(run_dir: Annotated[Path, typer.Argument(help="The directory of a run, of a sweep or of curves.")]) -> int:
    """Draw the plots of a run, of a sweep or of curves and print their paths."""
    from hostnet.cli.extras import plot_run

    return plot_run(run_dir)


def list_(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="WHAT",
            help="presets, devices, profiles, energy, power, chips, dies, workloads, apps, studies or counters.",
            show_default="what can be listed",
        ),
    ] = None,
) -> int:
    """List presets, DRAM devices, profiles of memory controllers, chips, dies, workloads, apps, studies, counters."""
    from hostnet.cli.listing import show_list

    return show_list(what)


def schema(
    cluster: Annotated[bool, typer.Option("--cluster", help="Of clusters of hosts instead of single servers.")] = False,
    chip: Annotated[bool, typer.Option("--chip", help="Of chips instead of single servers.")] = False,
) -> int:
    """Print the JSON Schema of configurations, for editors."""
    from hostnet.cli.extras import show_schema

    return show_schema(cluster=cluster, chip=chip)


def new(
    file: Annotated[Path | None, typer.Argument(help="The file to write.", show_default="hostnet.toml")] = None,
    application: Annotated[
        str | None,
        typer.Option("--app", metavar="APP", help="An application beside storage reads; `hostnet list apps`."),
    ] = None,
    alone: Annotated[bool, typer.Option("--alone", help="Of --app: without the storage reads.")] = False,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="NAME",
            help="A cluster: hostcc, dumbbell, incast, rdma, ping, forward, rack-pool, mcn or inceptionn.",
        ),
    ] = None,
    chip: Annotated[
        bool,
        typer.Option("--chip", help="A chip of tiles with network interfaces."),
    ] = False,
    preset: Annotated[
        str | None,
        typer.Option("--preset", metavar="NAME", help="Of --chip: which chip; `hostnet list chips`."),
    ] = None,
) -> int:
    """Write a commented configuration to start from: a stream, an application, a cluster or a chip (NAME.toml)."""
    from hostnet.cli.extras import write_template

    name = application or cluster or ("chip" if chip else "hostnet")
    return write_template(
        file or Path(f"{name}.toml"), application, alone=alone, cluster=cluster, chip=chip, preset=preset
    )


def demo() -> int:
    """Run the four quadrants of "Understanding the Host Network" and write a report."""
    from hostnet.cli.extras import run_demo

    return run_demo()

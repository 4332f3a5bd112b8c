"""The commands `hostnet plot`, `list`, `schema`, `new` and `demo`, and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Registers the commands."""
    app.command(name="list")(list_)
    for command in (plot, schema, new, demo):
        app.command()(command)


def plot(run_dir: Annotated[Path, typer.Argument(help="Directory of a run, a sweep or curves.")]) -> int:
    """Plot a run, a sweep or latency curves, and print the paths of the plots."""
    from hostnet.cli.extras import plot_run

    return plot_run(run_dir)


def list_(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="WHAT",
            help="presets, devices, profiles, energy, power, chips, dies, workloads, apps, studies or counters.",
            show_default="the names of all lists",
        ),
    ] = None,
) -> int:
    """List available presets, devices, profiles, chips, dies, workloads, applications, studies or counters."""
    from hostnet.cli.listing import show_list

    return show_list(what)


def schema(
    cluster: Annotated[
        bool, typer.Option("--cluster", help="Print the schema of clusters instead of servers.")
    ] = False,
    chip: Annotated[bool, typer.Option("--chip", help="Print the schema of chips instead of servers.")] = False,
) -> int:
    """Print the JSON Schema of configurations, for use in editors."""
    from hostnet.cli.extras import show_schema

    return show_schema(cluster=cluster, chip=chip)


def new(
    file: Annotated[Path | None, typer.Argument(help="File to write.", show_default="<name>.toml")] = None,
    application: Annotated[
        str | None,
        typer.Option("--app", metavar="APP", help="Application beside storage reads; see `hostnet list apps`."),
    ] = None,
    alone: Annotated[bool, typer.Option("--alone", help="With --app: omit the storage reads.")] = False,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="NAME",
            help="Cluster: hostcc, dumbbell, incast, rdma, ping, forward, rack-pool, mcn or inceptionn.",
        ),
    ] = None,
    chip: Annotated[
        bool,
        typer.Option("--chip", help="Chip of tiles with network interfaces."),
    ] = False,
    preset: Annotated[
        str | None,
        typer.Option("--preset", metavar="NAME", help="With --chip: preset of the chip; see `hostnet list chips`."),
    ] = None,
) -> int:
    """Write a commented configuration template: a stream, an application, a cluster or a chip."""
    from hostnet.cli.extras import write_template

    name = application or cluster or ("chip" if chip else "hostnet")
    return write_template(
        file or Path(f"{name}.toml"), application, alone=alone, cluster=cluster, chip=chip, preset=preset
    )


def demo() -> int:
    """Run the four quadrants of "Understanding the Host Network" and write a report."""
    from hostnet.cli.extras import run_demo

    return run_demo()

"""The commands and their options. What they do lies in the other modules, which are loaded when needed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hostnet.cli import (
    calibrate_app,
    compare_app,
    counters_app,
    curve_app,
    explain_app,
    filter_app,
    import_app,
    memory_app,
    predict_app,
    sweep_app,
)

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
    trace: Annotated[
        bool, typer.Option("--trace", help="Write trace.pftrace, a timeline of every line, for ui.perfetto.dev.")
    ] = False,
    trace_window: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Length of the trace, from the end of the warm-up.", show_default="20us"),
    ] = None,
    checkpoint_at: Annotated[
        str | None, typer.Option(metavar="TIME", help="Simulated time at which to write the checkpoint.")
    ] = None,
    checkpoint: Annotated[Path | None, typer.Option(metavar="FILE", help="The checkpoint to write.")] = None,
    from_: Annotated[Path | None, typer.Option("--from", metavar="FILE", help="Continue from a checkpoint.")] = None,
    counters: Annotated[
        str | None, typer.Option(metavar="perf|pcm", help="Write counters.csv as perf stat or pcm-raw would.")
    ] = None,
    counters_interval: Annotated[
        str | None, typer.Option(metavar="TIME", help="How often counters are read.", show_default="100us")
    ] = None,
    counters_out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the counters there.", show_default="counters.csv of the run"),
    ] = None,
    counters_per_socket: Annotated[
        bool, typer.Option("--counters-per-socket", help="Sums of each socket, as perf stat --per-socket.")
    ] = False,
    compare: Annotated[
        str | None, typer.Option(metavar="predict", help="Show beside the run what `hostnet predict` tells.")
    ] = None,
    pcap: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Of a cluster: write what a host sends and receives.")
    ] = None,
    pcap_host: Annotated[
        str | None, typer.Option(metavar="NAME", help="That host.", show_default="the only server")
    ] = None,
    pcap_snaplen: Annotated[
        int | None, typer.Option(metavar="BYTES", help="Bytes of a frame to keep at most.", show_default="128")
    ] = None,
) -> int:
    """Run a configuration and say what limits it.

    Ctrl-C stops the run and keeps what was measured so far; a second one leaves at once.

    SIGUSR1 makes a running simulation print a status line.

    Exit codes: 1 the simulation could not go on, 2 something given is wrong, 130 stopped by Ctrl-C.
    """
    from hostnet.cli.request import CounterOptions, PcapOptions, Request
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
            trace=trace,
            trace_window=trace_window,
            checkpoint_at=checkpoint_at,
            checkpoint=checkpoint,
            from_checkpoint=from_,
            counters=CounterOptions(counters, counters_interval, counters_out, counters_per_socket),
            compare=compare,
            pcap=PcapOptions(pcap, pcap_host, pcap_snaplen),
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
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write a run directory with a report; must be new or empty.")
    ] = None,
    engine: Annotated[
        str, typer.Option(metavar="run|predict", help="What computes the rows: simulations or predictions.")
    ] = "run",
    plots: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Draw every figure, published beside simulated, as PNG and SVG.")
    ] = None,
) -> int:
    """Recompute published results and compare them row by row."""
    from hostnet import ledger

    return ledger.cli_validate(study, figure or [], json, strict, quick, threads, out, engine, plots)


@app.command()
def plot(run_dir: Annotated[Path, typer.Argument(help="A run directory.")]) -> int:
    """Draw the plots of a run and print their paths."""
    from hostnet.cli.extras import plot_run

    return plot_run(run_dir)


@app.command(name="list")
def list_(
    what: Annotated[
        str, typer.Argument(metavar="presets|devices|profiles|workloads|apps|studies|counters", help="What to list.")
    ],
) -> int:
    """List presets, DRAM devices, profiles of memory controllers, workloads, applications, studies, or counters."""
    from hostnet.cli.listing import show_list

    return show_list(what)


@app.command()
def schema(
    cluster: Annotated[bool, typer.Option("--cluster", help="Of clusters of hosts instead of single servers.")] = False,
) -> int:
    """Print the JSON Schema of configurations, for editors."""
    from hostnet import _core

    typer.echo(_core.cluster_schema() if cluster else _core.schema())
    return 0


@app.command()
def new(
    file: Annotated[Path | None, typer.Argument(help="The file to write.", show_default="hostnet.toml")] = None,
    application: Annotated[
        str | None,
        typer.Option("--app", metavar="APP", help="An application beside storage reads; `hostnet list apps`."),
    ] = None,
    alone: Annotated[bool, typer.Option("--alone", help="Of --app: without the storage reads.")] = False,
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", metavar="NAME", help="Hosts on a network: hostcc, dumbbell, incast or rdma."),
    ] = None,
) -> int:
    """Write a commented configuration to start from: a stream, an application (APP.toml) or a cluster (NAME.toml)."""
    from hostnet.cli.extras import write_template

    return write_template(
        file or Path(f"{application or cluster or 'hostnet'}.toml"), application, alone=alone, cluster=cluster
    )


@app.command()
def demo() -> int:
    """Run the four quadrants of "Understanding the Host Network" and write a report."""
    from hostnet.cli.extras import run_demo

    return run_demo()


memory_app.register(app)
for commands in (predict_app, explain_app, sweep_app, compare_app, calibrate_app, curve_app, import_app, counters_app):
    commands.register(app)
filter_app.register(app)

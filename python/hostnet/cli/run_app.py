"""The command `hostnet run` and its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

WHAT, HOW, OUTPUT, COUNTED = "What to run", "How to run it", "What to write and print", "Counters and captures"
CHECKPOINTS = "Checkpoints"


File = Annotated[Path, typer.Argument(help="Configuration, TOML or JSON; `hostnet new` writes one.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Override a value, e.g. memory.channels=4. Repeatable.",
        rich_help_panel=WHAT,
    ),
]
Seed = Annotated[int | None, typer.Option(help="Override the seed of the random streams.", rich_help_panel=WHAT)]
Seeds = Annotated[
    int | None,
    typer.Option(metavar="N", help="Run N seeds and print means with 95 % confidence intervals.", rich_help_panel=WHAT),
]
Threads = Annotated[
    int | None,
    typer.Option(
        help="Number of threads; does not affect the results.",
        show_default="1; all cores with --seeds",
        rich_help_panel=HOW,
    ),
]
Processes = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Distribute the run over N processes with mpirun.", show_default="1", rich_help_panel=HOW
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Run directory to write.", show_default="runs/<name>-<n>", rich_help_panel=OUTPUT),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print summary.json and the directory as JSON.", rich_help_panel=OUTPUT)
]
Csv = Annotated[bool, typer.Option("--csv", help="Also write the tables as CSV files.", rich_help_panel=OUTPUT)]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print only the path of the run directory.", rich_help_panel=OUTPUT)
]
Brief = Annotated[
    bool,
    typer.Option(
        "--brief", help="Print only the throughput and the bottleneck of each workload.", rich_help_panel=OUTPUT
    ),
]
Series = Annotated[
    str | None,
    typer.Option(metavar="TIME", help='Record time series with this step, e.g. "10us".', rich_help_panel=OUTPUT),
]
Trace = Annotated[
    bool,
    typer.Option(
        "--trace",
        help="Write trace.pftrace, a timeline of every cache line, for ui.perfetto.dev.",
        rich_help_panel=OUTPUT,
    ),
]
TraceWindow = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Length of the trace after the warm-up.",
        show_default="20us",
        rich_help_panel=OUTPUT,
    ),
]
Host = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Server that --trace and --counters record.",
        show_default="the only server",
        rich_help_panel=COUNTED,
    ),
]
CheckpointAt = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Write a checkpoint at this simulated time.", rich_help_panel=CHECKPOINTS),
]
CheckpointEvery = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Write a checkpoint every TIME of simulated time, and keep the last one.",
        rich_help_panel=CHECKPOINTS,
    ),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        metavar="PATH",
        help="Checkpoint to write.",
        show_default="checkpoints/<name> with --checkpoint-every",
        rich_help_panel=CHECKPOINTS,
    ),
]
From = Annotated[
    Path | None,
    typer.Option(
        "--from", metavar="PATH", help="Continue from a checkpoint file or folder.", rich_help_panel=CHECKPOINTS
    ),
]
Counters = Annotated[
    str | None,
    typer.Option(
        metavar="perf|pcm|pcm-numa",
        help="Write counters.csv in the format of perf stat, pcm-raw or pcm-numa.",
        rich_help_panel=COUNTED,
    ),
]
CountersInterval = Annotated[
    str | None,
    typer.Option(
        metavar="TIME", help="Interval between readings of the counters.", show_default="100us", rich_help_panel=COUNTED
    ),
]
CountersOut = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File for the counters.",
        show_default="counters.csv of the run",
        rich_help_panel=COUNTED,
    ),
]
CountersPerSocket = Annotated[
    bool,
    typer.Option(
        "--counters-per-socket", help="Write sums per socket, like perf stat --per-socket.", rich_help_panel=COUNTED
    ),
]
Compare = Annotated[
    str | None,
    typer.Option(
        metavar="predict|alone",
        help="Compare the run with its prediction, or with each workload alone.",
        rich_help_panel=WHAT,
    ),
]
Pcap = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Capture the packets of a host of a cluster.", rich_help_panel=COUNTED),
]
PcapHost = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Host to capture.", show_default="the only server", rich_help_panel=COUNTED),
]
PcapSnaplen = Annotated[
    int | None,
    typer.Option(
        metavar="BYTES", help="Maximum number of bytes to keep per frame.", show_default="128", rich_help_panel=COUNTED
    ),
]


def register(app: typer.Typer) -> None:
    """Registers the command."""
    app.command()(run)


def run(
    file: File,
    overrides: Overrides = None,
    seed: Seed = None,
    seeds: Seeds = None,
    threads: Threads = None,
    processes: Processes = None,
    out: Out = None,
    json: Json = False,
    csv: Csv = False,
    quiet: Quiet = False,
    brief: Brief = False,
    series: Series = None,
    trace: Trace = False,
    trace_window: TraceWindow = None,
    host: Host = None,
    checkpoint_at: CheckpointAt = None,
    checkpoint_every: CheckpointEvery = None,
    checkpoint: Checkpoint = None,
    from_: From = None,
    counters: Counters = None,
    counters_interval: CountersInterval = None,
    counters_out: CountersOut = None,
    counters_per_socket: CountersPerSocket = False,
    compare: Compare = None,
    pcap: Pcap = None,
    pcap_host: PcapHost = None,
    pcap_snaplen: PcapSnaplen = None,
) -> int:
    """Run a configuration and report its bottlenecks.

    Example: hostnet run quadrant.toml --set core.lfb.entries=16 --seeds 5

    Ctrl-C stops the run and keeps the results so far; a second one exits at once. SIGUSR1 prints a status line.

    Exit codes: 1 the simulation failed, 2 invalid input, 130 interrupted by Ctrl-C.
    """
    from hostnet.cli.request import CounterOptions, PcapOptions, Request
    from hostnet.cli.run import run_command

    request = Request(
        file=file,
        overrides=tuple(overrides or ()),
        seed=seed,
        seeds=seeds,
        threads=threads,
        processes=processes,
        out=out,
        json=json,
        csv=csv,
        quiet=quiet,
        brief=brief,
        series=series,
        trace=trace,
        trace_window=trace_window,
        host=host,
        checkpoint_at=checkpoint_at,
        checkpoint_every=checkpoint_every,
        checkpoint=checkpoint,
        from_checkpoint=from_,
        counters=CounterOptions(counters, counters_interval, counters_out, counters_per_socket),
        compare=compare,
        pcap=PcapOptions(pcap, pcap_host, pcap_snaplen),
    )
    return run_command(request)

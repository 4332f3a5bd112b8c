"""The command `hostnet noc` and its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

PACKETS = "Packets"
NETWORK = "Network"
RUN = "Measurement"

Trace = Annotated[
    Path | None,
    typer.Argument(help="Trace with lines of cycle, source, destination and flits; plain or compressed (gz, xz, zst)."),
]
Traffic = Annotated[
    str | None,
    typer.Option(
        metavar="PATTERN",
        help="Traffic pattern: uniform, transpose, bit-complement, bit-reverse, shuffle, tornado, neighbor or hotspot.",
        rich_help_panel=PACKETS,
        show_default="uniform",
    ),
]
Rate = Annotated[
    str | None,
    typer.Option(
        metavar="LOAD[,LOAD...]",
        help="Offered flits per node and cycle; several rates print a row each.",
        rich_help_panel=PACKETS,
        show_default="0.1",
    ),
]
PacketFlits = Annotated[
    str | None, typer.Option(metavar="N", help="Flits per packet.", rich_help_panel=PACKETS, show_default="1")
]
Hotspots = Annotated[
    str | None, typer.Option(metavar="NODE[,NODE...]", help="Nodes that all nodes send to.", rich_help_panel=PACKETS)
]
Seed = Annotated[
    str | None, typer.Option(metavar="N", help="Seed of the random streams.", rich_help_panel=PACKETS, show_default="1")
]
Size = Annotated[
    str | None,
    typer.Option(
        metavar="CxR|N",
        help="Columns and rows of a mesh, or nodes of a ring.",
        rich_help_panel=NETWORK,
        show_default="8x8",
    ),
]
Topology = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Topology: mesh or ring.", rich_help_panel=NETWORK, show_default="mesh"),
]
Routing = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Routing: xy, yx or o1turn.", rich_help_panel=NETWORK, show_default="xy"),
]
Vcs = Annotated[
    str | None,
    typer.Option("--vcs", metavar="N", help="Virtual channels per port.", rich_help_panel=NETWORK, show_default="4"),
]
VcFlits = Annotated[
    str | None,
    typer.Option("--vc-flits", metavar="N", help="Flits per buffer.", rich_help_panel=NETWORK, show_default="8"),
]
Cycles = Annotated[
    str | None,
    typer.Option(metavar="N", help="Measured cycles.", rich_help_panel=RUN, show_default="20k; all of a trace"),
]
Warmup = Annotated[
    str | None,
    typer.Option(metavar="N", help="Warm-up cycles.", rich_help_panel=RUN, show_default="6k; 0 with a trace"),
]
Config = Annotated[Path | None, typer.Option(metavar="FILE", help="Configuration of the network, TOML or JSON.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Override any other value. Repeatable."),
]
Over = Annotated[
    list[str] | None,
    typer.Option("--over", metavar="PATH=VALUES", help="Run for every value and print a row for each. Repeatable."),
]
Json = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]
Page = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Write a page with a map of the links and curves.")
]


def register(app: typer.Typer) -> None:
    """Registers the command."""
    app.command("noc")(noc_run)


def noc_run(
    trace: Trace = None,
    traffic: Traffic = None,
    rate: Rate = None,
    packet_flits: PacketFlits = None,
    hotspots: Hotspots = None,
    seed: Seed = None,
    size: Size = None,
    topology: Topology = None,
    routing: Routing = None,
    vcs: Vcs = None,
    vc_flits: VcFlits = None,
    cycles: Cycles = None,
    warmup: Warmup = None,
    config: Config = None,
    overrides: Overrides = None,
    over: Over = None,
    json: Json = False,
    html: Page = None,
) -> int:
    """Simulate a network on a chip without a server.

    Packets come from a description or from a trace. Several rates print a row each.

    Ctrl-C stops the run and prints the results so far; a second one exits at once.

    Exit codes: 2 invalid input, 130 interrupted by Ctrl-C.
    """
    from hostnet.cli.noc import Options, noc_command

    options = Options(
        trace=trace,
        traffic=traffic,
        rate=rate,
        packet_flits=packet_flits,
        hotspots=hotspots,
        seed=seed,
        size=size,
        topology=topology,
        routing=routing,
        vcs=vcs,
        vc_flits=vc_flits,
        cycles=cycles,
        warmup=warmup,
        config=config,
        overrides=tuple(overrides or ()),
        over=tuple(over or ()),
        json=json,
        html=html,
    )
    return noc_command(options)

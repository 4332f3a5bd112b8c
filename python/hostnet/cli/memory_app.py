"""The commands of `hostnet memory` and their options."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hostnet._core import ConfigError


class MemoryGroup(TyperGroup):
    """`hostnet memory` runs unless its first word is another command: the trace needs none."""

    def parse_args(self, context: Any, arguments: list[str]) -> list[str]:
        """Puts the name of the default command first."""
        named = bool(arguments) and arguments[0] in self.commands
        if arguments and not named and not Path(arguments[0]).exists():
            near = get_close_matches(arguments[0], self.commands, 1)
            if near:
                raise ConfigError("usage", f'{arguments[0]}: neither a trace nor a command; did you mean "{near[0]}"?')
        return super().parse_args(context, arguments if named else ["run", *arguments])


memory = typer.Typer(cls=MemoryGroup, add_completion=False)

TRAFFIC = "Requests"
MEMORY = "Memory"
CONTROLLER = "Controller"

Trace = Annotated[Path | None, typer.Argument(help="A trace of Ramulator or DRAMsim3, plain or gz, xz or zst.")]
Traffic = Annotated[
    str | None,
    typer.Option(
        metavar="PATTERN", help="sequential, random, strN or cstrN.", rich_help_panel=TRAFFIC, show_default="random"
    ),
]
Reads = Annotated[
    str | None, typer.Option(metavar="SHARE", help="Share of reads.", rich_help_panel=TRAFFIC, show_default="1")
]
Load = Annotated[
    str | None,
    typer.Option(metavar="SHARE", help="Offered load, of peak.", rich_help_panel=TRAFFIC, show_default="back to back"),
]
Requests = Annotated[
    str | None,
    typer.Option(metavar="N", help="How many, e.g. 250k.", rich_help_panel=TRAFFIC, show_default="1M"),
]
Seed = Annotated[str | None, typer.Option(metavar="N", help="Seed.", rich_help_panel=TRAFFIC, show_default="1")]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="Of the trace: ramulator, ramulator1 or dramsim3.",
        rich_help_panel=TRAFFIC,
        show_default="as its first line looks",
    ),
]
Outstanding = Annotated[str | None, typer.Option(metavar="N", help="Reads in flight at most.", rich_help_panel=TRAFFIC)]
Warmup = Annotated[
    str | None,
    typer.Option(metavar="SHARE", help="Requests not measured.", rich_help_panel=TRAFFIC, show_default="10 %"),
]
Device = Annotated[
    str | None,
    typer.Option(metavar="NAME|FILE", help="The DRAM of a channel.", rich_help_panel=MEMORY, show_default="DDR4_2933"),
]
Channels = Annotated[
    str | None, typer.Option(metavar="N", help="Any number.", rich_help_panel=MEMORY, show_default="1")
]
AddressMap = Annotated[
    str | None,
    typer.Option(
        "--map",
        metavar="MAP",
        help='A, B, C, intel, an order such as RoBaRaCoCh, or fields such as "bg co ba ra ro".',
        rich_help_panel=MEMORY,
        show_default="A",
    ),
]
Profile = Annotated[
    str | None,
    typer.Option(metavar="NAME|FILE", help="intel or ramulator.", rich_help_panel=CONTROLLER, show_default="intel"),
]
QueueReads = Annotated[str | None, typer.Option(metavar="N", help="Entries of the RPQ.", rich_help_panel=CONTROLLER)]
QueueWrites = Annotated[str | None, typer.Option(metavar="N", help="Entries of the WPQ.", rich_help_panel=CONTROLLER)]
Watermarks = Annotated[
    str | None,
    typer.Option(metavar="HIGH,LOW", help="Of write mode: 0.8,0.2 or entries 26,6.", rich_help_panel=CONTROLLER),
]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="frfcfs-rowhit, frfcfs, frfcfs-cap or fcfs.", rich_help_panel=CONTROLLER),
]
RowHits = Annotated[
    str | None,
    typer.Option(metavar="N", help="Accesses to a row that others wait to close.", rich_help_panel=CONTROLLER),
]
RowHold = Annotated[
    str | None,
    typer.Option(metavar="TIME", help='Wait for a row in use, e.g. "400 ns".', rich_help_panel=CONTROLLER),
]
Page = Annotated[str | None, typer.Option(metavar="NAME", help="open, closed or timeout.", rich_help_panel=CONTROLLER)]
IdleClose = Annotated[str | None, typer.Option(metavar="TIME", help="Of --page timeout.", rich_help_panel=CONTROLLER)]
Refresh = Annotated[
    str | None, typer.Option(metavar="NAME", help="all-banks, same-bank or off.", rich_help_panel=CONTROLLER)
]
Config = Annotated[Path | None, typer.Option(metavar="FILE", help="A configuration of the memory, TOML or JSON.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Replace any other value. Repeatable."),
]
Over = Annotated[
    list[str] | None,
    typer.Option("--over", metavar="PATH=VALUES", help="Run under every value, a row for each. Repeatable."),
]
Json = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]
Commands = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the DRAM commands, compressed if it ends with .gz or .zst."),
]


def register(app: typer.Typer) -> None:
    """Adds the commands to those of hostnet."""
    app.add_typer(memory, name="memory", help="Simulate the memory system on its own; check DRAM commands.")


@memory.command("run")
def memory_run(
    trace: Trace = None,
    traffic: Traffic = None,
    reads: Reads = None,
    load: Load = None,
    requests: Requests = None,
    seed: Seed = None,
    format_: Format = None,
    outstanding: Outstanding = None,
    warmup: Warmup = None,
    device: Device = None,
    channels: Channels = None,
    map_: AddressMap = None,
    profile: Profile = None,
    queue_reads: QueueReads = None,
    queue_writes: QueueWrites = None,
    watermarks: Watermarks = None,
    scheduler: Scheduler = None,
    row_hits: RowHits = None,
    row_hold: RowHold = None,
    page: Page = None,
    idle_close: IdleClose = None,
    refresh: Refresh = None,
    config: Config = None,
    overrides: Overrides = None,
    over: Over = None,
    json: Json = False,
    commands: Commands = None,
) -> int:
    """Simulate the memory system on its own, without a server around it.

    Requests come from a description or from a trace. `hostnet memory check FILE` checks what --commands wrote.

    Ctrl-C stops the run and shows what was measured so far; a second one leaves at once.

    Exit codes: 2 something given is wrong, 130 stopped by Ctrl-C.
    """
    from hostnet.cli.memory import Options, memory_command

    options = Options(
        trace=trace,
        format=format_,
        traffic=traffic,
        reads=reads,
        load=load,
        requests=requests,
        seed=seed,
        device=device,
        channels=channels,
        map=map_,
        profile=profile,
        outstanding=outstanding,
        warmup=warmup,
        queue_reads=queue_reads,
        queue_writes=queue_writes,
        watermarks=watermarks,
        scheduler=scheduler,
        row_hits=row_hits,
        row_hold=row_hold,
        page=page,
        idle_close=idle_close,
        refresh=refresh,
        config=config,
        overrides=tuple(overrides or ()),
        json=json,
        commands=commands,
        over=tuple(over or ()),
    )
    return memory_command(options)


@memory.command("check")
def memory_check(
    file: Annotated[Path, typer.Argument(help="A file of DRAM commands, plain or compressed.")],
    device: Annotated[str | None, typer.Option(metavar="NAME|FILE", help="The DRAM.", show_default="DDR4_2933")] = None,
    refresh: Annotated[
        str | None, typer.Option(metavar="NAME", help="off: do not miss refreshes.", show_default="all-banks")
    ] = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", metavar="PATH=VALUE", help="Replace a value of the device. Repeatable.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Go on after the first violation and count them.")] = False,
) -> int:
    """Check DRAM commands against the timing rules of a device.

    The checker shares no code with the simulated controller. It tells the first violation with both commands.

    Exit codes: 1 a rule is broken, 2 something given is wrong.
    """
    from hostnet.cli.memory import Options, check_command

    return check_command(file, Options(device=device, refresh=refresh, overrides=tuple(overrides or ())), every=every)

"""The commands of `hostnet memory` and their options."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hostnet._core import ConfigError


class MemoryGroup(TyperGroup):
    """Command group that defaults to `run`, unless the first argument names another command."""

    def parse_args(self, context: Any, arguments: list[str]) -> list[str]:
        """Inserts the name of the default command."""
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

Trace = Annotated[
    Path | None, typer.Argument(help="Trace of Ramulator or DRAMsim3, plain or compressed (gz, xz, zst).")
]
Traffic = Annotated[
    str | None,
    typer.Option(
        metavar="PATTERN",
        help="Access pattern: sequential, random, strN or cstrN.",
        rich_help_panel=TRAFFIC,
        show_default="random",
    ),
]
Reads = Annotated[
    str | None, typer.Option(metavar="SHARE", help="Share of reads.", rich_help_panel=TRAFFIC, show_default="1")
]
Load = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE",
        help="Offered load as a share of the peak.",
        rich_help_panel=TRAFFIC,
        show_default="back to back",
    ),
]
Requests = Annotated[
    str | None,
    typer.Option(metavar="N", help="Number of requests, e.g. 250k.", rich_help_panel=TRAFFIC, show_default="1M"),
]
Seed = Annotated[
    str | None, typer.Option(metavar="N", help="Seed of the random streams.", rich_help_panel=TRAFFIC, show_default="1")
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="Trace format: ramulator, ramulator1 or dramsim3.",
        rich_help_panel=TRAFFIC,
        show_default="detected",
    ),
]
Outstanding = Annotated[
    str | None, typer.Option(metavar="N", help="Maximum number of reads in flight.", rich_help_panel=TRAFFIC)
]
Warmup = Annotated[
    str | None,
    typer.Option(metavar="SHARE", help="Requests that are not measured.", rich_help_panel=TRAFFIC, show_default="10 %"),
]
Device = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|FILE", help="DRAM device of each channel.", rich_help_panel=MEMORY, show_default="DDR4_2933"
    ),
]
Channels = Annotated[
    str | None, typer.Option(metavar="N", help="Number of channels.", rich_help_panel=MEMORY, show_default="1")
]
AddressMap = Annotated[
    str | None,
    typer.Option(
        "--map",
        metavar="MAP",
        help='Address map: A, B, C, intel, an order such as RoBaRaCoCh, or fields such as "bg co ba ra ro".',
        rich_help_panel=MEMORY,
        show_default="A",
    ),
]
Profile = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|FILE", help="Profile: intel or ramulator.", rich_help_panel=CONTROLLER, show_default="intel"
    ),
]
QueueReads = Annotated[str | None, typer.Option(metavar="N", help="Number of RPQ entries.", rich_help_panel=CONTROLLER)]
QueueWrites = Annotated[
    str | None, typer.Option(metavar="N", help="Number of WPQ entries.", rich_help_panel=CONTROLLER)
]
Watermarks = Annotated[
    str | None,
    typer.Option(
        metavar="HIGH,LOW", help="Write-mode watermarks: 0.8,0.2 or entries 26,6.", rich_help_panel=CONTROLLER
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Scheduler: frfcfs-rowhit, frfcfs, frfcfs-cap or fcfs.", rich_help_panel=CONTROLLER
    ),
]
RowHits = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="Maximum number of accesses to a row that other requests wait to close.",
        rich_help_panel=CONTROLLER,
    ),
]
RowHold = Annotated[
    str | None,
    typer.Option(metavar="TIME", help='Longest wait for a row in use, e.g. "400 ns".', rich_help_panel=CONTROLLER),
]
Page = Annotated[
    str | None, typer.Option(metavar="NAME", help="Page policy: open, closed or timeout.", rich_help_panel=CONTROLLER)
]
IdleClose = Annotated[
    str | None, typer.Option(metavar="TIME", help="Idle time of --page timeout.", rich_help_panel=CONTROLLER)
]
Refresh = Annotated[
    str | None, typer.Option(metavar="NAME", help="Refresh: all-banks, same-bank or off.", rich_help_panel=CONTROLLER)
]
Config = Annotated[Path | None, typer.Option(metavar="FILE", help="Configuration of the memory, TOML or JSON.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Override any other value. Repeatable."),
]
Over = Annotated[
    list[str] | None,
    typer.Option("--over", metavar="PATH=VALUES", help="Run for every value and print a row for each. Repeatable."),
]
Json = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]
Commands = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the DRAM commands to FILE; .gz or .zst compresses."),
]


def register(app: typer.Typer) -> None:
    """Registers the commands."""
    app.add_typer(
        memory, name="memory", help="Simulate a memory system without a server, or check a stream of DRAM commands."
    )


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
    """Simulate a memory system without a server.

    Requests come from a description or from a trace. `hostnet memory check FILE` checks the output of --commands.

    Ctrl-C stops the run and prints the results so far; a second one exits at once.

    Exit codes: 2 invalid input, 130 interrupted by Ctrl-C.
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
    file: Annotated[Path, typer.Argument(help="File of DRAM commands, plain or compressed.")],
    device: Annotated[
        str | None, typer.Option(metavar="NAME|FILE", help="DRAM device.", show_default="DDR4_2933")
    ] = None,
    refresh: Annotated[
        str | None, typer.Option(metavar="NAME", help="off: do not require refreshes.", show_default="all-banks")
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Override a value of the device. Repeatable."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Continue after the first violation and count all.")] = False,
) -> int:
    """Check DRAM commands against the timing rules of a device.

    The checker shares no code with the simulated controller. It reports the first violation with both commands.

    Exit codes: 1 a rule is violated, 2 invalid input.
    """
    from hostnet.cli.memory import Options, check_command

    return check_command(file, Options(device=device, refresh=refresh, overrides=tuple(overrides or ())), every=every)

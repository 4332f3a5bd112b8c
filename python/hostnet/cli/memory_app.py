"""The commands of `hostnet memory` and their options."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hostnet._core import ConfigError
from hostnet.cli.declare import command_of, set_option
from hostnet.cli.memory_options import MemoryOptions


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


def register(app: typer.Typer) -> None:
    """Registers the commands."""
    app.add_typer(
        memory, name="memory", help="Simulate a memory system without a server, or check a stream of DRAM commands."
    )


def memory_run(options: MemoryOptions) -> int:
    """Simulate a memory system without a server.

    Requests come from a description or from a trace. `hostnet memory check FILE` checks the output of --commands.

    Ctrl-C stops the run and prints the results so far; a second one exits at once.

    Exit codes: 2 invalid input, 130 interrupted by Ctrl-C.
    """
    from hostnet.cli.memory import memory_command

    return memory_command(options)


memory.command("run")(command_of(MemoryOptions, memory_run))


@memory.command("check")
def memory_check(
    file: Annotated[Path, typer.Argument(help="File of DRAM commands, plain or compressed.")],
    device: Annotated[
        str | None, typer.Option(metavar="NAME|FILE", help="DRAM device.", show_default="DDR4_2933")
    ] = None,
    refresh: Annotated[
        str | None, typer.Option(metavar="NAME", help="off: do not require refreshes.", show_default="all-banks")
    ] = None,
    overrides: Annotated[list[str] | None, set_option("a value of the device")] = None,
    every: Annotated[bool, typer.Option("--all", help="Continue after the first violation and count all.")] = False,
) -> int:
    """Check DRAM commands against the timing rules of a device.

    The checker shares no code with the simulated controller. It reports the first violation with both commands.

    Exit codes: 1 a rule is violated, 2 invalid input.
    """
    from hostnet.cli.memory import check_command

    return check_command(
        file, MemoryOptions(device=device, refresh=refresh, overrides=tuple(overrides or ())), every=every
    )

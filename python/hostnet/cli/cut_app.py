"""The command `hostnet cut`: what each process of `mpirun -n N hostnet run` would do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hostnet._core import Plan

LOOK_S = 1.0
"""For how long the beginning of the run is looked at."""

MEETING = "30 us"
"""Wall time of a meeting of two processes of one machine, as measured with MPICH."""

STOPS = 1700
"""Meetings of a run of any length for its statistics, about."""

RANKS_MAX = 4096
"""The most processes that are told of."""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(cut)


def cut(
    file: Annotated[Path, typer.Argument(help="The configuration, TOML or JSON.")],
    ranks: Annotated[int, typer.Option(metavar="N", help="Processes, as of `mpirun -n N`.")] = 2,
    threads: Annotated[int, typer.Option(metavar="T", help="Threads of each, as of `hostnet run --threads T`.")] = 1,
    meeting: Annotated[
        str, typer.Option(metavar="TIME", help="Wall time of a meeting: what a letter takes between two processes.")
    ] = MEETING,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", metavar="PATH=VALUE", help="Replace a value. Repeatable.")
    ] = None,
) -> int:
    """Tell how a configuration is shared out among processes: partitions, servers, load, and how often they meet."""
    from hostnet._core import ConfigError
    from hostnet.cli.request import THREADS_MAX
    from hostnet.running import simulate
    from hostnet.units import parse_time_ps

    for option, value, most in [("--ranks", ranks, RANKS_MAX), ("--threads", threads, THREADS_MAX)]:
        if not 1 <= value <= most:
            raise ConfigError("out-of-range", f"{option} {value}: must be between 1 and {most}")
    meeting_s = parse_time_ps(meeting, "--meeting") / 1e12
    plan = simulate.resolve(simulate.source_of(file, tuple(overrides or ())))
    _print(plan, ranks, threads, meeting_s)
    return 0


def _print(plan: Plan, ranks: int, threads: int, meeting_s: float) -> None:
    from rich.text import Text

    from hostnet import _core
    from hostnet.cli.show import new_table, page, percent, print_tables
    from hostnet.units import format_time

    partitions, window_ps = _core.shares(plan, ranks, threads)
    total = sum(weight for _, weight, _ in partitions) or 1
    loads = [sum(weight for _, weight, home in partitions if home == rank) for rank in range(ranks)]
    table = new_table("process", "partitions", "share of the work", "servers", left=(3,))
    for rank, load in enumerate(loads):
        own = [name for name, _, home in partitions if home == rank]
        servers = [name for name in own if name is not None]
        listed = ", ".join(servers[:6]) + (f" and {len(servers) - 6} more" if len(servers) > 6 else "")
        table.add_row(str(rank), str(len(own)), percent(load / total), listed or "-")
    expected = _expected(plan, ranks, threads, meeting_s) if window_ps is not None and 0 not in loads else None
    with page() as console:
        shared = f"{_some(len(partitions), 'partition')} in {_some(ranks, 'process')}"
        console.print(Text(f"{plan.name}: {shared}", style="bold"))
        print_tables(console, table)
        console.print(
            f"Balance: at best {total / (max(loads) or 1):.2f} times as fast as one process of as many threads."
        )
        if 0 in loads:
            idle = _some(loads.count(0), "process")
            console.print(f"Nothing to do for {idle}: `hostnet run` refuses so many.")
        if window_ps is not None:
            console.print(f"They meet every {format_time(window_ps)} of simulated time.")
        if expected is not None:
            console.print(expected)


def _some(count: int, what: str) -> str:
    plural = what + ("es" if what.endswith("s") else "s")
    return f"{count} {what if count == 1 else plural}"


def _expected(plan: Plan, ranks: int, threads: int, meeting_s: float) -> str:
    """What the beginning of the run lets one expect."""
    from hostnet import _core
    from hostnet.cli.show import percent
    from hostnet.terminal.progress import Watch
    from hostnet.units import format_time

    with Watch(show=True, keeps=False) as watch:
        simulated_ps, target_ps, meetings, events, slowest, wall_s = _core.forecast(
            plan, ranks, threads, LOOK_S, progress=watch
        )
    if not events:
        return "Nothing happens in the first second of the run: what to expect of it is not known."
    times, crew = target_ps / max(simulated_ps, 1), ranks * threads
    busy = format_time(round(wall_s / crew / meetings * 1e12))
    alone_s, work_s, met = times * wall_s, times * slowest / events * wall_s, times * meetings + STOPS
    apart_s = work_s + met * meeting_s
    speed, waiting = alone_s / apart_s, percent((work_s - alone_s / crew) / apart_s)
    return (
        f"Expected from the first {format_time(simulated_ps)}: {speed:.2f} times as fast as one thread of this "
        f"machine, an efficiency of {percent(speed / crew)}. Between two meetings each of {crew} threads has {busy} of "
        f"work on average; {waiting} of the time is waiting for the one with most to do, "
        f"{percent(met * meeting_s / apart_s)} are {round(met)} meetings. Other programs on the machine make it slower."
    )

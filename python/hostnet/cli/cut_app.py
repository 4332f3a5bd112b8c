"""The command `hostnet cut`: shows the work of each process of `mpirun -n N hostnet run`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hostnet.cli.declare import ConfigurationFile, set_option

if TYPE_CHECKING:
    from hostnet._core import Plan

LOOK_S = 1.0
"""Wall-clock time for which the start of the run is simulated, in s."""

MEETING = "30 us"
"""Wall-clock time of an exchange between two processes of one machine, as measured with MPICH."""

STOP_SIGNALS = 1700
"""Approximate number of exchanges for statistics in a run of any length."""

RANKS_MAX = 4096
"""Maximum number of processes that are shown."""


def register(app: typer.Typer) -> None:
    """Registers the command."""
    app.command()(cut)


def cut(
    file: ConfigurationFile,
    ranks: Annotated[int, typer.Option(metavar="N", help="Number of processes, as in `mpirun -n N`.")] = 2,
    threads: Annotated[
        int, typer.Option(metavar="T", help="Threads per process, as in `hostnet run --threads T`.")
    ] = 1,
    meeting: Annotated[
        str, typer.Option(metavar="TIME", help="Wall-clock time of a message exchange between two processes.")
    ] = MEETING,
    overrides: Annotated[list[str] | None, set_option("a value")] = None,
) -> int:
    """Show how a run is partitioned over processes, and estimate the speed-up."""
    from hostnet.running import simulate
    from hostnet.running.ranges import THREADS_MAX, check_range
    from hostnet.units import parse_time_ps

    for option, value, most in [("--ranks", ranks, RANKS_MAX), ("--threads", threads, THREADS_MAX)]:
        check_range(option, value, most)
    meeting_s = parse_time_ps(meeting, "--meeting") / 1e12
    plan = simulate.resolve(simulate.source_of(file, tuple(overrides or ())))
    _print(plan, ranks, threads, meeting_s)
    return 0


def _print(plan: Plan, ranks: int, threads: int, meeting_s: float) -> None:
    """Prints the partition, its balance and the expected speed-up."""
    from rich.text import Text

    from hostnet import _core
    from hostnet.cli.show import buffered_console, new_table, percent, print_tables
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
    expected = _estimate_speedup(plan, ranks, threads, meeting_s) if window_ps is not None and 0 not in loads else None
    with buffered_console() as console:
        shared = f"{_count_text(len(partitions), 'partition')} in {_count_text(ranks, 'process')}"
        console.print(Text(f"{plan.name}: {shared}", style="bold"))
        print_tables(console, table)
        console.print(
            f"Balance: speed-up of at most {total / (max(loads) or 1):.2f} over one process with the same threads."
        )
        if 0 in loads:
            idle = _count_text(loads.count(0), "process")
            console.print(f"{idle} without a partition: `hostnet run` rejects this many processes.")
        if window_ps is not None:
            console.print(f"Processes synchronize every {format_time(window_ps)} of simulated time.")
        if expected is not None:
            console.print(expected)


def _count_text(count: int, what: str) -> str:
    """Formats a count with its noun."""
    plural = what + ("es" if what.endswith("s") else "s")
    return f"{count} {what if count == 1 else plural}"


def _estimate_speedup(plan: Plan, ranks: int, threads: int, meeting_s: float) -> str:
    """Estimates the speed-up from the start of the run."""
    from hostnet import _core
    from hostnet.cli.show import percent
    from hostnet.terminal.progress import Watch
    from hostnet.units import format_time

    with Watch(show=True, keeps=False) as watch:
        simulated_ps, target_ps, meetings, events, slowest, wall_s = _core.forecast(
            plan, ranks, threads, LOOK_S, progress=watch
        )
    if not events:
        return "No event in the first second of the run: the speed-up cannot be estimated."
    times, crew = target_ps / max(simulated_ps, 1), ranks * threads
    busy = format_time(round(wall_s / crew / meetings * 1e12))
    alone_s, work_s, met = times * wall_s, times * slowest / events * wall_s, times * meetings + STOP_SIGNALS
    apart_s = work_s + met * meeting_s
    speed, waiting = alone_s / apart_s, percent((work_s - alone_s / crew) / apart_s)
    return (
        f"Expected from the first {format_time(simulated_ps)}: a speed-up of {speed:.2f} over one thread of this "
        f"machine, an efficiency of {percent(speed / crew)}. Between two synchronizations, each of {crew} threads has "
        f"{busy} of work on average; {waiting} of the time is spent waiting for the busiest one, and "
        f"{percent(met * meeting_s / apart_s)} on {round(met)} synchronizations. Other load on the machine reduces it."
    )

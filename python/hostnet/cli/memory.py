"""`hostnet memory`: simulates a memory system without a server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hostnet import memory_alone, rundir
from hostnet._core import ConfigError
from hostnet.cli.main import EXIT_FAILED, EXIT_INTERRUPTED
from hostnet.cli.options import resolve_with_options
from hostnet.terminal.progress import Watch
from hostnet.terminal.screen import echo, echo_json

if TYPE_CHECKING:
    from pathlib import Path

    from hostnet._core import CommandCheck, MemoryPlan
    from hostnet.cli.memory_options import MemoryOptions


def memory_command(options: MemoryOptions) -> int:
    """Runs the memory system of the options and returns the exit code."""
    if options.over:
        from hostnet.cli.memory_over import over_command

        return over_command(options)
    plan = resolve_options(options)
    if options.commands is not None:
        check_output(options.commands, plan)
    with Watch(show=True) as watch:
        result = memory_alone.run_plan(plan, commands=options.commands, progress=watch)
    if options.json:
        echo_json(result.to_dict())
    else:
        from hostnet.cli.show_memory import print_memory

        print_memory(result, options.commands if result.complete else None)
    return 0 if result.complete else EXIT_INTERRUPTED


def check_command(file: Path, options: MemoryOptions, *, every: bool) -> int:
    """Checks a command file and returns the exit code: 1 if a rule is violated."""
    plan = resolve_options(options)
    with Watch(show=True) as watch:
        try:
            found = memory_alone.check_file(file, plan, all=every, progress=watch)
        except ConfigError:
            if watch.stopped:
                return EXIT_INTERRUPTED
            raise
    print_check(file, plan, found, every=every)
    return 0 if found.clean else EXIT_FAILED


def print_check(file: Path, plan: MemoryPlan, found: CommandCheck, *, every: bool) -> None:
    """Prints the first violation with its line and both commands, or that there is none."""
    device = json.loads(plan.effective_json())["memory"].get("device") or "the device"
    if found.clean:
        echo(f"{file}: {found.commands} commands up to clock {found.end_clock} keep the rules of {device}")
        return
    echo(f"{file}:{found.line}: {found.message}")
    assert found.pair is not None
    for name, command in zip(("first", "second"), found.pair, strict=True):
        echo(f"  {name:<8}{command}")
    if found.missing_clocks:
        echo(f"  missing {found.missing_clocks}")
    if every:
        echo(f"  {found.commands} commands; violations by rule:")
        for rule, times in found.counts:
            echo(f"    {rule:<16}{times:>12}")


def resolve_options(options: MemoryOptions) -> MemoryPlan:
    """Resolves the options.

    Raises:
        ConfigError: An option is invalid; the message names it.
    """
    options.check()
    return resolve_with_options(
        memory_alone.resolve_settings, list(options.settings()), options.overrides, options.config
    )


def check_output(path: Path, plan: MemoryPlan) -> None:
    """Checks that a command file can be written at `path`.

    Raises:
        ConfigError: `path` is a folder, has no folder, or is the trace itself.
        OSError: Its folder cannot be written.
    """
    if path.is_dir() or not path.parent.is_dir():
        raise ConfigError("file-access", f"--commands {path}: name a file in a folder that exists")
    if plan.trace is not None and path.exists() and path.samefile(plan.trace):
        raise ConfigError("file-access", f"--commands {path}: is the trace itself; name another file")
    rundir.check_file(path)

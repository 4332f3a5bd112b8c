"""`hostnet memory`: the memory system on its own, from the options to the page on the screen."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from hostnet import memory_alone, rundir
from hostnet._core import ConfigError
from hostnet.cli.main import EXIT_FAILED, EXIT_INTERRUPTED
from hostnet.cli.options import Setting, checked, count, cut, nearest, option, seed, share, text
from hostnet.terminal.progress import Watch
from hostnet.terminal.screen import say, say_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostnet._core import CommandCheck, MemoryPlan
    from hostnet.cli.options import Reader
    from hostnet.running.settings import Value

ROW_HITS = 4
"""Accesses to a row under frfcfs-cap unless a limit is given; the cap of DRAMsim3."""

ANY_RULE: dict[str, Value] = {"row_hits": 0, "row_hold": "off"}

SCHEDULERS: dict[str, dict[str, Value]] = {
    "frfcfs-rowhit": {"scheduler": "oldest-ready", "protect": "older-hits", **ANY_RULE},
    "frfcfs": {"scheduler": "oldest-ready", "protect": "nothing", **ANY_RULE},
    "frfcfs-cap": {"scheduler": "column-first", "protect": "all-hits", **ANY_RULE},
    "fcfs": {"scheduler": "fcfs", "protect": "nothing", **ANY_RULE},
}
"""What the names of schedulers mean in keys of the controller."""


@dataclass(frozen=True)
class Options:
    """The options of `hostnet memory` as they were typed."""

    trace: Path | None = None
    format: str | None = None
    traffic: str | None = None
    reads: str | None = None
    load: str | None = None
    requests: str | None = None
    seed: str | None = None
    device: str | None = None
    channels: str | None = None
    map: str | None = None
    profile: str | None = None
    outstanding: str | None = None
    warmup: str | None = None
    queue_reads: str | None = None
    queue_writes: str | None = None
    watermarks: str | None = None
    scheduler: str | None = None
    row_hits: str | None = None
    row_hold: str | None = None
    page: str | None = None
    idle_close: str | None = None
    refresh: str | None = None
    config: Path | None = None
    overrides: tuple[str, ...] = ()
    json: bool = False
    commands: Path | None = None
    over: tuple[str, ...] = ()

    def check(self) -> None:
        """Refuses options that contradict each other.

        Raises:
            ConfigError: Says which, and what would be right.
        """
        if self.trace is not None:
            for name in ("traffic", "reads", "load", "requests", "seed"):
                value = getattr(self, name)
                if value is not None:
                    raise ConfigError(
                        "conflicting-keys",
                        f"--{name} {cut(value)}: describes generated requests; "
                        f"it cannot be given together with the trace {cut(str(self.trace))}",
                    )
        elif self.format is not None:
            raise ConfigError("requires-key", f"--format {cut(self.format)}: is about a trace; name one")

    def settings(self) -> Iterator[Setting]:
        """The keys that the options set, the broad ones before those that refine them.

        Raises:
            ConfigError: An option has no such value.
        """
        yield from self._given("memory.device", "device", text)
        yield from self._given("memory.profile", "profile", text)
        yield from self._given("memory.channels", "channels", count)
        yield from self._given("memory.map", "map", text)
        yield from self._given("trace.path", "trace", self._trace_path)
        yield from self._given("trace.format", "format", text)
        yield from self._given("traffic.pattern", "traffic", text)
        yield from self._given("traffic.reads", "reads", share)
        yield from self._given("traffic.load", "load", share)
        yield from self._given("traffic.requests", "requests", count)
        yield from self._given("traffic.seed", "seed", seed)
        yield from self._given("run.outstanding", "outstanding", count)
        yield from self._given("run.warmup", "warmup", share)
        yield from self._queue("queue_reads", "rpq")
        yield from self._queue("queue_writes", "wpq")
        yield from self._watermarks()
        yield from self._scheduler()
        yield from self._given("memory.controller.row_hits", "row_hits", count)
        yield from self._given("memory.controller.row_hold", "row_hold", text)
        yield from self._given("memory.controller.page", "page", text)
        yield from self._given("memory.controller.idle_close", "idle_close", text)
        yield from self._given("memory.controller.refresh", "refresh", text)

    def _given(self, key: str, name: str, read: Reader) -> Iterator[Setting]:
        value = getattr(self, name)
        if value is not None:
            shown = cut(str(value)) if name == "trace" else f"{option(name)} {cut(str(value))}"
            yield Setting(key, read(value, shown), shown)

    def _trace_path(self, path: Path, shown: str) -> str:
        """Paths in a configuration start from its folder, the one on the command line does not."""
        return text(str(path if self.config is None else path.absolute()), shown)

    def _queue(self, name: str, queue: str) -> Iterator[Setting]:
        """A queue of another size is full when it is full, whatever the profile's counter thought."""
        for entries in self._given(f"memory.controller.{queue}.entries", name, count):
            yield entries
            yield Setting(f"memory.controller.{queue}.full_threshold", entries.value, entries.shown, implied=True)

    def _watermarks(self) -> Iterator[Setting]:
        if self.watermarks is None:
            return
        shown = f"--watermarks {cut(self.watermarks)}"
        marks = [mark.strip() for mark in self.watermarks.split(",")]
        if len(marks) != 2:
            raise ConfigError("malformed-value", f"{shown}: must be two marks, high and low, such as 0.8,0.2 or 26,6")
        for key, mark in zip(("write_high", "write_low"), marks, strict=True):
            yield Setting(f"memory.controller.{key}", watermark(mark, shown), shown)

    def _scheduler(self) -> Iterator[Setting]:
        if self.scheduler is None:
            return
        shown = f"--scheduler {cut(self.scheduler)}"
        if self.scheduler not in SCHEDULERS:
            raise ConfigError("unknown-name", f"{shown}: is not known; {nearest(self.scheduler, list(SCHEDULERS))}")
        keys = dict(SCHEDULERS[self.scheduler])
        if self.scheduler == "frfcfs-cap" and self.row_hits is None and self.row_hold is None:
            keys["row_hits"] = ROW_HITS
        for key, value in keys.items():
            yield Setting(f"memory.controller.{key}", value, shown, implied=key != "scheduler")


def memory_command(options: Options) -> int:
    """Does what the options say and returns the exit code."""
    if options.over:
        from hostnet.cli.memory_over import over_command

        return over_command(options)
    plan = plan_of(options)
    if options.commands is not None:
        check_output(options.commands, plan)
    with Watch(show=True) as watch:
        result = memory_alone.run_plan(plan, commands=options.commands, progress=watch)
    if options.json:
        say_json(result.to_dict())
    else:
        from hostnet.cli.show_memory import print_memory

        print_memory(result, options.commands if result.complete else None)
    return 0 if result.complete else EXIT_INTERRUPTED


def check_command(file: Path, options: Options, *, every: bool) -> int:
    """Checks a command file and returns the exit code: 1 if a rule is broken."""
    plan = plan_of(options)
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
    """Prints the first violation with its line and the two commands, or that there is none."""
    device = json.loads(plan.effective_json())["memory"].get("device") or "the device"
    if found.clean:
        say(f"{file}: {found.commands} commands up to clock {found.end_clock} keep the rules of {device}")
        return
    say(f"{file}:{found.line}: {found.message}")
    assert found.pair is not None
    for name, command in zip(("first", "second"), found.pair, strict=True):
        say(f"  {name:<8}{command}")
    if found.missing_clocks:
        say(f"  missing {found.missing_clocks}")
    if every:
        say(f"  {found.commands} commands; violations by rule:")
        for rule, times in found.counts:
            say(f"    {rule:<16}{times:>12}")


def plan_of(options: Options) -> MemoryPlan:
    """The plan that the options describe.

    Raises:
        ConfigError: Something is wrong; the message names the option.
    """
    options.check()
    return checked(memory_alone.plan_of, list(options.settings()), options.overrides, options.config)


def check_output(path: Path, plan: MemoryPlan) -> None:
    """Makes sure that a command file can be put at `path`.

    Raises:
        ConfigError: It is a folder, in no folder, or the trace itself.
        OSError: Its folder cannot be written.
    """
    if path.is_dir() or not path.parent.is_dir():
        raise ConfigError("file-access", f"--commands {path}: name a file in a folder that exists")
    if plan.trace is not None and path.exists() and path.samefile(plan.trace):
        raise ConfigError("file-access", f"--commands {path}: is the trace itself; name another file")
    rundir.check_file(path)


def watermark(mark: str, shown: str) -> str | int:
    """A mark of a queue: a share of its entries such as 0.8 or 80%, or a number of entries."""
    if re.fullmatch(r"\d{1,9}", mark, re.ASCII):
        return int(mark)
    percent = (Decimal(repr(share(mark, shown))) * 100).normalize()
    return f"{percent:f}%"

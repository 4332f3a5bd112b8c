"""`hostnet memory`: simulates a memory system without a server."""

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
from hostnet.cli.options import (
    Setting,
    name_hint,
    option_name,
    parse_count,
    parse_seed,
    parse_share,
    parse_text,
    resolve_with_options,
    shorten,
)
from hostnet.terminal.progress import Watch
from hostnet.terminal.screen import echo, echo_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostnet._core import CommandCheck, MemoryPlan
    from hostnet.cli.options import Reader
    from hostnet.running.settings import Value

ROW_HITS = 4
"""Default number of accesses to a row under frfcfs-cap; the cap of DRAMsim3."""

ANY_RULE: dict[str, Value] = {"row_hits": 0, "row_hold": "off"}

SCHEDULERS: dict[str, dict[str, Value]] = {
    "frfcfs-rowhit": {"scheduler": "oldest-ready", "protect": "older-hits", **ANY_RULE},
    "frfcfs": {"scheduler": "oldest-ready", "protect": "nothing", **ANY_RULE},
    "frfcfs-cap": {"scheduler": "column-first", "protect": "all-hits", **ANY_RULE},
    "fcfs": {"scheduler": "fcfs", "protect": "nothing", **ANY_RULE},
}
"""Controller keys that each scheduler name stands for."""


@dataclass(frozen=True)
class Options:
    """Options of `hostnet memory` as given."""

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
        """Rejects options that contradict each other.

        Raises:
            ConfigError: There is such an option; the message suggests a remedy.
        """
        if self.trace is not None:
            for name in ("traffic", "reads", "load", "requests", "seed"):
                value = getattr(self, name)
                if value is not None:
                    raise ConfigError(
                        "conflicting-keys",
                        f"--{name} {shorten(value)}: describes generated requests; "
                        f"it cannot be given together with the trace {shorten(str(self.trace))}",
                    )
        elif self.format is not None:
            raise ConfigError("requires-key", f"--format {shorten(self.format)}: is about a trace; name one")

    def settings(self) -> Iterator[Setting]:
        """Yields the settings of the options; general keys come before those that refine them.

        Raises:
            ConfigError: An option has an invalid value.
        """
        yield from self._given("memory.device", "device", parse_text)
        yield from self._given("memory.profile", "profile", parse_text)
        yield from self._given("memory.channels", "channels", parse_count)
        yield from self._given("memory.map", "map", parse_text)
        yield from self._given("trace.path", "trace", self._trace_path)
        yield from self._given("trace.format", "format", parse_text)
        yield from self._given("traffic.pattern", "traffic", parse_text)
        yield from self._given("traffic.reads", "reads", parse_share)
        yield from self._given("traffic.load", "load", parse_share)
        yield from self._given("traffic.requests", "requests", parse_count)
        yield from self._given("traffic.seed", "seed", parse_seed)
        yield from self._given("run.outstanding", "outstanding", parse_count)
        yield from self._given("run.warmup", "warmup", parse_share)
        yield from self._queue("queue_reads", "rpq")
        yield from self._queue("queue_writes", "wpq")
        yield from self._watermarks()
        yield from self._scheduler()
        yield from self._given("memory.controller.row_hits", "row_hits", parse_count)
        yield from self._given("memory.controller.row_hold", "row_hold", parse_text)
        yield from self._given("memory.controller.page", "page", parse_text)
        yield from self._given("memory.controller.idle_close", "idle_close", parse_text)
        yield from self._given("memory.controller.refresh", "refresh", parse_text)

    def _given(self, key: str, name: str, read: Reader) -> Iterator[Setting]:
        """Yields the setting of an option, if given."""
        value = getattr(self, name)
        if value is not None:
            shown = shorten(str(value)) if name == "trace" else f"{option_name(name)} {shorten(str(value))}"
            yield Setting(key, read(value, shown), shown)

    def _trace_path(self, path: Path, shown: str) -> str:
        """Returns an absolute path if there is a configuration, whose paths are relative to its own folder."""
        return parse_text(str(path if self.config is None else path.absolute()), shown)

    def _queue(self, name: str, queue: str) -> Iterator[Setting]:
        """Yields the size of a queue and the threshold at which it counts as full, which follows its size."""
        for entries in self._given(f"memory.controller.{queue}.entries", name, parse_count):
            yield entries
            yield Setting(f"memory.controller.{queue}.full_threshold", entries.value, entries.shown, implied=True)

    def _watermarks(self) -> Iterator[Setting]:
        """Yields the write watermarks."""
        if self.watermarks is None:
            return
        shown = f"--watermarks {shorten(self.watermarks)}"
        marks = [mark.strip() for mark in self.watermarks.split(",")]
        if len(marks) != 2:
            raise ConfigError("malformed-value", f"{shown}: must be two marks, high and low, such as 0.8,0.2 or 26,6")
        for key, mark in zip(("write_high", "write_low"), marks, strict=True):
            yield Setting(f"memory.controller.{key}", parse_watermark(mark, shown), shown)

    def _scheduler(self) -> Iterator[Setting]:
        """Yields the controller keys of a scheduler."""
        if self.scheduler is None:
            return
        shown = f"--scheduler {shorten(self.scheduler)}"
        if self.scheduler not in SCHEDULERS:
            raise ConfigError("unknown-name", f"{shown}: is not known; {name_hint(self.scheduler, list(SCHEDULERS))}")
        keys = dict(SCHEDULERS[self.scheduler])
        if self.scheduler == "frfcfs-cap" and self.row_hits is None and self.row_hold is None:
            keys["row_hits"] = ROW_HITS
        for key, value in keys.items():
            yield Setting(f"memory.controller.{key}", value, shown, implied=key != "scheduler")


def memory_command(options: Options) -> int:
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


def check_command(file: Path, options: Options, *, every: bool) -> int:
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


def resolve_options(options: Options) -> MemoryPlan:
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


def parse_watermark(mark: str, shown: str) -> str | int:
    """Parses a watermark: a share of the entries such as 0.8 or 80%, or a number of entries."""
    if re.fullmatch(r"\d{1,9}", mark, re.ASCII):
        return int(mark)
    percent = (Decimal(repr(parse_share(mark, shown))) * 100).normalize()
    return f"{percent:f}%"

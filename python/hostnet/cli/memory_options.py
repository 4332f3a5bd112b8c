"""Options of `hostnet memory`, with their checks and the settings that they stand for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hostnet._core import ConfigError
from hostnet.cli.declare import RowsOver, json_option, set_option
from hostnet.cli.options import (
    PartOptions,
    Setting,
    name_hint,
    parse_count,
    parse_seed,
    parse_share,
    parse_text,
    shorten,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

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

_traffic_option = partial(typer.Option, rich_help_panel="Requests")
_memory_option = partial(typer.Option, rich_help_panel="Memory")
_controller_option = partial(typer.Option, rich_help_panel="Controller")


@dataclass(frozen=True)
class MemoryOptions(PartOptions):
    """Options of `hostnet memory` as given."""

    trace: Annotated[
        Path | None, typer.Argument(help="Trace of Ramulator or DRAMsim3, plain or compressed (gz, xz, zst).")
    ] = None
    traffic: Annotated[
        str | None,
        _traffic_option(
            metavar="PATTERN", help="Access pattern: sequential, random, strN or cstrN.", show_default="random"
        ),
    ] = None
    reads: Annotated[str | None, _traffic_option(metavar="SHARE", help="Share of reads.", show_default="1")] = None
    load: Annotated[
        str | None,
        _traffic_option(metavar="SHARE", help="Offered load as a share of the peak.", show_default="back to back"),
    ] = None
    requests: Annotated[
        str | None, _traffic_option(metavar="N", help="Number of requests, e.g. 250k.", show_default="1M")
    ] = None
    seed: Annotated[
        str | None,
        _traffic_option(metavar="N", help="Seed of the random streams.", show_default="1"),
    ] = None
    format: Annotated[
        str | None,
        _traffic_option(
            "--format", metavar="NAME", help="Trace format: ramulator, ramulator1 or dramsim3.", show_default="detected"
        ),
    ] = None
    outstanding: Annotated[str | None, _traffic_option(metavar="N", help="Maximum number of reads in flight.")] = None
    warmup: Annotated[
        str | None, _traffic_option(metavar="SHARE", help="Requests that are not measured.", show_default="10 %")
    ] = None
    device: Annotated[
        str | None, _memory_option(metavar="NAME|FILE", help="DRAM device of each channel.", show_default="DDR4_2933")
    ] = None
    channels: Annotated[str | None, _memory_option(metavar="N", help="Number of channels.", show_default="1")] = None
    map: Annotated[
        str | None,
        _memory_option(
            "--map",
            metavar="MAP",
            help='Address map: A, B, C, intel, an order such as RoBaRaCoCh, or fields such as "bg co ba ra ro".',
            show_default="A",
        ),
    ] = None
    profile: Annotated[
        str | None, _controller_option(metavar="NAME|FILE", help="Profile: intel or ramulator.", show_default="intel")
    ] = None
    queue_reads: Annotated[str | None, _controller_option(metavar="N", help="Number of RPQ entries.")] = None
    queue_writes: Annotated[str | None, _controller_option(metavar="N", help="Number of WPQ entries.")] = None
    watermarks: Annotated[
        str | None, _controller_option(metavar="HIGH,LOW", help="Write-mode watermarks: 0.8,0.2 or entries 26,6.")
    ] = None
    scheduler: Annotated[
        str | None, _controller_option(metavar="NAME", help="Scheduler: frfcfs-rowhit, frfcfs, frfcfs-cap or fcfs.")
    ] = None
    row_hits: Annotated[
        str | None,
        _controller_option(metavar="N", help="Maximum number of accesses to a row that other requests wait to close."),
    ] = None
    row_hold: Annotated[
        str | None, _controller_option(metavar="TIME", help='Longest wait for a row in use, e.g. "400 ns".')
    ] = None
    page: Annotated[str | None, _controller_option(metavar="NAME", help="Page policy: open, closed or timeout.")] = None
    idle_close: Annotated[str | None, _controller_option(metavar="TIME", help="Idle time of --page timeout.")] = None
    refresh: Annotated[
        str | None,
        _controller_option(metavar="NAME", help="Refresh: all-banks, same-bank or off."),
    ] = None
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Configuration of the memory, TOML or JSON."),
    ] = None
    overrides: Annotated[tuple[str, ...], set_option("any other value")] = ()
    over: RowsOver = ()
    json: Annotated[bool, json_option()] = False
    commands: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the DRAM commands to FILE; .gz or .zst compresses.")
    ] = None

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


def parse_watermark(mark: str, shown: str) -> str | int:
    """Parses a watermark: a share of the entries such as 0.8 or 80%, or a number of entries."""
    if re.fullmatch(r"\d{1,9}", mark, re.ASCII):
        return int(mark)
    percent = (Decimal(repr(parse_share(mark, shown))) * 100).normalize()
    return f"{percent:f}%"

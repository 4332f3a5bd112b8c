"""The memory system on its own: requests from a description or a trace, and no server around it."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.rundir import scratch_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    Progress = Callable[[dict[str, Any]], bool | None]
    Value = str | int | float | bool

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
"""How a command file is compressed, by the end of its name."""

NO_LATENCY: dict[str, Any] = {"count": 0, "mean_ns": None, "p50_ns": None, "p99_ns": None, "max_ns": None}


@dataclass(frozen=True)
class Latency:
    """A latency of the requests that were measured, in ns. Without requests there are no numbers."""

    count: int
    """Requests."""
    mean_ns: float | None
    """Exact mean."""
    p50_ns: float | None
    """Median; this and the next two to 1/64."""
    p99_ns: float | None
    """99th percentile."""
    max_ns: float | None
    """Largest."""


@dataclass(frozen=True)
class MemoryResult:
    """What a run of the memory alone measured.

    Equal configurations give equal results, bit for bit, except `wall_s`, `cpu_s` and what follows from them.
    """

    native: _core.MemoryRunResult = field(repr=False)
    """The simulator's own results."""
    wall_s: float
    """Seconds that the run took."""
    cpu_s: float
    """Processor seconds of the whole process meanwhile."""

    @property
    def complete(self) -> bool:
        """Whether all requests were served; False if the run was stopped."""
        return self.native.complete

    @property
    def result_hash(self) -> str:
        """Hash over everything that was measured."""
        return self.native.result_hash

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Everything that was measured, and the configuration; docs/memory.md explains every key."""
        summary: dict[str, Any] = json.loads(self.native.summary_json)
        return summary

    @property
    def bandwidth_gb_per_s(self) -> float | None:
        """Requests accepted after the warm-up, times 64 B, over the time between the first and the last of them."""
        rate: float | None = self.summary["bandwidth"]["gb_per_s"]
        return rate

    @property
    def peak_gb_per_s(self) -> float:
        """What the data buses of all channels could carry."""
        return float(self.summary["memory"]["peak_gb_per_s"])

    @property
    def read_latency(self) -> Latency:
        """Of reads, from acceptance by the controller to the last data."""
        return self._latency("read_from_acceptance")

    @property
    def read_latency_from_arrival(self) -> Latency:
        """Of reads, from arrival at the source to the last data; nothing where requests have no time of arrival."""
        return self._latency("read_from_arrival")

    @property
    def write_residence(self) -> Latency:
        """Of writes, the time in the write queue."""
        return self._latency("write_residence")

    @property
    def rows(self) -> dict[str, Any]:
        """Row hits, misses and conflicts, their shares, and activations per request."""
        return dict(self.summary["rows"])

    @property
    def commands(self) -> dict[str, int]:
        """DRAM commands by name."""
        return dict(self.summary["commands"])

    @property
    def channels(self) -> list[dict[str, Any]]:
        """What each channel, or subchannel, did."""
        return list(self.summary["channels"])

    @property
    def requests_per_s(self) -> float:
        """Requests simulated per second of wall time."""
        return self.native.requests / max(self.wall_s, 1e-9)

    @property
    def requests_per_cpu_s(self) -> float:
        """Requests simulated per second of processor time."""
        return self.native.requests / max(self.cpu_s, 1e-9)

    def to_dict(self) -> dict[str, Any]:
        """The summary with the speed of the run, ready for JSON."""
        speed = {
            "wall_s": self.wall_s,
            "cpu_s": self.cpu_s,
            "requests_per_s": self.requests_per_s,
            "requests_per_cpu_s": self.requests_per_cpu_s,
        }
        return {**self.summary, "speed": speed}

    def __repr__(self) -> str:
        """The numbers that are asked for first."""
        shown = [f"{self.native.requests} requests"]
        if self.bandwidth_gb_per_s is not None:
            shown.append(f"{self.bandwidth_gb_per_s:.2f} GB/s")
        if self.read_latency.mean_ns is not None:
            shown.append(f"reads {self.read_latency.mean_ns:.1f} ns")
        if not self.complete:
            shown.append("stopped")
        return f"<MemoryResult {', '.join(shown)}>"

    def _latency(self, name: str) -> Latency:
        return Latency(**(self.summary["latency"][name] or NO_LATENCY))


def memory(
    *,
    device: str | None = None,
    traffic: str | None = None,
    reads: float | None = None,
    load: float | None = None,
    requests: int | None = None,
    seed: int | None = None,
    trace: str | PathLike[str] | None = None,
    trace_format: str | None = None,
    channels: int | None = None,
    profile: str | None = None,
    map: str | None = None,
    outstanding: int | None = None,
    warmup: float | None = None,
    settings: Mapping[str, Value] | None = None,
    commands: str | PathLike[str] | None = None,
    progress: Progress | None = None,
) -> MemoryResult:
    """Runs the memory system on its own.

    What is not given has its default: one channel of DDR4_2933, profile "intel", map "A", a million random reads back
    to back, of which the first tenth is not measured.

    Args:
        device: Name of a DRAM device, or the path of a device file.
        traffic: "sequential", "random", "strN" or "cstrN" (N streams in different banks, in one bank).
        reads: Share of reads, 0 to 1.
        load: Offered load as a share of the peak bandwidth; back to back if not given.
        requests: Number of requests.
        seed: Seed of the random streams.
        trace: Requests from a file instead of a description; plain or compressed.
        trace_format: "ramulator", "ramulator1" or "dramsim3"; told by its first line if not given.
        channels: Channels, any number.
        profile: Name of a controller profile, or the path of a file.
        map: Address map: "A", "B", "C", "intel", an order of fields, or a list of fields.
        outstanding: Reads in flight at most; any number if not given.
        warmup: Share of the requests that are not measured, 0 to 0.9.
        settings: Values of other keys, such as {"memory.controller.wpq.entries": 64}.
        commands: Writes the DRAM commands to this file, compressed if it ends with .gz or .zst. It appears whole or not
            at all.
        progress: Called about ten times a second with a dict of phase, requests, simulated_ps and progress (0 to 1). If
            it returns False, the run stops, its results are not complete, and no command file appears.

    Raises:
        ConfigError: An argument or the trace is wrong.
        OSError: The command file cannot be written.
    """
    values: dict[str, Value | None] = {
        "memory.device": device,
        "memory.channels": channels,
        "memory.profile": profile,
        "memory.map": map,
        "traffic.pattern": traffic,
        "traffic.reads": reads,
        "traffic.load": load,
        "traffic.requests": requests,
        "traffic.seed": seed,
        "trace.path": None if trace is None else os.fspath(trace),
        "trace.format": trace_format,
        "run.outstanding": outstanding,
        "run.warmup": warmup,
    }
    return run_plan(_plan_from({**values, **(settings or {})}), commands=commands, progress=progress)


def check_commands(
    path: str | PathLike[str],
    *,
    device: str | None = None,
    settings: Mapping[str, Value] | None = None,
    all: bool = False,
    progress: Progress | None = None,
) -> _core.CommandCheck:
    """Checks a file of DRAM commands against the timing rules of a device, independently of the simulator's controller.

    Args:
        path: The file, plain or compressed.
        device: Name of a DRAM device, or the path of a device file; DDR4_2933 if not given.
        settings: Values of other keys, such as {"memory.dram.timing.rcd": 20}; with
            {"memory.controller.refresh": "off"} refreshes are not missed.
        all: Whether to go on after the first violation and count them all.
        progress: Called about ten times a second; as for `memory`.

    Raises:
        ConfigError: An argument or the file is wrong; a broken rule is no error, but the result.
        OSError: The file cannot be read.
    """
    return check_file(path, _plan_from({"memory.device": device, **(settings or {})}), all=all, progress=progress)


def setting(key: str, value: Value) -> str:
    """An assignment "key=value" as configurations take it."""
    return f"{key}={json.dumps(value, ensure_ascii=False)}"


def plan_of(overrides: Sequence[str], config: Path | None = None) -> _core.MemoryPlan:
    """Checks settings, on top of a configuration file if there is one.

    Raises:
        ConfigError: Something is wrong.
        OSError: The file cannot be read.
    """
    if config is None:
        return _core.memory_plan(base_dir="", overrides=list(overrides))
    try:
        text = config.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise _core.ConfigError(f"{config}: is not UTF-8 text (byte {error.start})") from None
    form = "json" if config.suffix == ".json" else "toml"
    base_dir = str(config.parent)
    return _core.memory_plan(text, format=form, file=str(config), base_dir=base_dir, overrides=list(overrides))


def run_plan(
    plan: _core.MemoryPlan, *, commands: str | PathLike[str] | None = None, progress: Progress | None = None
) -> MemoryResult:
    """Runs a checked configuration; `memory` without the checks."""
    if commands is None:
        return _timed(lambda: _core.run_memory(plan, progress=progress))
    path = Path(commands)
    compression = COMPRESSIONS.get(path.suffix, "none")
    try:
        with scratch_file(path) as (scratch, keep):
            result = _timed(
                lambda: _core.run_memory(plan, commands=str(scratch), compression=compression, progress=progress)
            )
            if result.complete:
                keep()
    except OSError as error:
        raise _named(error, str(path)) from None
    return result


def check_file(
    path: str | PathLike[str], plan: _core.MemoryPlan, *, all: bool, progress: Progress | None
) -> _core.CommandCheck:
    """Checks a command file against the device of a checked configuration."""
    name = os.fspath(path)
    try:
        return _core.check_commands(name, plan, all=all, progress=progress)
    except OSError as error:
        raise _named(error, name) from None


def _plan_from(values: Mapping[str, Value | None]) -> _core.MemoryPlan:
    """The plan with these values of keys; None is not given."""
    tree: dict[str, Any] = {}
    for path, value in values.items():
        if value is None:
            continue
        *tables, key = path.split(".")
        table = tree
        for name in tables:
            table = table.setdefault(name, {})
            if not isinstance(table, dict):
                raise _core.ConfigError(f"{path}: a part of it is a value, not a table")
        table[key] = value
    return _core.memory_plan(json.dumps(tree), format="json", file="hostnet.memory", base_dir="")


def _named(error: OSError, name: str) -> OSError:
    """The same error with the name of the file."""
    if error.errno is None:
        return OSError(f"{name}: {error}")
    return OSError(error.errno, os.strerror(error.errno), name)


def _timed(run: Callable[[], _core.MemoryRunResult]) -> MemoryResult:
    began_s, began_cpu_s = time.perf_counter(), time.process_time()
    native = run()
    return MemoryResult(native, time.perf_counter() - began_s, time.process_time() - began_cpu_s)

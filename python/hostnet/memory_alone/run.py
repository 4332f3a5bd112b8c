"""Runs a memory system without a server."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from hostnet import _core
from hostnet.files import scratch_file
from hostnet.memory_alone.plan import resolve_values
from hostnet.memory_alone.results import MemoryResult
from hostnet.terminal.progress import follow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike

    from hostnet.running.settings import Value
    from hostnet.terminal.progress import Progress, ProgressArgument

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
"""Compression of a command file, by the suffix of its name."""


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
    progress: ProgressArgument = None,
) -> MemoryResult:
    """Simulates a memory system without a server.

    The defaults are one channel of DDR4_2933, profile "intel", map "A", and a million random reads back to back, of
    which the first tenth is not measured.

    Args:
        device: Name of a DRAM device, or the path of a device file.
        traffic: "sequential", "random", "strN" or "cstrN" (N streams in different banks, or in one bank).
        reads: Share of reads, 0 to 1.
        load: Offered load as a share of the peak bandwidth; back to back by default.
        requests: Number of requests.
        seed: Seed of the random streams.
        trace: File with the requests, plain or compressed, instead of a description.
        trace_format: "ramulator", "ramulator1" or "dramsim3"; by default detected from the first line.
        channels: Number of channels; need not be a power of two.
        profile: Name of a controller profile, or the path of a profile file.
        map: Address map: "A", "B", "C", "intel", an order of fields, or a list of fields.
        outstanding: Most reads in flight; unlimited by default.
        warmup: Share of the requests that are not measured, 0 to 0.9.
        settings: Values of other keys, such as {"memory.controller.wpq.entries": 64}.
        commands: File for the DRAM commands, compressed if its name ends with .gz or .zst. It is written atomically.
        progress: As for `hostnet.run`, with a dict of phase, requests, simulated_ps and progress (0 to 1). If the
            function returns False, the run stops, its results are not complete, and no command file is written.

    Raises:
        ConfigError: An argument or the trace is invalid.
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
    with follow(progress) as callback:
        return run_plan(resolve_values({**values, **(settings or {})}), commands=commands, progress=callback)


def run_plan(
    plan: _core.MemoryPlan, *, commands: str | PathLike[str] | None = None, progress: Progress | None = None
) -> MemoryResult:
    """Runs a resolved configuration."""
    if commands is None:
        return _timed(lambda: _core.run_memory(plan, progress=progress))
    path = Path(commands)
    compression = COMPRESSIONS.get(path.suffix, "none")
    with scratch_file(path) as (scratch, keep):
        result = _timed(
            lambda: _core.run_memory(plan, commands=str(scratch), compression=compression, progress=progress)
        )
        if result.complete:
            keep()
    return result


def with_file_name(error: OSError, name: str) -> OSError:
    """Returns the error with the name of the file."""
    if error.errno is None:
        return OSError(f"{name}: {error}")
    return OSError(error.errno, os.strerror(error.errno), name)


def _timed(run: Callable[[], _core.MemoryRunResult]) -> MemoryResult:
    """Runs a simulation and measures its wall-clock and processor time."""
    began_s, began_cpu_s = time.perf_counter(), time.process_time()
    native = run()
    return MemoryResult(native, time.perf_counter() - began_s, time.process_time() - began_cpu_s)

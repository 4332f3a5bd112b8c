"""Runs a network on a chip without a server."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from hostnet import _core
from hostnet.noc_alone.plan import resolve_values, size_of
from hostnet.noc_alone.results import NocResult
from hostnet.terminal.progress import follow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from hostnet.running.settings import Value
    from hostnet.terminal.progress import Progress, ProgressArgument


def noc(
    *,
    traffic: str | None = None,
    rate: float | None = None,
    packet_flits: int | None = None,
    hotspots: Sequence[int] | None = None,
    seed: int | None = None,
    trace: str | PathLike[str] | None = None,
    topology: str | None = None,
    size: str | None = None,
    routing: str | None = None,
    vcs: int | None = None,
    vc_flits: int | None = None,
    cycles: int | None = None,
    warmup: int | None = None,
    settings: Mapping[str, Value] | None = None,
    progress: ProgressArgument = None,
) -> NocResult:
    """Simulates a network on a chip without a server.

    The defaults are a mesh of 8 by 8 routers with a node each, XY routing, four virtual channels of eight flits,
    uniform traffic of one-flit packets at 0.1 flits per node and cycle, and 20000 cycles after a warm-up of 6000.

    Args:
        traffic: "uniform", "transpose", "bit-complement", "bit-reverse", "shuffle", "tornado", "neighbor" or "hotspot".
        rate: Offered load in flits per node and cycle, up to 1.
        packet_flits: Flits per packet.
        hotspots: Nodes that all nodes send to. Selects traffic "hotspot" unless `traffic` is given.
        seed: Seed of the random streams.
        trace: File with the packets, plain or compressed, instead of a description.
        topology: "mesh" or "ring".
        size: Columns and rows of a mesh such as "8x8", or the nodes of a ring such as "16".
        routing: "xy", "yx" or "o1turn", on a mesh.
        vcs: Virtual channels per input port.
        vc_flits: Buffer depth of a virtual channel, in flits.
        cycles: Measured cycles; with a trace, all of it by default.
        warmup: Cycles before the measurement.
        settings: Values of other keys, such as {"noc.router.allocation": "staged"}.
        progress: As for `hostnet.run`, with a dict of phase, packets, cycles, simulated_ps and progress (0 to 1). If
            the function returns False, the run stops, and its results are not complete.

    Raises:
        ConfigError: An argument or the trace is invalid.
    """
    values: dict[str, Value | None] = {
        "noc.topology": topology,
        "noc.routing": routing,
        "noc.vcs": vcs,
        "noc.vc_flits": vc_flits,
        "traffic.pattern": "hotspot" if traffic is None and hotspots is not None else traffic,
        "traffic.rate": rate,
        "traffic.packet_flits": packet_flits,
        "traffic.hotspots": None if hotspots is None else list(hotspots),
        "traffic.seed": seed,
        "trace.path": None if trace is None else os.fspath(trace),
        "run.warmup": warmup,
        "run.measure": cycles,
    }
    sides = {} if size is None else size_of(size, f"size: {size!r}")
    with follow(progress) as callback:
        return run_plan(resolve_values({**values, **sides, **(settings or {})}), progress=callback)


def run_plan(plan: _core.NocPlan, *, progress: Progress | None = None) -> NocResult:
    """Runs a resolved configuration."""
    began_s, began_cpu_s = time.perf_counter(), time.process_time()
    native = _core.run_noc(plan, progress=progress)
    return NocResult(native, time.perf_counter() - began_s, time.process_time() - began_cpu_s)

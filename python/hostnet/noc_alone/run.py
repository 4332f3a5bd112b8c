"""Runs the network alone."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.noc_alone.plan import plan_from, size_of
from hostnet.noc_alone.results import NocResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from hostnet.running.settings import Value

    Progress = Callable[[dict[str, Any]], bool | None]


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
    progress: Progress | None = None,
) -> NocResult:
    """Runs the network on a chip on its own.

    What is not given has its default: a mesh of 8 by 8 routers with a node each, XY routing, four virtual channels of
    eight flits, uniform packets of one flit at 0.1 flits per node and cycle, 20000 cycles after 6000 of warm-up.

    Args:
        traffic: "uniform", "transpose", "bit-complement", "bit-reverse", "shuffle", "tornado", "neighbor" or "hotspot".
        rate: Offered load in flits per node and cycle, up to 1.
        packet_flits: Flits of a packet.
        hotspots: The nodes that all send to; the traffic is then "hotspot" unless it is given.
        seed: Seed of the random streams.
        trace: Packets from a file instead of a description; plain or compressed.
        topology: "mesh" or "ring".
        size: Columns and rows of a mesh such as "8x8", or the nodes of a ring such as "16".
        routing: "xy", "yx" or "o1turn", on a mesh.
        vcs: Virtual channels of every input port.
        vc_flits: Flits that the buffer of a virtual channel holds.
        cycles: Cycles that are measured; a whole trace if not given.
        warmup: Cycles before.
        settings: Values of other keys, such as {"noc.router.allocation": "staged"}.
        progress: Called about ten times a second with a dict of phase, packets, cycles, simulated_ps and progress (0 to
            1). If it returns False, the run stops, and its results are not complete.

    Raises:
        ConfigError: An argument or the trace is wrong.
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
    return run_plan(plan_from({**values, **sides, **(settings or {})}), progress=progress)


def run_plan(plan: _core.NocPlan, *, progress: Progress | None = None) -> NocResult:
    """Runs a checked configuration; `noc` without the checks."""
    began_s, began_cpu_s = time.perf_counter(), time.process_time()
    native = _core.run_noc(plan, progress=progress)
    return NocResult(native, time.perf_counter() - began_s, time.process_time() - began_cpu_s)

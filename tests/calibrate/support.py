"""Measurements of simulated machines with known parameters."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from hostnet.calibration.measurement import Conditions
from hostnet.calibration.scenario import answer_of, workloads_of
from hostnet.presets import ServerFile
from hostnet.running.engines import evaluate

Ask = tuple[str, Conditions]

RUN = {"seed": 4321, "warmup": "30 us", "duration": "1 ms"}
"""Another seed and another length than those of calibration."""


def measure(server: ServerFile, true: Mapping[str, Any], asks: Sequence[Ask], noise: float, seed: int) -> list[float]:
    """Returns measurements of the machine with relative noise."""
    rng = random.Random(seed)
    plans = [server.configuration(workloads_of(conditions, server), RUN, true) for _, conditions in asks]
    results = evaluate("run", plans, None)
    answers = [answer_of(quantity, result)[0] for (quantity, _), result in zip(asks, results, strict=True)]
    return [answer * rng.gauss(1, noise) for answer in answers]


def general_table(asks: Sequence[Ask], values: Sequence[float]) -> str:
    """Returns the table of measurements."""
    lines = ["quantity,value,unit,cores,reads,rw,bs,iodepth"]
    for (quantity, conditions), value in zip(asks, values, strict=True):
        unit = "ns" if "latency" in quantity else "GB/s"
        io = f"{conditions.rw},{conditions.bs},{conditions.iodepth}" if conditions.rw else ",,"
        cores = conditions.cores or ""
        lines.append(f"{quantity},{value:.4f},{unit},{cores},{100 * conditions.reads:.0f}%,{io}")
    return "\n".join(lines) + "\n"

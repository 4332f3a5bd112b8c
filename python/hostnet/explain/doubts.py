"""Why what is said to limit a workload may be wrong: how far a prediction is off, and what was predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.pools import pool_at
from hostnet.report.numbers import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    Row = Mapping[str, Any]

RUN = "the prediction is {predicted}, the run measured {measured}"
CONFIGURATION = "{predicted} are predicted for this configuration, the counters tell {measured}"
CORES_ALONE = "{predicted} are predicted for these cores without devices, the counters tell {measured}"
"""The numbers of a run, of counters of a known configuration, and of counters of a preset."""

NOT_COVERED = "predictions do not cover this server"
NOT_TOLD = "counters do not tell what it offers"
"""Why nothing is predicted for devices: of a run, and of counters of a preset."""


def with_doubt(row: Row, words: str) -> dict[str, Any]:
    """Returns an explained workload with both numbers where a prediction is far off: its throughput, or its latency."""
    limited: str = row["limited"]
    limits = row.get("limits")
    if limits is None:
        of_devices = words == CORES_ALONE and row["kind"] == "fio"
        return {**row, "limited": limited.replace(NOT_COVERED, NOT_TOLD) if of_devices else limited}
    told = f"the prediction is {limits['predicted_gb_per_s']:.3f} GB/s"
    pairs = [(limits["predicted_gb_per_s"], row["gb_per_s"], "GB/s")]
    latency_ns = (pool_at(row, row["domain"]) or {}).get("latency_ns")
    if row["kind"] == "stream" and latency_ns:
        pairs.append((limits["predicted_latency_ns"], latency_ns, "ns a line"))
    predicted, measured, unit = max(pairs, key=lambda pair: abs(pair[0] / pair[1] - 1) if pair[1] else 0.0)
    numbers = words.format(predicted=f"{number(predicted)} {unit}", measured=number(measured))
    return {**row, "limited": limited.replace(told, numbers)}

"""Reasons to doubt the limit of a workload: how far its prediction is from the measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.pools import find_pool
from hostnet.report.numbers import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    Row = Mapping[str, Any]

RUN = "the prediction is {predicted}, the run measured {measured}"
CONFIGURATION = "{predicted} are predicted for this configuration, the counters show {measured}"
CORES_ALONE = "{predicted} are predicted for these cores without devices, the counters show {measured}"
"""Predicted and measured values: of a run, of counters of a known configuration, and of counters of a preset."""

NOT_COVERED = "predictions do not cover this server"
NOT_MEASURED = "counters do not show its offered load"
"""Reasons why devices are not predicted: for a run, and for counters of a preset."""


def add_doubt(row: Row, words: str) -> dict[str, Any]:
    """Adds the predicted and the measured value to a workload whose prediction is far off.

    The value is the throughput or the latency, whichever deviates more.
    """
    limited: str = row["limited"]
    limits = row.get("limits")
    if limits is None:
        of_devices = words == CORES_ALONE and row["kind"] == "fio"
        return {**row, "limited": limited.replace(NOT_COVERED, NOT_MEASURED) if of_devices else limited}
    prediction = f"the prediction is {limits['predicted_gb_per_s']:.3f} GB/s"
    pairs = [(limits["predicted_gb_per_s"], row["gb_per_s"], "GB/s")]
    latency_ns = (find_pool(row, row["domain"]) or {}).get("latency_ns")
    if row["kind"] == "stream" and latency_ns:
        pairs.append((limits["predicted_latency_ns"], latency_ns, "ns a line"))
    predicted, measured, unit = max(pairs, key=lambda pair: abs(pair[0] / pair[1] - 1) if pair[1] else 0.0)
    numbers = words.format(predicted=f"{number(predicted)} {unit}", measured=number(measured))
    return {**row, "limited": limited.replace(prediction, numbers)}

"""Results in one line, as an interpreter shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.report.numbers import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    Row = Mapping[str, Any]

NAMED_MAX = 4
"""Maximum number of workloads or classes in a line, which counts the others."""


def one_line(kind: str, summary: Row) -> str:
    """Returns the most important results in one line, for `repr`."""
    if "classes" in summary:
        texts = [f"{row['class']} {number(row['goodput_gbps'])} Gbps" for row in summary["classes"]]
    else:
        texts = [f"{row['workload']} {number(row['throughput_gb_per_s'])} GB/s" for row in summary["workloads"]]
    if len(texts) > NAMED_MAX:
        texts = [*texts[:NAMED_MAX], f"{len(texts) - NAMED_MAX} more"]
    return f"<{kind} {summary['name']}{provenance(summary)}: {', '.join(texts)}>"


def provenance(summary: Row) -> str:
    """Describes the engine and seed of a run, and says if it was stopped."""
    how = ", predicted" if summary["engine"] == "predict" else f", seed {summary['seed']}"
    return how if summary["complete"] else f"{how}, stopped"

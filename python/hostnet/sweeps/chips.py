"""Points of a sweep that are chips: their plans, and their stored results."""

from __future__ import annotations

import copyreg
import hashlib
import json
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet._core import ChipPlan
from hostnet.chips import run_chip_plan
from hostnet.running import engines

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostnet._core import Plan
    from hostnet.chips import ChipResults
    from hostnet.running.engines import Progress
    from hostnet.running.results import Results, Source

    AnyPlan = Plan | ChipPlan
    AnyResults = Results | ChipResults
    Outcome = dict[str, Any]
    Types = dict[str, dict[str, str]]

COLUMNS = {
    "op": "string",
    "operations": "uint64",
    "latency_mean_cycles": "float64",
    "latency_p50_cycles": "float64",
    "latency_p99_cycles": "float64",
    "latency_mean_ns": "float64",
    "rrpp_mean_cycles": "float64",
    "application_gb_per_s": "float64",
    "in_gb_per_s": "float64",
    "out_gb_per_s": "float64",
    "noc_gb_per_s": "float64",
    "limited_by": "string",
    "link": "string",
    "link_share": "float64",
    "stable": "bool",
}
"""Columns of a point in sweep.parquet, and their types."""

PARTS = {"part": "string", "title": "string", "mean_cycles": "float64", "mean_ns": "float64", "share": "float64"}
"""Columns of a part of an operation in domains.parquet, and their types."""


def is_chip(source: Source) -> bool:
    """Returns True for the configuration of a chip."""
    return _core.is_chip(source.text, source.format)


def compute(engine: str, plan: AnyPlan, source: Source, progress: Progress | None = None) -> AnyResults:
    """Runs or predicts a plan. Chips cannot be predicted.

    Raises:
        SimulationError: The run failed.
    """
    if isinstance(plan, ChipPlan):
        return run_chip_plan(plan, progress=progress)
    return engines.compute(engine, plan, source, progress)


def chip_outcome(point: int, results: ChipResults) -> Outcome:
    """Returns the stored results of a point, as plain lists."""
    summary = results.summary
    latency, rrpp, limit = (summary[key] or {} for key in ("latency", "rrpp", "limit"))
    row = {
        "op": summary["config"]["workload"]["op"],
        "operations": summary["operations"],
        **{f"latency_{key}": latency.get(key) for key in ("mean_cycles", "p50_cycles", "p99_cycles", "mean_ns")},
        "rrpp_mean_cycles": rrpp.get("mean_cycles"),
        **{key: summary["bandwidth"][key] for key in ("application_gb_per_s", "in_gb_per_s", "out_gb_per_s")},
        "noc_gb_per_s": summary["noc"]["gb_per_s"],
        "limited_by": limit.get("by"),
        "link": limit.get("link"),
        "link_share": limit.get("share"),
        "stable": summary["stable"],
    }
    traffic = [[row[column] for column in COLUMNS]]
    return {
        "point": point,
        "tables": {},
        "influence": hashlib.sha256(json.dumps(traffic).encode()).hexdigest(),
        "seed": summary["seed"],
        "result_hash": results.result_hash,
        "no_effect": [],
        "extras": {},
        "traffic": traffic,
        "domains": [[part[column] for column in PARTS] for part in summary["breakdown"]["parts"]],
        "memory": [],
        "caches": [[]],
    }


def chip_types() -> Types:
    """Returns the columns of the tables and their types."""
    return {"traffic": COLUMNS, "domains": PARTS, "caches": {}, "memory": {}}


def _resolve_again(name: str, effective: str) -> ChipPlan:
    """Resolves the effective configuration of a chip."""
    return _core.chip_plan(effective, format="json", file=f"{name}.json")


def _reduce(plan: ChipPlan) -> tuple[Callable[[str, str], ChipPlan], tuple[str, str]]:
    """Pickles a plan as its configuration."""
    return _resolve_again, (plan.name, plan.effective_json())


copyreg.pickle(ChipPlan, _reduce)

"""What is kept of a point."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostnet.results import Results

    Outcome = dict[str, Any]
    Types = dict[str, dict[str, str]]

MEMORY_COLUMNS = (
    "read_gb_per_s",
    "write_gb_per_s",
    "row_miss_ratio",
    "rpq_mean",
    "wpq_mean",
    "rpq_full_share",
    "wpq_full_share",
    "write_mode_share",
    "bus_busy_share",
)
"""Columns of table channels that go into every row, those of all channels together."""

CACHE_COLUMNS = {
    "l2_miss_ratio": "float64",
    "llc_miss_ratio": "float64",
    "llc_mib_core": "float64",
    "llc_mib_io": "float64",
    "ddio_hit_ratio": "float64",
    "ddio_leak_ratio": "float64",
}
"""Columns of table caches that go into the rows of the workloads, and their types; null without caches."""

TABLES = ("workloads", "domains")
"""Tables of which a sweep keeps the rows."""

EXTRAS = {"regime": "string", "uncertainty_95": "float64", "outside": "string"}
"""Columns that only some engines fill, and their types."""


def headline(manifest: Mapping[str, Any]) -> str:
    """What was swept, in one line."""
    sizes = [f"{len(axis['values'])} x {axis['path']}" for axis in manifest["over"]]
    seeds = [f"{len(manifest['seeds'])} seeds"] if manifest["seeds"] else []
    what = "simulated" if manifest["engine"] == "run" else "predicted"
    return f"{manifest['name']}: {manifest['points']} points {what}: {', '.join([*sizes, *seeds])}"


def outcome_of(point: int, results: Results) -> Outcome:
    """What is kept of a point, as plain lists."""
    summary = results.summary
    memory = next(row for row in summary["channels"] if row["channel"] < 0)
    return {
        "point": point,
        "seed": results.plan.seed,
        "result_hash": results.result_hash,
        "no_effect": summary["no_effect"],
        "memory": [memory[column] for column in MEMORY_COLUMNS],
        "extras": extras_of(summary),
        **{name: _rows(results, name) for name in TABLES},
        "caches": [
            [results.caches.get(name, {}).get(column) for column in CACHE_COLUMNS] for name in results.workloads
        ],
    }


def extras_of(summary: dict[str, Any]) -> dict[str, Any]:
    """What an engine says about a whole point, by column."""
    extras = {}
    if "regime" in summary:
        extras["regime"] = summary["regime"]["name"]
    if "uncertainty" in summary:
        extras["uncertainty_95"] = summary["uncertainty"]["throughput_95"]
        extras["outside"] = "; ".join(summary["uncertainty"]["outside"])
    return extras


def types_of(results: Results) -> Types:
    """The columns of the tables and their types, which are the same for every point."""
    channels = results.native.column_types("channels")
    return {
        **{name: results.native.column_types(name) for name in TABLES},
        "caches": CACHE_COLUMNS,
        "memory": {column: channels[column] for column in MEMORY_COLUMNS},
    }


def influence_of(outcome: Outcome) -> bytes:
    """A hash over what a parameter can have an influence on: what workloads and memory did.

    Domains are left out, for they repeat capacities from the configuration.
    """
    return hashlib.sha256(json.dumps([outcome["workloads"], outcome["memory"]]).encode()).digest()


def _rows(results: Results, name: str) -> list[list[Any]]:
    columns = list(results.native.column_types(name))
    return [[row.get(column) for column in columns] for row in results.summary[name]]

"""What is kept of a point."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from hostnet.chips import ChipResults
from hostnet.power_view import cores_w
from hostnet.sweeps.chips import chip_outcome, chip_types
from hostnet.tables import all_rows, result_tables, table_info

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hostnet.running.results import Results
    from hostnet.sweeps.chips import AnyResults

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

TABLES = ("traffic", "domains")
"""What a sweep keeps the rows of: what moved (workloads, or classes of traffic between hosts), and domains."""

LATENCIES = ("count", "mean_us", "p50_us", "p90_us", "p99_us", "p99_9_us")
"""Columns of table latencies that go into the rows of the classes of traffic."""

OF_POWER = {"cores_w": "float64", "energy_w": "float64"}
"""Power of the cores of all servers, and of everything with an energy model; null if not known."""

OF_EFFICIENCY = {"pj_per_byte": "float64", "nj_per_operation": "float64"}
"""Columns of table efficiency that are added to the rows of workloads; null without energy models."""

ROWS_MAX = 1000
"""Most rows of a table to keep per point; only tables of flows have more."""

OF_JOBS = {
    "iteration_us": "float64",
    "communication_share": "float64",
    "path_host": "string",
    "path_share": "float64",
}
"""Columns of table jobs that go into the rows of their classes, and their types; null of other classes."""

OF_LIMITS = {"limited_by": "limit", "limited_at": "place"}
"""Columns of the rows of classes of traffic, and those of table limits that they have."""

EXTRAS = {"regime": "string", "uncertainty_95": "float64", "outside": "string"}
"""Columns that only some engines fill, and their types."""


def headline(manifest: Mapping[str, Any]) -> str:
    """What was swept, in one line."""
    sizes = [f"{len(axis['values'])} x {axis['path']}" for axis in manifest["over"]]
    seeds = [f"{len(manifest['seeds'])} seeds"] if manifest["seeds"] else []
    what = "simulated" if manifest["engine"] == "run" else "predicted"
    return f"{manifest['name']}: {manifest['points']} points {what}: {', '.join([*sizes, *seeds])}"


def outcome_of(point: int, results: AnyResults) -> Outcome:
    """What is kept of a point, as plain lists."""
    if isinstance(results, ChipResults):
        return chip_outcome(point, results)
    types = types_of(results)
    rows = _of_hosts(results) if results.plan.is_cluster else _of_server(results)
    return {
        "point": point,
        "seed": results.plan.seed,
        "result_hash": results.result_hash,
        "no_effect": [*results.summary.get("no_effect", []), *results.summary.get("never_met", [])],
        "extras": extras_of(results.summary),
        "tables": tables_of(results),
        "influence": _influence(results, rows),
        **rows,
        **{name: [[row.get(column) for column in types[name]] for row in rows[name]] for name in TABLES},
    }


def _of_server(results: Results) -> dict[str, Any]:
    summary = results.summary
    memory = next(row for row in summary["channels"] if row["channel"] < 0)
    more = _of_energy(summary)
    return {
        "traffic": [{**row, **more(row["workload"])} for row in summary["workloads"]],
        "domains": summary["domains"],
        "memory": [memory[column] for column in MEMORY_COLUMNS],
        "caches": [
            [results.caches.get(name, {}).get(column) for column in CACHE_COLUMNS] for name in results.workloads
        ],
    }


def _of_hosts(results: Results) -> dict[str, Any]:
    summary = results.summary
    latencies = {row["class"]: row for row in summary["latencies"]}
    more = _of_energy(summary)
    jobs = {row["job"]: {column: row[column] for column in OF_JOBS} for row in summary.get("jobs", ())}
    limits = {row["class"]: {column: row[of] for column, of in OF_LIMITS.items()} for row in summary.get("limits", ())}

    def of(row: dict[str, Any]) -> dict[str, Any]:
        name = row["class"]
        return {**latencies.get(name, {}), **row, **more(name), **jobs.get(name, {}), **limits.get(name, {})}

    traffic = [of(row) for row in summary["classes"]]
    servers = results.servers.items()
    domains = [{"host": host, **row} for host, server in servers for row in server.summary["domains"]]
    return {"traffic": traffic, "domains": domains, "memory": [], "caches": [[] for _ in traffic]}


def _of_energy(summary: Mapping[str, Any]) -> Callable[[str], dict[str, Any]]:
    """Returns the additions to the row of a name: power, which all share, and energy per unit of its work."""
    watts = [row["power_w"] for row in summary.get("energy", ()) if row["part"] == "all"]
    power = {"cores_w": cores_w(summary.get("power", ())), "energy_w": sum(watts) if watts else None}
    done = {row["name"]: {column: row[column] for column in OF_EFFICIENCY} for row in summary.get("efficiency", ())}
    return lambda name: {**power, **done.get(name, {})}


def tables_of(results: Results) -> dict[str, Any]:
    """Returns the tables of results by name: columns with types, rows, and the number of rows left out."""
    found = {}
    for name in result_tables():
        if name in results.table_names and (rows := results.rows(name)):
            types = results.native.column_types(name)
            kept = [[row[column] for column in types] for row in rows[:ROWS_MAX]]
            found[name] = {"types": types, "rows": kept, "left_out": len(rows) - len(kept)}
    return found


def _influence(results: Results, rows: Mapping[str, Any]) -> str:
    """Hashes all that a parameter can influence: the results, without columns that repeat the configuration."""
    tables = [rows["traffic"], rows["memory"]]
    for name in result_tables():
        given = set(table_info()[name]["given"])
        own = all_rows(name, results.summary, results.rows(name))
        tables.append([{column: value for column, value in row.items() if column not in given} for row in own])
    return hashlib.sha256(json.dumps(tables).encode()).hexdigest()


def extras_of(summary: dict[str, Any]) -> dict[str, Any]:
    """What an engine says about a whole point, by column."""
    extras = {}
    if "regime" in summary:
        extras["regime"] = summary["regime"]["name"]
    if "uncertainty" in summary:
        extras["uncertainty_95"] = summary["uncertainty"]["throughput_95"]
        extras["outside"] = "; ".join(summary["uncertainty"]["outside"])
    return extras


def types_of(results: AnyResults) -> Types:
    """The columns of the tables and their types, which are the same for every point."""
    if isinstance(results, ChipResults):
        return chip_types()
    types = results.native.column_types
    if results.plan.is_cluster:
        latencies = types("latencies")
        of_limits = dict.fromkeys(OF_LIMITS, "string")
        of_latencies = {column: latencies[column] for column in LATENCIES}
        traffic = {**types("classes"), **of_latencies, **OF_POWER, **OF_EFFICIENCY, **OF_JOBS, **of_limits}
        return {"traffic": traffic, "domains": types("domains"), "caches": {}, "memory": {}}
    channels = types("channels")
    return {
        "traffic": {**types("workloads"), **OF_POWER, **OF_EFFICIENCY},
        "domains": types("domains"),
        "caches": CACHE_COLUMNS,
        "memory": {column: channels[column] for column in MEMORY_COLUMNS},
    }

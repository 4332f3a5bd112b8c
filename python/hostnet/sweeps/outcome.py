"""Stored results of a point."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from hostnet.chips import ChipResults
from hostnet.power_view import cores_w
from hostnet.running.skipped import skipped_share
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
"""Columns of the table `channels` that are added to every row, as totals of all channels."""

CACHE_COLUMNS = {
    "l2_miss_ratio": "float64",
    "llc_miss_ratio": "float64",
    "llc_mib_core": "float64",
    "llc_mib_io": "float64",
    "ddio_hit_ratio": "float64",
    "ddio_leak_ratio": "float64",
}
"""Columns of the table `caches` that are added to the rows of workloads, and their types; null without caches."""

TABLES = ("traffic", "domains")
"""Tables whose rows a sweep stores: traffic (workloads, or traffic classes between hosts) and domains."""

LATENCIES = ("count", "mean_us", "p50_us", "p90_us", "p99_us", "p99_9_us")
"""Columns of the table `latencies` that are added to the rows of traffic classes."""

POWER_COLUMNS = {"cores_w": "float64", "energy_w": "float64"}
"""Power of the cores of all servers, and of everything with an energy model; null if unknown."""

EFFICIENCY_COLUMNS = {"pj_per_byte": "float64", "nj_per_operation": "float64"}
"""Columns of the table `efficiency` that are added to the rows of workloads; null without energy models."""

ROWS_MAX = 1000
"""Maximum number of rows of a table that are stored per point; only tables of flows have more."""

JOB_COLUMNS = {
    "iteration_us": "float64",
    "communication_share": "float64",
    "path_host": "string",
    "path_share": "float64",
}
"""Columns of the table `jobs` that are added to the rows of their classes, and their types; null for other classes."""

LIMIT_COLUMNS = {"limited_by": "limit", "limited_at": "place"}
"""Columns of the rows of traffic classes, and the columns of the table `limits` that they come from."""

EXTRAS = {"regime": "string", "uncertainty_95": "float64", "outside": "string"}
"""Columns that only some engines fill, and their types."""


def headline(manifest: Mapping[str, Any]) -> str:
    """Describes a sweep in one line."""
    sizes = [f"{len(axis['values'])} x {axis['path']}" for axis in manifest["over"]]
    seeds = [f"{len(manifest['seeds'])} seeds"] if manifest["seeds"] else []
    what = "simulated" if manifest["engine"] == "run" else "predicted"
    return f"{manifest['name']}: {manifest['points']} points {what}: {', '.join([*sizes, *seeds])}"


def outcome_of(point: int, results: AnyResults) -> Outcome:
    """Returns the stored results of a point, as plain lists."""
    if isinstance(results, ChipResults):
        return chip_outcome(point, results)
    types = types_of(results)
    rows = _cluster_rows(results) if results.plan.is_cluster else _server_rows(results)
    return {
        "point": point,
        "seed": results.plan.seed,
        "result_hash": results.result_hash,
        "no_effect": [*results.summary.get("no_effect", []), *results.summary.get("never_met", [])],
        "extras": extras_of(results.summary),
        "skipped_share": skipped_share(results.summary),
        "tables": tables_of(results),
        "influence": _influence(results, rows),
        **rows,
        **{name: [[row.get(column) for column in types[name]] for row in rows[name]] for name in TABLES},
    }


def _server_rows(results: Results) -> dict[str, Any]:
    """Returns the rows of a server."""
    summary = results.summary
    memory = next(row for row in summary["channels"] if row["channel"] < 0)
    more = _energy_columns(summary)
    return {
        "traffic": [{**row, **more(row["workload"])} for row in summary["workloads"]],
        "domains": summary["domains"],
        "memory": [memory[column] for column in MEMORY_COLUMNS],
        "caches": [
            [results.caches.get(name, {}).get(column) for column in CACHE_COLUMNS] for name in results.workloads
        ],
    }


def _cluster_rows(results: Results) -> dict[str, Any]:
    """Returns the rows of hosts on a network."""
    summary = results.summary
    latencies = {row["class"]: row for row in summary["latencies"]}
    more = _energy_columns(summary)
    jobs = {row["job"]: {column: row[column] for column in JOB_COLUMNS} for row in summary.get("jobs", ())}
    limits = {
        row["class"]: {column: row[of] for column, of in LIMIT_COLUMNS.items()} for row in summary.get("limits", ())
    }

    def of(row: dict[str, Any]) -> dict[str, Any]:
        name = row["class"]
        return {**latencies.get(name, {}), **row, **more(name), **jobs.get(name, {}), **limits.get(name, {})}

    traffic = [of(row) for row in summary["classes"]]
    servers = results.servers.items()
    domains = [{"host": host, **row} for host, server in servers for row in server.summary["domains"]]
    return {"traffic": traffic, "domains": domains, "memory": [], "caches": [[] for _ in traffic]}


def _energy_columns(summary: Mapping[str, Any]) -> Callable[[str], dict[str, Any]]:
    """Returns the additions to the row of a name: total power, and energy per unit of its work."""
    watts = [row["power_w"] for row in summary.get("energy", ()) if row["part"] == "all"]
    power = {"cores_w": cores_w(summary.get("power", ())), "energy_w": sum(watts) if watts else None}
    done = {
        row["name"]: {column: row[column] for column in EFFICIENCY_COLUMNS} for row in summary.get("efficiency", ())
    }
    return lambda name: {**power, **done.get(name, {})}


def tables_of(results: Results) -> dict[str, Any]:
    """Returns the result tables by name: columns with types, rows, and the number of omitted rows."""
    found = {}
    for name in result_tables():
        if name in results.table_names and (rows := results.rows(name)):
            types = results.native.column_types(name)
            kept = [[row[column] for column in types] for row in rows[:ROWS_MAX]]
            found[name] = {"types": types, "rows": kept, "left_out": len(rows) - len(kept)}
    return found


def _influence(results: Results, rows: Mapping[str, Any]) -> str:
    """Hashes everything that a parameter can influence: the results, without columns that repeat the configuration."""
    tables = [rows["traffic"], rows["memory"]]
    for name in result_tables():
        given = set(table_info()[name]["given"])
        own = all_rows(name, results.summary, results.rows(name))
        tables.append([{column: value for column, value in row.items() if column not in given} for row in own])
    return hashlib.sha256(json.dumps(tables).encode()).hexdigest()


def extras_of(summary: dict[str, Any]) -> dict[str, Any]:
    """Returns the values that an engine has for a whole point, by column."""
    extras = {}
    if "regime" in summary:
        extras["regime"] = summary["regime"]["name"]
    if "uncertainty" in summary:
        extras["uncertainty_95"] = summary["uncertainty"]["throughput_95"]
        extras["outside"] = "; ".join(summary["uncertainty"]["outside"])
    return extras


def types_of(results: AnyResults) -> Types:
    """Returns the columns of the tables and their types, which are equal for all points."""
    if isinstance(results, ChipResults):
        return chip_types()
    types = results.native.column_types
    if results.plan.is_cluster:
        latencies = types("latencies")
        of_limits = dict.fromkeys(LIMIT_COLUMNS, "string")
        of_latencies = {column: latencies[column] for column in LATENCIES}
        traffic = {
            **types("classes"),
            **of_latencies,
            **POWER_COLUMNS,
            **EFFICIENCY_COLUMNS,
            **JOB_COLUMNS,
            **of_limits,
        }
        return {"traffic": traffic, "domains": types("domains"), "caches": {}, "memory": {}}
    channels = types("channels")
    return {
        "traffic": {**types("workloads"), **POWER_COLUMNS, **EFFICIENCY_COLUMNS},
        "domains": types("domains"),
        "caches": CACHE_COLUMNS,
        "memory": {column: channels[column] for column in MEMORY_COLUMNS},
    }

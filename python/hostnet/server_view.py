"""Tables of a server: their rows, chosen once for the screen and for the page of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from hostnet.glossary import column_meaning
from hostnet.pools import fold_idle_links, fold_idle_pools, nonzero_sources, partial_pool_rows, rows_by_place
from hostnet.server_columns import (
    APPLICATIONS,
    CACHES,
    CHANNELS,
    DDIO,
    DOMAINS,
    LINKS,
    LLC,
    MESH,
    REQUESTS,
    TEXTS,
    WORKLOADS,
    Column,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Row = dict[str, Any]

MESH_ROWS_MAX = 12
"""Maximum number of legs over a mesh on the screen: those with most messages."""

CHANNELS_MAX = 8
"""Maximum number of rows of channels that are all shown."""

ALIKE, ALIKE_MIN = 0.15, 3
"""Largest relative difference between the rates of channels that share a row, and their least number."""


@dataclass(frozen=True)
class ServerTable:
    """A table of a server. `source` names the result table that defines its columns."""

    title: str
    source: str
    columns: tuple[Column, ...]
    rows: Sequence[Row]
    screen_rows: Sequence[Row] | None = None
    """Rows on the screen, if they are fewer. An `idle` row stands for several of which nothing was used."""
    idle_index: int = 1
    """Index of the column on the screen that says "idle" in such a row."""

    def definition(self, column: Column) -> str | None:
        """Returns the definition of a column."""
        return column.about or column_meaning(self.source, column.key)

    def filled(self, column: Column) -> bool:
        """Returns True if any row has a value of a column, or all are idle; other columns are not shown."""
        has_value = any(row.get(column.key) not in (None, "") for row in self.rows)
        return has_value or all(row.get("idle") for row in self.rows)


TABLES = {
    title: ServerTable(title, source, columns, ())
    for title, source, columns in (
        ("Workloads", "workloads", WORKLOADS),
        ("I/O requests", "workloads", REQUESTS),
        ("Applications", "workloads", APPLICATIONS),
        ("Caches", "caches", CACHES),
        ("DDIO", "caches", DDIO),
        ("LLC", "caches", LLC),
        ("Domains", "domains", DOMAINS),
        ("Memory channels", "channels", CHANNELS),
        ("UPI", "upi", LINKS),
        ("Ways", "mesh_ways", MESH),
    )
}
"""Every table, by title and without rows."""


def _table(title: str, rows: Sequence[Row], screen_rows: Sequence[Row] | None = None) -> ServerTable:
    """Returns a table with its rows."""
    return replace(TABLES[title], rows=rows, screen_rows=screen_rows)


def workload_tables(summary: Mapping[str, Any]) -> list[ServerTable]:
    """Returns the tables of workloads, of their storage I/O and of their applications; the latter two only if any."""
    rows = summary.get("workloads") or []
    requests = [row for row in rows if row.get("io_completed") is not None]
    applications = [row for row in rows if row.get("operations_per_s") is not None]
    more = [
        _table("I/O requests", requests),
        _table("Applications", applications),
    ]
    return [_table("Workloads", rows), *(table for table in more if table.rows)]


def cache_tables(summary: Mapping[str, Any]) -> list[ServerTable]:
    """Returns the tables of cache accesses of cores and of devices, and of the LLC of each of several sockets."""
    caches, llc = summary.get("caches") or [], summary.get("llc") or {}
    sockets = llc.get("sockets") or []
    # With several sockets, the total capacity of the LLCs says nothing about the one that is full.
    whole = {} if sockets else llc
    shown = [cache_row(row) for row in caches if row["workload"] != "all" or len(caches) > 2]
    cores = [row for row in shown if row["l2_lookups"] or row["workload"] == "all"] or shown[:1]
    devices = [row for row in shown if row["ddio_hit_ratio"] is not None or row["io_reads"]]
    for rows, key, size in ((cores, "llc_mib", whole.get("mib")), (devices, "ddio_mib", whole.get("ddio_mib"))):
        # The first row is the whole server, or its only workload.
        rows[:1] = [{**row, key: size} for row in rows[:1]]
    tables = [_table("Caches", cores), _table("DDIO", devices)]
    return [table for table in (*tables, _table("LLC", list(llc_rows(sockets)))) if table.rows]


def cache_row(row: Row) -> Row:
    """Returns a row of `caches` with the shares and sums that the table shows."""
    lookups, filled, reads = row["l2_lookups"], row["prefetch_filled"], row["io_reads"]
    return {
        **row,
        "prefetched_share": filled / lookups if lookups else None,
        # Above 1 if lines that were prefetched during the warm-up are used in the window.
        "used_share": row["prefetch_used"] / filled if filled else None,
        "held_mib": row["llc_mib_core"] + row["llc_mib_io"],
        "written": row["ddio_updates"] + row["ddio_allocations"],
        "read_hit_share": row["io_read_hits"] / reads if reads else None,
    }


def llc_rows(sockets: Sequence[Row]) -> Iterator[Row]:
    """Yields the occupancy and the misses of the LLC of each socket."""
    for index, row in enumerate(sockets):
        misses = row["misses"] / row["lookups"] if row["lookups"] else None
        yield {**row, "socket": index, "name": f"socket {index}", "miss_ratio": misses}


def domain_table(summary: Mapping[str, Any]) -> ServerTable:
    """Returns the table of credits, latency and throughput by domain, with a row per place."""
    rows = [*rows_by_place(summary), *partial_pool_rows(summary)]
    return _table("Domains", list(fold_idle_pools(row for row in rows if row["workload"] == "all")))


def channel_table(summary: Mapping[str, Any]) -> ServerTable:
    """Returns the table of memory channels and their total; with several sockets, the total of each."""
    rows = [channel_row(row) for row in summary.get("channels") or ()]
    channels = sorted((row for row in rows if row["channel"] >= 0), key=lambda row: int(row["channel"]))
    # A mean over sockets without traffic says nothing about the one that is busy.
    totals = socket_rows(summary) or [row for row in rows if row["channel"] < 0]
    busy = fold_alike_channels(list(fold_idle_channels(channels)))
    return replace(_table("Memory channels", [*channels, *totals], [*busy, *totals]), idle_index=-1)


def socket_rows(summary: Mapping[str, Any]) -> list[Row]:
    """Returns the channels of each socket together; empty if there is only one."""
    rows = summary.get("channels_of_sockets") or ()
    return [{**channel_row(row), "name": f"socket {row['socket']}", "idle": is_idle(row)} for row in rows]


def total_table(summary: Mapping[str, Any]) -> ServerTable:
    """Returns the table of the total of the memory channels."""
    rows = [channel_row(row) for row in summary.get("channels") or () if row["channel"] < 0]
    return _table("Memory channels", rows)


def channel_row(row: Row) -> Row:
    """Returns a row of `channels` with its name, and without sources of no traffic."""
    channel = row.get("channel", -1)
    return {
        **row,
        "name": "all" if channel < 0 else str(channel),
        "sources": nonzero_sources(row.get("sources") or "") or None,
    }


def is_idle(row: Row) -> bool:
    """Returns True if the channels of a row moved nothing."""
    return not row["read_gb_per_s"] and not row["write_gb_per_s"]


def fold_idle_channels(rows: Sequence[Row]) -> Iterator[Row]:
    """Yields the rows of channels in order; adjacent idle channels share an `idle` row."""
    for idle, group in groupby(rows, key=is_idle):
        own = list(group)
        if idle:
            first, last = own[0]["name"], own[-1]["name"]
            yield {"name": first if first == last else f"{first}-{last}", "idle": True}
        else:
            yield from own


def fold_alike_channels(rows: Sequence[Row]) -> Iterator[Row]:
    """Yields the rows of channels in order; if there are many, adjacent ones that are alike share a row of means."""
    if len(rows) <= CHANNELS_MAX:
        yield from rows
        return
    group: list[Row] = []
    for row in rows:
        if group and not _is_alike(group[0], row):
            yield from _merged_channels(group)
            group = []
        group.append(row)
    yield from _merged_channels(group)


def _is_alike(first: Row, row: Row) -> bool:
    """Returns True if two busy channels of a socket read and write at about the same rates."""
    if first.get("idle") or row.get("idle") or first.get("socket") != row.get("socket"):
        return False
    rates = ("read_gb_per_s", "write_gb_per_s")
    return all(abs(row[rate] - first[rate]) <= ALIKE * max(row[rate], first[rate]) for rate in rates)


def _merged_channels(group: Sequence[Row]) -> Iterator[Row]:
    """Yields the rows of a group, or a single row of their means if there are at least three."""
    if len(group) < ALIKE_MIN:
        yield from group
        return
    means = {}
    for key in (column.key for column in CHANNELS if column.format not in TEXTS):
        known = [row[key] for row in group if row.get(key) is not None]
        means[key] = sum(known) / len(known) if known else None
    name = f"{group[0]['name']}-{group[-1]['name']}, mean"
    yield {**group[0], **means, "name": name, "channel": None, "row_miss_ci95": None, "sources": None}


def link_table(summary: Mapping[str, Any]) -> ServerTable:
    """Returns the table of UPI traffic by direction."""
    return _table("UPI", list(fold_idle_links(summary.get("upi") or ())))


def mesh_table(summary: Mapping[str, Any]) -> ServerTable:
    """Returns the table of the distances and waiting times of messages on the mesh, by workload."""
    ways = summary.get("mesh_ways") or []
    several = len({row["socket"] for row in ways}) > 1
    rows = [
        {**row, "whose": f"{row['workload']}, socket {row['socket']}" if several else row["workload"]} for row in ways
    ]
    return _table("Ways", rows, sorted(rows, key=lambda row: -row["messages"])[:MESH_ROWS_MAX])

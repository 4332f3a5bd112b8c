"""Tables of a server: their columns and rows, described once for the screen and for the page of a run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from itertools import groupby
from typing import TYPE_CHECKING, Any

from hostnet.pools import fold_idle_links, fold_idle_pools, nonzero_sources, partial_pool_rows, rows_by_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Row = dict[str, Any]

ACTIVATIONS = "ACTs/read"
"""Heading of the row miss ratio: activations per read exceed 1 if rows are closed before they are read."""

MESH_ROWS_MAX = 12
"""Maximum number of legs over a mesh on the screen: those with most messages."""


class Format(Enum):
    """Content of a column. The screen and the page each have a function that shows it."""

    TEXT = auto()
    DOMAIN = auto()
    """Domain with its place; on the page, also the domain whose credits it shares."""
    NUMBER = auto()
    """Number; on the page with its confidence interval, if it has one."""
    INTERVAL = auto()
    """Number with its confidence interval."""
    LARGE = auto()
    """Number with its confidence interval and with thousands separators."""
    COUNT = auto()
    EXACT = auto()
    """Number with two digits after the decimal point on the screen."""
    SHARE = auto()
    BUSY = auto()
    """Share of time; on the page with a bar."""
    MICROSECONDS = auto()
    """Time in ns, shown in us."""
    SECONDS = auto()
    OF = auto()
    """Number beside its maximum, which is in the column `whole`; on the page, credits in use have a bar."""


TEXTS = (Format.TEXT, Format.DOMAIN)
"""Formats of text. Other columns are aligned to the right."""


@dataclass(frozen=True)
class Column:
    """A column: the key of its values, and its headings on the screen and on the page; None where it is not shown."""

    key: str
    format: Format
    screen: str | None
    page: str | None
    ci95: str | None = None
    """Key of the half-width of the confidence interval."""
    whole: str | None = None
    """Key of the maximum."""
    copied: tuple[str, ...] | None = None
    """Columns of the file that a copy of the page has; those of the value and its interval if None."""
    style: str | None = None
    """Class of the text on the page, which lets it wrap."""
    missing: str = ""
    """Text on the screen where there is none."""
    minor: bool = False
    """True if the page omits the column in print."""


@dataclass(frozen=True)
class ServerTable:
    """A table of a server."""

    title: str
    columns: tuple[Column, ...]
    rows: Sequence[Row]
    screen_rows: Sequence[Row] | None = None
    """Rows on the screen, if they are fewer. An `idle` row stands for several of which nothing was used."""
    idle_index: int = 1
    """Index of the column on the screen that says "idle" in such a row."""

    def filled(self, column: Column) -> bool:
        """Returns True if any row has a value of a column, or all are idle; other columns are not shown."""
        has_value = any(row.get(column.key) not in (None, "") for row in self.rows)
        return has_value or all(row.get("idle") for row in self.rows)


WORKLOADS = (
    Column("workload", Format.TEXT, "workload", "Workload", style="name"),
    Column("throughput_gb_per_s", Format.INTERVAL, "GB/s", "Throughput GB/s", ci95="throughput_ci95"),
    Column("read_gb_per_s", Format.NUMBER, "DRAM read", "DRAM read GB/s"),
    Column("write_gb_per_s", Format.NUMBER, "write", "DRAM write GB/s"),
    Column("latency_mean_ns", Format.INTERVAL, "latency ns", "Latency ns", ci95="latency_ci95"),
    Column("latency_p50_ns", Format.NUMBER, "P50", "P50 ns"),
    Column("latency_p99_ns", Format.NUMBER, "P99", "P99 ns"),
    Column("lines", Format.NUMBER, None, "Lines", minor=True),
    Column("limited_by", Format.TEXT, "limited by", "Limited by", missing="-"),
)

REQUESTS = (
    Column("workload", Format.TEXT, "storage I/O", "I/O requests", style="name"),
    Column("app_gb_per_s", Format.NUMBER, "GB/s", "Rate GB/s"),
    Column("io_completed", Format.COUNT, "completed", "Completed"),
    Column("io_latency_mean_ns", Format.MICROSECONDS, "latency us", "Mean latency µs"),
    Column("io_latency_p50_ns", Format.MICROSECONDS, "P50", "P50 µs"),
    Column("io_latency_p99_ns", Format.MICROSECONDS, "P99", "P99 µs"),
)

APPLICATIONS = (
    Column("workload", Format.TEXT, "application", "Applications", style="name"),
    Column("operations_per_s", Format.LARGE, "operations/s", "Operations per s", ci95="operations_ci95"),
    Column("operations", Format.COUNT, None, "Completed"),
    Column("operation_latency_mean_ns", Format.MICROSECONDS, "latency us", "Mean latency µs"),
    Column("operation_latency_p50_ns", Format.MICROSECONDS, "P50", "P50 µs"),
    Column("operation_latency_p99_ns", Format.MICROSECONDS, "P99", "P99 µs"),
    Column("execution_time_s", Format.SECONDS, "execution time", "Execution time s"),
)

CACHES = (
    Column("workload", Format.TEXT, "caches", "Caches", style="name"),
    Column("l2_miss_ratio", Format.SHARE, "L2 misses", "L2 misses"),
    Column("prefetched_share", Format.SHARE, "prefetched", "Prefetched", copied=()),
    Column("used_share", Format.SHARE, "used", "Used", copied=()),
    Column("llc_miss_ratio", Format.SHARE, "LLC misses", "LLC misses"),
    Column(
        "held_mib",
        Format.OF,
        "in the LLC, MiB",
        "In the LLC MiB",
        whole="llc_mib",
        copied=("llc_mib_core", "llc_mib_io"),
    ),
    Column("l2_lookups", Format.NUMBER, None, "L2 lookups"),
    Column("prefetch_filled", Format.NUMBER, None, "Prefetched lines"),
    Column("prefetch_used", Format.NUMBER, None, "Of them used"),
    Column("llc_lookups", Format.NUMBER, None, "LLC lookups", minor=True),
    Column("core_evictions", Format.NUMBER, None, "Dirty evictions", minor=True),
    Column("back_invalidations", Format.NUMBER, None, "Lost by cores", minor=True),
)

DDIO = (
    Column("workload", Format.TEXT, "DDIO", "DDIO", style="name"),
    Column("written", Format.COUNT, "lines written", "Lines written", copied=()),
    Column("ddio_hit_ratio", Format.SHARE, "hits", "Hits"),
    Column("ddio_leak_ratio", Format.SHARE, "leaks", "Leaks"),
    Column("llc_mib_io", Format.OF, "in the LLC, MiB", "In the LLC MiB", whole="ddio_mib"),
    Column("read_hit_share", Format.SHARE, "reads that hit", "Reads that hit", copied=()),
    Column("ddio_updates", Format.NUMBER, None, "Updates"),
    Column("ddio_allocations", Format.NUMBER, None, "Allocations"),
    Column("ddio_leaks", Format.NUMBER, None, "Leaked lines"),
    Column("ddio_evictions", Format.NUMBER, None, "Evicted lines"),
    Column("io_reads", Format.NUMBER, None, "Reads", minor=True),
    Column("io_read_hits", Format.NUMBER, None, "Hits of reads", minor=True),
)

LLC = (
    Column("name", Format.TEXT, "LLC", "LLC", copied=("socket",)),
    Column("core_mib", Format.NUMBER, "of cores, MiB", "Of cores MiB"),
    Column("io_mib", Format.NUMBER, "of devices", "Of devices MiB"),
    Column("mib", Format.NUMBER, "of", "Of MiB"),
    Column("miss_ratio", Format.SHARE, "misses", "Misses", copied=("lookups", "misses")),
)

DOMAINS = (
    Column("domain", Format.DOMAIN, "domain", "Domain", copied=("domain", "shares_capacity_with")),
    Column(
        "in_use_mean",
        Format.OF,
        "credits in use",
        "Credits in use",
        whole="capacity",
        copied=("in_use_mean", "in_use_ci95"),
    ),
    Column("capacity", Format.NUMBER, None, "Capacity"),
    Column("latency_mean_ns", Format.INTERVAL, "latency ns", "Latency ns", ci95="latency_ci95"),
    Column("latency_p50_ns", Format.NUMBER, None, "P50 ns", minor=True),
    Column("latency_p99_ns", Format.NUMBER, "P99", "P99 ns"),
    Column("throughput_gb_per_s", Format.NUMBER, "GB/s", "Throughput GB/s"),
    Column("full_share", Format.SHARE, "full", "Full"),
    Column("in_use_max", Format.NUMBER, None, "Most in use", minor=True),
    Column("over_threshold_share", Format.SHARE, None, "Over threshold", minor=True),
    Column("lines", Format.NUMBER, None, "Lines", minor=True),
    Column("shares_capacity_with", Format.TEXT, "shares credits with", None),
)

CHANNELS = (
    Column("name", Format.TEXT, "channel", "Channel", copied=("socket", "channel")),
    Column("read_gb_per_s", Format.NUMBER, "read GB/s", "Read GB/s"),
    Column("write_gb_per_s", Format.NUMBER, "write", "Write GB/s"),
    Column("bus_busy_share", Format.BUSY, "bus", "Bus busy"),
    Column("row_miss_ratio", Format.NUMBER, ACTIVATIONS, "ACTs per read", ci95="row_miss_ci95"),
    Column("row_conflict_ratio", Format.NUMBER, None, "Conflicts per read"),
    Column("write_row_miss_ratio", Format.NUMBER, None, "ACTs per write", minor=True),
    Column("rpq_mean", Format.NUMBER, "RPQ", "RPQ"),
    Column("wpq_mean", Format.NUMBER, "WPQ", "WPQ"),
    Column("rpq_full_share", Format.SHARE, None, "RPQ full", minor=True),
    Column("wpq_full_share", Format.SHARE, None, "WPQ full"),
    Column("write_mode_share", Format.SHARE, "write mode", "Write mode"),
    Column("mode_switches", Format.NUMBER, None, "Mode switches", minor=True),
    Column("c2m_gb_per_s", Format.NUMBER, None, "C2M GB/s", minor=True),
    Column("p2m_gb_per_s", Format.NUMBER, None, "P2M GB/s", minor=True),
    Column("bank_load_1_5_share", Format.SHARE, None, "Bank load over 1.5", minor=True),
    Column("bank_load_2_share", Format.SHARE, None, "Bank load over 2", minor=True),
    Column("activations", Format.NUMBER, None, "Activations", minor=True),
    Column("precharges", Format.NUMBER, None, "Precharges", minor=True),
    Column("refreshes", Format.NUMBER, None, "Refreshes", minor=True),
    Column("sources", Format.TEXT, "by source, GB/s", "Traffic, GB/s", style="sources"),
)

LINKS = (
    Column("direction", Format.TEXT, "UPI", "Direction", copied=("from", "to")),
    Column("busy_share", Format.BUSY, "busy", "Busy"),
    Column("gb_per_s", Format.NUMBER, "on the wire GB/s", "On the wire GB/s"),
    Column("line_gb_per_s", Format.NUMBER, "lines GB/s", "Lines GB/s"),
    Column("lines", Format.NUMBER, None, "Lines"),
    Column("messages", Format.NUMBER, None, "Messages"),
)

MESH = (
    Column("whose", Format.TEXT, "mesh", None),
    Column("workload", Format.TEXT, None, "Workload"),
    Column("leg", Format.TEXT, "leg", "Leg"),
    Column("socket", Format.TEXT, None, "Socket"),
    Column("messages", Format.NUMBER, None, "Messages"),
    Column("way_ns", Format.EXACT, "way ns", "Way ns"),
    Column("mean_way_ns", Format.EXACT, "mean of the die", "Mean way of the die ns"),
    Column("waited_ns", Format.EXACT, "lost to others ns", "Lost to others ns"),
)


def workload_tables(summary: Mapping[str, Any]) -> list[ServerTable]:
    """Returns the tables of workloads, of their storage I/O and of their applications; the latter two only if any."""
    rows = summary.get("workloads") or []
    requests = [row for row in rows if row.get("io_completed") is not None]
    applications = [row for row in rows if row.get("operations_per_s") is not None]
    more = [ServerTable("I/O requests", REQUESTS, requests), ServerTable("Applications", APPLICATIONS, applications)]
    return [ServerTable("Workloads", WORKLOADS, rows), *(table for table in more if table.rows)]


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
    tables = [ServerTable("Caches", CACHES, cores), ServerTable("DDIO", DDIO, devices)]
    return [table for table in (*tables, ServerTable("LLC", LLC, list(llc_rows(sockets)))) if table.rows]


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
    return ServerTable("Domains", DOMAINS, list(fold_idle_pools(row for row in rows if row["workload"] == "all")))


def channel_table(summary: Mapping[str, Any]) -> ServerTable:
    """Returns the table of memory channels and their total; with several sockets, the total of each."""
    rows = [channel_row(row) for row in summary.get("channels") or ()]
    channels = sorted((row for row in rows if row["channel"] >= 0), key=lambda row: int(row["channel"]))
    # A mean over sockets without traffic says nothing about the one that is busy.
    totals = socket_rows(summary) or [row for row in rows if row["channel"] < 0]
    busy = fold_idle_channels(channels)
    return ServerTable("Memory channels", CHANNELS, [*channels, *totals], [*busy, *totals], idle_index=-1)


def socket_rows(summary: Mapping[str, Any]) -> list[Row]:
    """Returns the channels of each socket together; empty if there is only one."""
    rows = summary.get("channels_of_sockets") or ()
    return [{**channel_row(row), "name": f"socket {row['socket']}", "idle": is_idle(row)} for row in rows]


def total_table(summary: Mapping[str, Any]) -> ServerTable:
    """Returns the table of the total of the memory channels."""
    rows = [channel_row(row) for row in summary.get("channels") or () if row["channel"] < 0]
    return ServerTable("Memory channels", CHANNELS, rows)


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


def link_table(summary: Mapping[str, Any]) -> ServerTable:
    """Returns the table of UPI traffic by direction."""
    return ServerTable("UPI", LINKS, list(fold_idle_links(summary.get("upi") or ())))


def mesh_table(summary: Mapping[str, Any]) -> ServerTable:
    """Returns the table of the distances and waiting times of messages on the mesh, by workload."""
    ways = summary.get("mesh_ways") or []
    several = len({row["socket"] for row in ways}) > 1
    rows = [
        {**row, "whose": f"{row['workload']}, socket {row['socket']}" if several else row["workload"]} for row in ways
    ]
    return ServerTable("Ways", MESH, rows, sorted(rows, key=lambda row: -row["messages"])[:MESH_ROWS_MAX])

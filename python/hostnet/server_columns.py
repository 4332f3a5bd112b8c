"""Columns of the tables of a server, described once for the screen and for the page of a run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

ACTIVATIONS = "ACTs/read"
"""Heading of the row miss ratio: activations per read exceed 1 if rows are closed before they are read."""


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
    about: str | None = None
    """Definition of a column that the result table does not have."""


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
    Column("io_latency_mean_ns", Format.MICROSECONDS, "latency µs", "Mean latency µs"),
    Column("io_latency_p50_ns", Format.MICROSECONDS, "P50", "P50 µs"),
    Column("io_latency_p99_ns", Format.MICROSECONDS, "P99", "P99 µs"),
)

APPLICATIONS = (
    Column("workload", Format.TEXT, "application", "Applications", style="name"),
    Column("operations_per_s", Format.LARGE, "operations/s", "Operations per s", ci95="operations_ci95"),
    Column("operations", Format.COUNT, None, "Completed"),
    Column("operation_latency_mean_ns", Format.MICROSECONDS, "latency µs", "Mean latency µs"),
    Column("operation_latency_p50_ns", Format.MICROSECONDS, "P50", "P50 µs"),
    Column("operation_latency_p99_ns", Format.MICROSECONDS, "P99", "P99 µs"),
    Column("execution_time_s", Format.SECONDS, "execution time", "Execution time s"),
)

CACHES = (
    Column("workload", Format.TEXT, "caches", "Caches", style="name"),
    Column("l2_miss_ratio", Format.SHARE, "L2 misses", "L2 misses"),
    Column(
        "prefetched_share",
        Format.SHARE,
        "prefetched",
        "Prefetched",
        copied=(),
        about="lines that prefetchers brought into an L2 / core accesses that looked up an L2",
    ),
    Column(
        "used_share", Format.SHARE, "used", "Used", copied=(), about="share of the prefetched lines that an access used"
    ),
    Column("llc_miss_ratio", Format.SHARE, "LLC misses", "LLC misses"),
    Column(
        "held_mib",
        Format.OF,
        "in the LLC, MiB",
        "In the LLC MiB",
        whole="llc_mib",
        copied=("llc_mib_core", "llc_mib_io"),
        about="lines of cores and devices in the LLC, out of its size",
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
    Column(
        "written",
        Format.COUNT,
        "lines written",
        "Lines written",
        copied=(),
        about="lines that devices wrote to the LLC: updates and allocations",
    ),
    Column("ddio_hit_ratio", Format.SHARE, "hits", "Hits"),
    Column("ddio_leak_ratio", Format.SHARE, "leaks", "Leaks"),
    Column("llc_mib_io", Format.OF, "in the LLC, MiB", "In the LLC MiB", whole="ddio_mib"),
    Column(
        "read_hit_share",
        Format.SHARE,
        "reads that hit",
        "Reads that hit",
        copied=(),
        about="share of the device reads that hit in a cache",
    ),
    Column("ddio_updates", Format.NUMBER, None, "Updates"),
    Column("ddio_allocations", Format.NUMBER, None, "Allocations"),
    Column("ddio_leaks", Format.NUMBER, None, "Leaked lines"),
    Column("ddio_evictions", Format.NUMBER, None, "Evicted lines"),
    Column("io_reads", Format.NUMBER, None, "Reads", minor=True),
    Column("io_read_hits", Format.NUMBER, None, "Hits of reads", minor=True),
)

LLC = (
    Column("name", Format.TEXT, "LLC", "LLC", copied=("socket",), about="socket of the LLC"),
    Column(
        "core_mib",
        Format.NUMBER,
        "of cores, MiB",
        "Of cores MiB",
        about="lines in the LLC that cores put there or read",
    ),
    Column(
        "io_mib",
        Format.NUMBER,
        "of devices",
        "Of devices MiB",
        about="lines in the LLC that devices wrote and no core has read",
    ),
    Column("mib", Format.NUMBER, "of", "Of MiB", about="size of the LLC"),
    Column(
        "miss_ratio",
        Format.SHARE,
        "misses",
        "Misses",
        copied=("lookups", "misses"),
        about="share of the reads of cores that missed the LLC of this socket",
    ),
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
    Column(
        "name",
        Format.TEXT,
        "channel",
        "Channel",
        copied=("socket", "channel"),
        about="memory channel, or all of them together",
    ),
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
    Column("direction", Format.TEXT, "UPI", "Direction", copied=("from", "to"), about="sending and receiving socket"),
    Column("busy_share", Format.BUSY, "busy", "Busy"),
    Column("gb_per_s", Format.NUMBER, "on the wire GB/s", "On the wire GB/s"),
    Column("line_gb_per_s", Format.NUMBER, "lines GB/s", "Lines GB/s"),
    Column("lines", Format.NUMBER, None, "Lines"),
    Column("messages", Format.NUMBER, None, "Messages"),
)

MESH = (
    Column("whose", Format.TEXT, "mesh", None, about="workload whose messages cross the mesh"),
    Column("workload", Format.TEXT, None, "Workload"),
    Column("leg", Format.TEXT, "leg", "Leg"),
    Column("socket", Format.TEXT, None, "Socket"),
    Column("messages", Format.NUMBER, None, "Messages"),
    Column("way_ns", Format.EXACT, "way ns", "Way ns"),
    Column("mean_way_ns", Format.EXACT, "mean of the die", "Mean way of the die ns"),
    Column("waited_ns", Format.EXACT, "lost to others ns", "Lost to others ns"),
)

"""Tables of a run's page. They show rounded numbers; copying yields exact ones under the column names of the files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hostnet.pools import (
    PLACE_PREFIXES,
    fold_idle_links,
    fold_idle_pools,
    nonzero_sources,
    partial_pool_rows,
    row_label,
    rows_by_place,
)
from hostnet.report.charts import meter
from hostnet.report.host import ALL, KIND_OF_POOL
from hostnet.report.html import Cell, Child, Html, details, element, join, section, table
from hostnet.report.load import Row, RunFiles
from hostnet.report.numbers import MISSING, exact_text, number, percent, with_ci95

NS_PER_US = 1000

PARTS_MAX = 1000
"""Maximum number of rows; longer tables are only in the file."""


@dataclass(frozen=True)
class RecordColumn:
    """A column of a table: its heading, the file columns that it copies, and the shown content.

    `minor` columns are omitted in print.
    """

    heading: str
    fields: tuple[str, ...]
    show: Callable[[Row], Child]
    minor: bool = False


def record_table(label: str, columns: Sequence[RecordColumn], rows: Sequence[Row], *, text_columns: int = 1) -> Html:
    """Creates a table of rows of a file, without columns and fields that have no value."""
    kept = [
        (column, fields)
        for column in columns
        for fields in [[name for name in column.fields if any(row.get(name) is not None for row in rows)]]
        if column.fields[0] in fields
    ]
    heads = [Cell(column.heading, "\t".join(fields), column.minor) for column, fields in kept]
    cells = [
        [
            Cell(column.show(row), "\t".join(exact_text(row.get(name)) for name in fields), column.minor)
            for column, fields in kept
        ]
        for row in rows
    ]
    return table(heads, cells, text_columns=text_columns, label=label)


def number_column(heading: str, name: str, *, minor: bool = False) -> RecordColumn:
    """Creates a column of numbers."""
    return RecordColumn(heading, (name,), lambda row: number(row.get(name)), minor)


def interval_column(heading: str, name: str, ci95: str, *, minor: bool = False) -> RecordColumn:
    """Creates a column of numbers with confidence intervals."""
    return RecordColumn(heading, (name, ci95), lambda row: with_ci95(row.get(name), row.get(ci95)), minor)


def share_column(heading: str, name: str, *, minor: bool = False) -> RecordColumn:
    """Creates a column of fractions, in percent."""
    return RecordColumn(heading, (name,), lambda row: percent(row.get(name)), minor)


def text_column(heading: str, name: str, class_: str | None = None) -> RecordColumn:
    """Creates a column of text; a class lets long text wrap."""

    def show(row: Row) -> Child:
        content = str(row.get(name) or "")
        return element("span", content, class_=class_) if class_ else content

    return RecordColumn(heading, (name,), show)


WORKLOADS = (
    text_column("Workload", "workload", "name"),
    text_column("Limited by", "limited_by"),
    interval_column("Throughput GB/s", "throughput_gb_per_s", "throughput_ci95"),
    number_column("DRAM read GB/s", "read_gb_per_s"),
    number_column("DRAM write GB/s", "write_gb_per_s"),
    interval_column("Latency ns", "latency_mean_ns", "latency_ci95"),
    number_column("P50 ns", "latency_p50_ns"),
    number_column("P99 ns", "latency_p99_ns"),
    number_column("Lines", "lines", minor=True),
)


def microseconds_column(heading: str, name: str) -> RecordColumn:
    """Creates a column of times in ns, shown in us."""

    def show(row: Row) -> Child:
        value = row.get(name)
        return MISSING if value is None else number(value / NS_PER_US)

    return RecordColumn(heading, (name,), show)


REQUESTS = (
    text_column("I/O requests", "workload", "name"),
    number_column("Rate GB/s", "app_gb_per_s"),
    number_column("Completed", "io_completed"),
    microseconds_column("Mean latency µs", "io_latency_mean_ns"),
    microseconds_column("P50 µs", "io_latency_p50_ns"),
    microseconds_column("P99 µs", "io_latency_p99_ns"),
)


APPLICATIONS = (
    text_column("Applications", "workload", "name"),
    interval_column("Operations per s", "operations_per_s", "operations_ci95"),
    number_column("Completed", "operations"),
    microseconds_column("Mean latency µs", "operation_latency_mean_ns"),
    microseconds_column("P50 µs", "operation_latency_p50_ns"),
    microseconds_column("P99 µs", "operation_latency_p99_ns"),
    number_column("Execution time s", "execution_time_s"),
)


def workloads_section(run: RunFiles) -> Html:
    """Creates the tables of rates and latencies of every workload."""
    rows = run.summary.get("workloads", [])
    requests = [row for row in rows if row.get("io_completed") is not None]
    applications = [row for row in rows if row.get("operations_per_s") is not None]
    too_few = any(row.get("io_latency_mean_ns") is None for row in requests)
    return section(
        "Workloads",
        record_table("Workloads", WORKLOADS, rows, text_columns=2),
        record_table("I/O requests", REQUESTS, requests) if requests else None,
        record_table("Applications", APPLICATIONS, applications) if applications else None,
        element(
            "p",
            "The latency of I/O requests is shown once 100 of them behind a full queue have completed.",
            class_="note below",
        )
        if too_few
        else None,
        note="Throughput and latency are those of the workload's own domain; ± is half of a 95 % confidence interval."
        if any(row.get("throughput_ci95") is not None for row in rows)
        else "Throughput and latency are those of the workload's own domain.",
    )


def domain_name(row: Row) -> Html:
    """Names the domain, and the domain whose credits it shares."""
    shared = row.get("shares_capacity_with")
    within = element("span", f" in {shared}", class_="quiet") if shared else None
    return element("span", join((row_label(row), within)), class_="domain")


def occupancy(row: Row) -> Child:
    """Shows the credits in use as a bar and a number."""
    if row.get("idle"):
        return "idle"
    kind = KIND_OF_POOL.get(str(row["domain"]), "n")
    bar = meter(row["in_use_mean"], row["capacity"], peak=row.get("in_use_max"), kind=kind)
    return element("span", bar, element("span", number(row["in_use_mean"])), class_="meter")


DOMAIN = RecordColumn("Domain", ("domain", "shares_capacity_with"), domain_name)

CREDITS = (
    RecordColumn("Credits in use", ("in_use_mean", "in_use_ci95"), occupancy),
    number_column("Capacity", "capacity"),
    share_column("Full", "full_share"),
    interval_column("Latency ns", "latency_mean_ns", "latency_ci95"),
    number_column("P50 ns", "latency_p50_ns", minor=True),
    number_column("P99 ns", "latency_p99_ns"),
    number_column("Throughput GB/s", "throughput_gb_per_s"),
    number_column("Most in use", "in_use_max", minor=True),
    share_column("Over threshold", "over_threshold_share", minor=True),
    number_column("Lines", "lines", minor=True),
)


def domains_section(run: RunFiles) -> Html:
    """Creates the table of credits in use of every domain, summed per place; single parts are folded."""
    whole = [row for row in run.summary.get("domains", []) if row.get("part") == ALL]
    totals = [row for row in rows_by_place(run.summary) if row["workload"] == ALL]
    totals += partial_pool_rows(run.summary)
    split = [row for row in whole if row["workload"] != ALL]
    parts = [row for row in run.domains if row["workload"] == ALL and not is_place(str(row.get("part", "")))]
    return section(
        "Domains",
        record_table("Domains", (DOMAIN, *CREDITS), list(fold_idle_pools(totals))),
        split_table("By workload", "workload", split),
        split_table("By part of the machine", "part", parts),
        note="Bars show the mean number of credits in use out of the capacity; the tick is the largest number seen. "
        "A domain's throughput is at most credits × 64 B / latency. Full is the share of time in which "  # noqa: RUF001
        "all of its credits were in use; what limits a workload is judged by its fullest part, such as one slice "
        "or one link.",
    )


def is_place(part: str) -> bool:
    """Returns True if a part is shown in the main table: the whole server, or a place."""
    return part == ALL or part.startswith(PLACE_PREFIXES)


def split_table(title: str, by: str, rows: Sequence[Row]) -> Html | None:
    """Creates a folded table of domains by workload or part."""
    if not rows:
        return None
    if len(rows) > PARTS_MAX:
        return element("p", f"{title}: {len(rows):,} rows, in domains.parquet.", class_="note below")
    columns = (DOMAIN, text_column(by.capitalize(), by, "name"), *CREDITS)
    return details(title, record_table(f"Domains by {by}", columns, rows, text_columns=2))


def bus_cells(row: Row) -> Child:
    """Shows the busy share of the data bus as a bar and a number."""
    bar = meter(row.get("bus_busy_share"), 1.0, kind="n")
    return element("span", bar, element("span", percent(row.get("bus_busy_share"))), class_="meter")


CHANNELS = (
    RecordColumn("Channel", ("channel",), lambda row: "all" if row["channel"] < 0 else str(row["channel"])),
    text_column("Traffic, GB/s", "sources", "sources"),
    RecordColumn("Bus busy", ("bus_busy_share",), bus_cells),
    number_column("Read GB/s", "read_gb_per_s"),
    number_column("Write GB/s", "write_gb_per_s"),
    interval_column("ACTs per read", "row_miss_ratio", "row_miss_ci95"),
    number_column("Conflicts per read", "row_conflict_ratio"),
    number_column("ACTs per write", "write_row_miss_ratio", minor=True),
    number_column("RPQ", "rpq_mean"),
    number_column("WPQ", "wpq_mean"),
    share_column("RPQ full", "rpq_full_share", minor=True),
    share_column("WPQ full", "wpq_full_share"),
    share_column("Write mode", "write_mode_share"),
    number_column("Mode switches", "mode_switches", minor=True),
    number_column("C2M GB/s", "c2m_gb_per_s", minor=True),
    number_column("P2M GB/s", "p2m_gb_per_s", minor=True),
    share_column("Bank load over 1.5", "bank_load_1_5_share", minor=True),
    share_column("Bank load over 2", "bank_load_2_share", minor=True),
    number_column("Activations", "activations", minor=True),
    number_column("Precharges", "precharges", minor=True),
    number_column("Refreshes", "refreshes", minor=True),
)


def sent(row: Row) -> Child:
    """Shows the busy share of a UPI link as a bar and a number."""
    if row["idle"]:
        return "idle"
    bar = meter(row.get("busy_share"), 1.0, kind="n")
    return element("span", bar, element("span", percent(row.get("busy_share"))), class_="meter")


LINKS = (
    RecordColumn("Direction", ("from", "to"), lambda row: str(row["direction"])),
    RecordColumn("Busy", ("busy_share",), sent),
    number_column("On the wire GB/s", "gb_per_s"),
    number_column("Lines GB/s", "line_gb_per_s"),
    number_column("Lines", "lines"),
    number_column("Messages", "messages"),
)


def links_section(run: RunFiles) -> Html | None:
    """Creates the table of UPI traffic, if there are several sockets."""
    rows = run.summary.get("upi") or []
    if not rows:
        return None
    note = (
        "Busy is the traffic on the wire, including all protocol overhead, as a share of the bandwidth of a direction. "
        "The limit of a workload is determined by the practical capacity of a link, 95 % of that."
    )
    return section("UPI", record_table("UPI", LINKS, list(fold_idle_links(rows))), note=note)


def channels_section(run: RunFiles) -> Html | None:
    """Creates the table of memory channels; the last row is the total."""
    channels = sorted(run.summary.get("channels", []), key=lambda row: (row["channel"] < 0, row["channel"]))
    if not channels:
        return None
    rows = [{**row, "sources": nonzero_sources(row.get("sources") or "") or None} for row in channels]
    text_columns = 2 if any(row["sources"] for row in rows) else 1
    note = (
        "ACTs per read are the row miss ratio: above 1 where rows are closed before they are read. RPQ and WPQ are "
        "mean numbers of entries. "
        "Shares are of time; bank load is the share of samples in which one bank has 1.5 or 2 times the mean load."
    )
    rest = [CHANNELS[0], *(column for column in CHANNELS if column.minor)]
    return section(
        "Memory channels",
        record_table(
            "Memory channels", [column for column in CHANNELS if not column.minor], rows, text_columns=text_columns
        ),
        details("More columns", record_table("More of memory channels", rest, rows)),
        note=note,
    )

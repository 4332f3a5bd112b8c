"""The tables of a run's page. They show rounded numbers; copied, they have exact ones under the files' column names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hostnet.pools import (
    PLACES,
    idle_folded,
    idle_links_folded,
    label_of,
    nonzero_sources,
    rows_by_place,
    rows_of_own_parts,
)
from hostnet.report.charts import meter
from hostnet.report.host import ALL, KIND_OF_POOL
from hostnet.report.html import Cell, Child, Html, details, element, join, section, table
from hostnet.report.load import Row, RunFiles
from hostnet.report.numbers import MISSING, exact, number, percent, with_ci95

NS_PER_US = 1000

PARTS_MAX = 1000
"""More rows than this are left to the file."""


@dataclass(frozen=True)
class Column:
    """A column of a page's table: what it is called, which columns of the file it copies, and what it shows.

    `minor` ones are left out on paper.
    """

    heading: str
    fields: tuple[str, ...]
    show: Callable[[Row], Child]
    minor: bool = False


def record_table(label: str, columns: Sequence[Column], rows: Sequence[Row], *, text_columns: int = 1) -> Html:
    """A table of rows of a file. Columns and fields without any value are left out."""
    kept = [
        (column, fields)
        for column in columns
        for fields in [[name for name in column.fields if any(row.get(name) is not None for row in rows)]]
        if column.fields[0] in fields
    ]
    heads = [Cell(column.heading, "\t".join(fields), column.minor) for column, fields in kept]
    cells = [
        [
            Cell(column.show(row), "\t".join(exact(row.get(name)) for name in fields), column.minor)
            for column, fields in kept
        ]
        for row in rows
    ]
    return table(heads, cells, text_columns=text_columns, label=label)


def numeric(heading: str, name: str, *, minor: bool = False) -> Column:
    """A column of numbers."""
    return Column(heading, (name,), lambda row: number(row.get(name)), minor)


def interval(heading: str, name: str, ci95: str, *, minor: bool = False) -> Column:
    """A column of numbers with their confidence intervals."""
    return Column(heading, (name, ci95), lambda row: with_ci95(row.get(name), row.get(ci95)), minor)


def share(heading: str, name: str, *, minor: bool = False) -> Column:
    """A column of shares of one, in percent."""
    return Column(heading, (name,), lambda row: percent(row.get(name)), minor)


def words(heading: str, name: str, class_: str | None = None) -> Column:
    """A column of text; a class lets long text wrap."""

    def show(row: Row) -> Child:
        content = str(row.get(name) or "")
        return element("span", content, class_=class_) if class_ else content

    return Column(heading, (name,), show)


WORKLOADS = (
    words("Workload", "workload", "name"),
    words("Limited by", "limited_by"),
    interval("Throughput GB/s", "throughput_gb_per_s", "throughput_ci95"),
    numeric("DRAM read GB/s", "read_gb_per_s"),
    numeric("DRAM write GB/s", "write_gb_per_s"),
    interval("Latency ns", "latency_mean_ns", "latency_ci95"),
    numeric("P50 ns", "latency_p50_ns"),
    numeric("P99 ns", "latency_p99_ns"),
    numeric("Lines", "lines", minor=True),
)


def microseconds(heading: str, name: str) -> Column:
    """A column of times, shown in µs."""

    def show(row: Row) -> Child:
        value = row.get(name)
        return MISSING if value is None else number(value / NS_PER_US)

    return Column(heading, (name,), show)


REQUESTS = (
    words("I/O requests", "workload", "name"),
    numeric("Rate GB/s", "app_gb_per_s"),
    numeric("Completed", "io_completed"),
    microseconds("Mean latency µs", "io_latency_mean_ns"),
    microseconds("P50 µs", "io_latency_p50_ns"),
    microseconds("P99 µs", "io_latency_p99_ns"),
)


APPLICATIONS = (
    words("Applications", "workload", "name"),
    interval("Operations per s", "operations_per_s", "operations_ci95"),
    numeric("Completed", "operations"),
    microseconds("Mean latency µs", "operation_latency_mean_ns"),
    microseconds("P50 µs", "operation_latency_p50_ns"),
    microseconds("P99 µs", "operation_latency_p99_ns"),
    numeric("Execution time s", "execution_time_s"),
)


def workloads_section(run: RunFiles) -> Html:
    """Rates and latencies of every workload."""
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
            "A latency of I/O requests is told once 100 of them behind a full queue have completed.",
            class_="note below",
        )
        if too_few
        else None,
        note="Throughput and latency are those of the workload's own domain; ± is half of a 95 % confidence interval."
        if any(row.get("throughput_ci95") is not None for row in rows)
        else "Throughput and latency are those of the workload's own domain.",
    )


def domain_name(row: Row) -> Html:
    """The domain, and whose credits it uses."""
    shared = row.get("shares_capacity_with")
    within = element("span", f" in {shared}", class_="quiet") if shared else None
    return element("span", join((label_of(row), within)), class_="domain")


def occupancy(row: Row) -> Child:
    """Credits in use, as a bar and a number."""
    if row.get("idle"):
        return "idle"
    kind = KIND_OF_POOL.get(str(row["domain"]), "n")
    bar = meter(row["in_use_mean"], row["capacity"], peak=row.get("in_use_max"), kind=kind)
    return element("span", bar, element("span", number(row["in_use_mean"])), class_="meter")


DOMAIN = Column("Domain", ("domain", "shares_capacity_with"), domain_name)

CREDITS = (
    Column("Credits in use", ("in_use_mean", "in_use_ci95"), occupancy),
    numeric("Capacity", "capacity"),
    share("Full", "full_share"),
    interval("Latency ns", "latency_mean_ns", "latency_ci95"),
    numeric("P50 ns", "latency_p50_ns", minor=True),
    numeric("P99 ns", "latency_p99_ns"),
    numeric("Throughput GB/s", "throughput_gb_per_s"),
    numeric("Most in use", "in_use_max", minor=True),
    share("Over threshold", "over_threshold_share", minor=True),
    numeric("Lines", "lines", minor=True),
)


def domains_section(run: RunFiles) -> Html:
    """Shows the credits in use of every domain, summed per place; single parts are folded."""
    whole = [row for row in run.summary.get("domains", []) if row.get("part") == ALL]
    totals = [row for row in rows_by_place(run.summary) if row["workload"] == ALL]
    totals += rows_of_own_parts(run.summary)
    split = [row for row in whole if row["workload"] != ALL]
    parts = [row for row in run.domains if row["workload"] == ALL and not is_place(str(row.get("part", "")))]
    return section(
        "Domains",
        record_table("Domains", (DOMAIN, *CREDITS), list(idle_folded(totals))),
        split_table("By workload", "workload", split),
        split_table("By part of the machine", "part", parts),
        note="Bars show the mean number of credits in use out of the capacity; the tick is the largest number seen. "
        "A domain's throughput is at most credits × 64 B / latency. Full is the share of time in which "  # noqa: RUF001
        "all of its credits were in use; what limits a workload is judged by its fullest part, such as one slice "
        "or one link.",
    )


def is_place(part: str) -> bool:
    """Returns True if a part is shown in the main table: the whole server, or a place."""
    return part == ALL or part.startswith(PLACES)


def split_table(title: str, by: str, rows: Sequence[Row]) -> Html | None:
    """Domains by what they are split into, folded away."""
    if not rows:
        return None
    if len(rows) > PARTS_MAX:
        return element("p", f"{title}: {len(rows):,} rows, in domains.parquet.", class_="note below")
    columns = (DOMAIN, words(by.capitalize(), by, "name"), *CREDITS)
    return details(title, record_table(f"Domains by {by}", columns, rows, text_columns=2))


def bus(row: Row) -> Child:
    """How busy the data bus was, as a bar and a number."""
    bar = meter(row.get("bus_busy_share"), 1.0, kind="n")
    return element("span", bar, element("span", percent(row.get("bus_busy_share"))), class_="meter")


CHANNELS = (
    Column("Channel", ("channel",), lambda row: "all" if row["channel"] < 0 else str(row["channel"])),
    words("Traffic, GB/s", "sources", "sources"),
    Column("Bus busy", ("bus_busy_share",), bus),
    numeric("Read GB/s", "read_gb_per_s"),
    numeric("Write GB/s", "write_gb_per_s"),
    interval("ACTs per read", "row_miss_ratio", "row_miss_ci95"),
    numeric("Conflicts per read", "row_conflict_ratio"),
    numeric("ACTs per write", "write_row_miss_ratio", minor=True),
    numeric("RPQ", "rpq_mean"),
    numeric("WPQ", "wpq_mean"),
    share("RPQ full", "rpq_full_share", minor=True),
    share("WPQ full", "wpq_full_share"),
    share("Write mode", "write_mode_share"),
    numeric("Mode switches", "mode_switches", minor=True),
    numeric("C2M GB/s", "c2m_gb_per_s", minor=True),
    numeric("P2M GB/s", "p2m_gb_per_s", minor=True),
    share("Bank load over 1.5", "bank_load_1_5_share", minor=True),
    share("Bank load over 2", "bank_load_2_share", minor=True),
    numeric("Activations", "activations", minor=True),
    numeric("Precharges", "precharges", minor=True),
    numeric("Refreshes", "refreshes", minor=True),
)


def sent(row: Row) -> Child:
    """How busy a direction of UPI was, as a bar and a number."""
    if row["idle"]:
        return "idle"
    bar = meter(row.get("busy_share"), 1.0, kind="n")
    return element("span", bar, element("span", percent(row.get("busy_share"))), class_="meter")


LINKS = (
    Column("Direction", ("from", "to"), lambda row: str(row["direction"])),
    Column("Busy", ("busy_share",), sent),
    numeric("On the wire GB/s", "gb_per_s"),
    numeric("Lines GB/s", "line_gb_per_s"),
    numeric("Lines", "lines"),
    numeric("Messages", "messages"),
)


def links_section(run: RunFiles) -> Html | None:
    """What went between the sockets, if there are several."""
    rows = run.summary.get("upi") or []
    if not rows:
        return None
    note = (
        "Busy is what is on the wire, lines and all that goes with them, as a share of the bandwidth of a direction. "
        "What limits a workload is judged by the share of what a link can carry in practice, 95 % of that."
    )
    return section("UPI", record_table("UPI", LINKS, list(idle_links_folded(rows))), note=note)


def channels_section(run: RunFiles) -> Html | None:
    """What every memory channel did; the last row is all of them."""
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

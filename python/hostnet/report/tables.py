"""Tables of a run's page. They show rounded numbers; copying yields exact ones under the column names of the files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from hostnet.pools import PLACE_PREFIXES, row_label
from hostnet.report.charts import meter
from hostnet.report.html import Cell, Child, Html, details, element, join, section
from hostnet.report.html import table as html_table
from hostnet.report.load import Row, RunFiles
from hostnet.report.numbers import MISSING, exact_text, number, percent, with_ci95
from hostnet.server_columns import DOMAINS, TEXTS, Column, Format
from hostnet.server_view import CHANNELS_MAX, ServerTable, channel_table, domain_table, link_table, workload_tables

ALL = "all"
"""Part or workload of a row that is a total."""

KIND_OF_POOL = {
    "C2M-Read": "a",
    "LFB": "a",
    "C2M-Write": "b",
    "P2M-Write": "c",
    "PCIe posted": "c",
    "P2M-Read": "d",
    "PCIe non-posted": "d",
}
"""Colours of pools that belong to cores or devices; shared pools have the colour `n`."""

NS_PER_US = 1000

PARTS_MAX = 1000
"""Maximum number of rows; longer tables are only in the file."""


def page_table(table: ServerTable, label: str | None = None) -> Html:
    """Creates the table on the page, with columns of text first, and without columns and fields that have no value."""
    columns = [column for column in table.columns if column.page is not None and table.filled(column)]
    columns.sort(key=lambda column: column.format not in TEXTS)
    kept = [
        (column, [name for name in copied_fields(column) if any(row.get(name) is not None for row in table.rows)])
        for column in columns
    ]
    heads = [
        Cell(str(column.page), "\t".join(fields), column.minor, table.definition(column)) for column, fields in kept
    ]
    cells = [
        [
            Cell(
                SHOW[column.format](row, column), "\t".join(exact_text(row.get(name)) for name in fields), column.minor
            )
            for column, fields in kept
        ]
        for row in table.rows
    ]
    texts = sum(column.format in TEXTS for column in columns)
    return html_table(heads, cells, text_columns=texts, label=label or table.title)


def copied_fields(column: Column) -> tuple[str, ...]:
    """Returns the columns of the file that a copy of a column has."""
    return (column.key, *filter(None, [column.ci95])) if column.copied is None else column.copied


def show_text(row: Row, column: Column) -> Child:
    """Shows text; a style lets long text wrap."""
    value = row.get(column.key)
    content = "" if value is None else str(value)
    return element("span", content, class_=column.style) if column.style else content


def show_number(row: Row, column: Column) -> Child:
    """Shows a number with its confidence interval, if it has one."""
    return with_ci95(row.get(column.key), row.get(column.ci95 or ""))


def show_microseconds(row: Row, column: Column) -> Child:
    """Shows a time in ns in us."""
    value = row.get(column.key)
    return MISSING if value is None else number(value / NS_PER_US)


def show_part(row: Row, column: Column) -> Child:
    """Shows a number and its maximum, if that is known; of credits in use as a bar."""
    if row.get("idle"):
        return "idle"
    if column.whole != "capacity":
        whole = row.get(str(column.whole))
        return number(row.get(column.key)) + ("" if whole is None else f" of {number(whole)}")
    kind = KIND_OF_POOL.get(str(row["domain"]), "n")
    bar = meter(row["in_use_mean"], row["capacity"], peak=row.get("in_use_max"), kind=kind)
    return element("span", bar, element("span", number(row["in_use_mean"])), class_="meter")


def show_busy(row: Row, column: Column) -> Child:
    """Shows a share of time as a bar and a number."""
    if row.get("idle"):
        return "idle"
    share = row.get(column.key)
    return element("span", meter(share, 1.0, kind="n"), element("span", percent(share)), class_="meter")


def domain_name(row: Row, _column: Column) -> Html:
    """Names the domain, and the domain whose credits it shares."""
    shared = row.get("shares_capacity_with")
    within = element("span", f" in {shared}", class_="quiet") if shared else None
    return element("span", join((row_label(row), within)), class_="domain")


SHOW: Mapping[Format, Callable[[Row, Column], Child]] = {
    Format.TEXT: show_text,
    Format.DOMAIN: domain_name,
    Format.NUMBER: show_number,
    Format.INTERVAL: show_number,
    Format.LARGE: show_number,
    Format.COUNT: show_number,
    Format.EXACT: show_number,
    Format.SHARE: lambda row, column: percent(row.get(column.key)),
    Format.BUSY: show_busy,
    Format.MICROSECONDS: show_microseconds,
    Format.SECONDS: show_number,
    Format.OF: show_part,
}
"""Function of each format that shows a cell on the page."""


def workloads_section(run: RunFiles) -> Html:
    """Creates the tables of rates and latencies of every workload."""
    rows = run.summary.get("workloads", [])
    too_few = any(row.get("io_completed") is not None and row.get("io_latency_mean_ns") is None for row in rows)
    return section(
        "Workloads",
        *map(page_table, workload_tables(run.summary)),
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


def domains_section(run: RunFiles) -> Html:
    """Creates the table of credits in use of every domain, summed per place; single parts are folded."""
    whole = [row for row in run.summary.get("domains", []) if row.get("part") == ALL]
    split = [row for row in whole if row["workload"] != ALL]
    parts = [row for row in run.domains if row["workload"] == ALL and not is_place(str(row.get("part", "")))]
    return section(
        "Domains",
        page_table(domain_table(run.summary)),
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
    columns = (*DOMAINS, Column(by, Format.TEXT, None, by.capitalize(), style="name"))
    return details(title, page_table(ServerTable(f"Domains by {by}", "domains", columns, rows)))


def links_section(run: RunFiles) -> Html | None:
    """Creates the table of UPI traffic, if there are several sockets."""
    table = link_table(run.summary)
    if not table.rows:
        return None
    note = (
        "Busy is the traffic on the wire, including all protocol overhead, as a share of the bandwidth of a direction. "
        "The limit of a workload is determined by the practical capacity of a link, 95 % of that."
    )
    return section("UPI", page_table(table), note=note)


def channels_section(run: RunFiles) -> Html | None:
    """Creates the table of memory channels; the last row is the total, or the last rows are those of the sockets."""
    table = channel_table(run.summary)
    if not table.rows:
        return None
    note = (
        "ACTs per read are the row miss ratio: above 1 where rows are closed before they are read. RPQ and WPQ are "
        "mean numbers of entries. "
        "Shares are of time; bank load is the share of samples in which one bank has 1.5 or 2 times the mean load."
    )
    main = tuple(column for column in table.columns if not column.minor)
    rest = (table.columns[0], *(column for column in table.columns if column.minor))
    few = table.screen_rows is None or len(table.rows) <= CHANNELS_MAX
    shown = table.rows if few else table.screen_rows or ()
    every = details(
        f"{len(table.rows)} rows, one for each channel",
        page_table(replace(table, columns=main), "Every memory channel"),
    )
    return section(
        table.title,
        page_table(replace(table, columns=main, rows=shown)),
        None if few else every,
        details("More columns", page_table(replace(table, columns=rest), "More of memory channels")),
        note=note,
    )

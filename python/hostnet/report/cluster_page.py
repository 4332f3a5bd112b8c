"""Report of a run of a cluster: limits, tables, and time series."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.cluster_view import TAIL, cluster_views, limit_reasons, percentiles
from hostnet.glossary import column_meaning
from hostnet.notes import STOPPED
from hostnet.report.bars import grouped_chart
from hostnet.report.charts import ChartAxis, legend, line_chart
from hostnet.report.die import die_section
from hostnet.report.html import Cell, details, element, section, table
from hostnet.report.numbers import MISSING, number, time_from_ns
from hostnet.report.page import page
from hostnet.report.reproduce import notes_section, reproduce_section
from hostnet.report.series import KINDS, ChartSeries, SeriesPoint, thinned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hostnet.report.html import Child, Html
    from hostnet.report.load import Row, RunFiles
    from hostnet.view import View

OVER_TIME = {
    "iio_write_occupancy": ("Lines in the IIO", "lines"),
    "iio_write_gbps": ("PCIe bandwidth into memory", "Gbps"),
    "goodput_gbps": ("Goodput into applications", "Gbps"),
    "nic_buffer_bytes": ("Receive buffer of the NIC", "bytes"),
    "nic_dropped": ("Packets dropped by the NIC", ""),
    "level": ("Level of throttling", ""),
    "occupancy_smoothed_lines": ("I_S, smoothed", "lines"),
    "bandwidth_smoothed_gbps": ("B_S, smoothed", "Gbps"),
}
"""Title and unit of the columns of the time series, in the order of the charts."""

CORES_OVER_TIME = {
    "received_gbps": ("Received by the NIC", "Gbps"),
    "sent_gbps": ("Sent by the NIC", "Gbps"),
    "ghz_mean": ("Frequency of cores", "GHz"),
    "running_share": ("Cores at work", "share"),
    "asleep_share": ("Cores asleep", "share"),
    "power_w": ("Power of cores", "W"),
}
"""Title and unit of the columns of the time series of cores with frequencies and sleep states."""

ROWS_MAX = 100
"""Maximum number of rows of a table that are shown; writing thousands takes longer than a short run."""

RAW = (
    *("classes", "latencies", "services", "stages", "hosts", "memory", "queues", "control", "limits"),
    *("power", "power_states", "energy", "efficiency"),
)
"""Tables of the summary whose columns are all shown on demand."""


def cluster_page(run: RunFiles) -> str:
    """Returns the page as self-contained HTML."""
    summary = run.summary
    name = str(summary.get("name", run.directory.name))
    return page(
        f"{name} – hostnet",  # noqa: RUF001
        element("header", element("h1", name), element("p", _about(summary), class_="lead")),
        _limits_section(summary),
        *(view_section(view) for view in cluster_views(summary, run.flows)),
        _latency_section(summary),
        _over_time(run.series, run.power_series),
        *(die_section(server, f"Mesh of {host}") for host, server in summary.get("servers", {}).items()),
        _all_columns(summary),
        notes_section(run),
        reproduce_section(run),
        element("footer", f"hostnet {run.manifest.get('version', '')}, configuration {summary.get('config_hash', '')}"),
    )


def _about(summary: Row) -> str:
    """Describes the run in one sentence."""
    hosts, classes = len(summary.get("hosts", ())), summary.get("classes", ())
    names = ", ".join(f"\u201c{row['class']}\u201d" for row in classes)
    length = f"{time_from_ns(summary.get('window_ns'))} after {time_from_ns(summary.get('warm_up_ns'))} of warm-up"
    servers = "no server with a host network" if not hosts else f"{hosts} server{'s' if hosts > 1 else ''}"
    stopped = "" if summary.get("complete", True) else f" It was {STOPPED}."
    flows = f", traffic {names}" if names else ""
    return f"Simulated for {length}: {servers}{flows}.{stopped}"


def _limits_section(summary: Row) -> Html | None:
    """Creates the table of the limit of each class; None without any."""
    found = limit_reasons(summary)
    if not found:
        return None
    goodput = {row["class"]: row["goodput_gbps"] for row in summary["classes"]}
    rows = [
        [name, number(goodput.get(name)), limit, element("span", why, class_="reason")] for name, limit, why in found
    ]
    return section("What limits it", _text_table(["class", "Gbps", "limited by", "why"], rows, "What limits it"))


def _text_table(columns: Sequence[str], rows: Sequence[Sequence[Child]], label: str) -> Html:
    """Creates a table of text."""
    return table(columns, rows, text_columns=len(columns), label=label)


def view_section(view: View) -> Html:
    """Creates the table of a view."""
    cells = [[_cell(cell) for cell in row] for row in view.cells(ROWS_MAX)]
    texts = sum(column.text for column in view.columns)
    headings = [Cell(column.heading, about=view.definition(column)) for column in view.columns]
    shown = table(headings, cells, text_columns=texts, label=view.title)
    return section(view.title, shown, _omitted_text(len(view.rows)), note=view.about)


def _omitted_text(rows: int) -> Html | None:
    """Says how many rows are not shown."""
    if rows <= ROWS_MAX:
        return None
    return element("p", f"{rows - ROWS_MAX} more rows are in the tables beside this page.", class_="note")


def _all_columns(summary: Row) -> Html:
    """Creates the folded tables with every column of the summary."""
    shown = [(name, summary[name]) for name in RAW if summary.get(name)]
    tables = (details(name, _rows(name, rows[:ROWS_MAX]), _omitted_text(len(rows))) for name, rows in shown)
    return section("All columns", *tables)


def _rows(title: str, rows: Sequence[Row]) -> Html:
    """Creates a table with all columns of some rows."""
    known = list(dict.fromkeys(name for row in rows for name in row))
    texts = [name for name in known if any(isinstance(row.get(name), str) for row in rows)]
    names = texts + [name for name in known if name not in texts]
    cells = [[_cell(row.get(name)) for name in names] for row in rows]
    headings = [Cell(name.replace("_", " "), about=column_meaning(title, name)) for name in names]
    return table(headings, cells, text_columns=len(texts), label=title)


def _cell(value: Any) -> str:
    """Formats a cell."""
    if value is None:
        return MISSING
    if isinstance(value, str):
        return value
    # Five decimals suffice: a queue of a millionth of a packet is shown as 0.
    return number(round(value, 5) if isinstance(value, float) else value)


def _latency_section(summary: Row) -> Html | None:
    """Creates the charts of latency percentiles; None without any."""
    rows = [row for row in summary.get("latencies", ()) if row["count"] > 1]
    if not rows:
        return None
    plotted = [
        ChartSeries(row["class"], KINDS[index % len(KINDS)], _percentiles(row)) for index, row in enumerate(rows)
    ]
    cards = []
    for first in range(0, len(plotted), len(KINDS)):
        some = plotted[first : first + len(KINDS)]
        chart = grouped_chart("Latency of requests by percentile", ChartAxis("percentile", "µs"), some)
        cards.append(
            element("div", element("h3", "Latency by percentile, µs"), legend(some), chart, class_="card wide")
        )
    return section("Latency distribution", element("div", *cards, class_="many"))


def _percentiles(row: Row) -> tuple[SeriesPoint, ...]:
    """Returns the percentiles of a class as points of a chart."""
    known = percentiles(row)
    shown = [(place, label, known[key]) for place, (key, (label, _)) in enumerate(TAIL.items()) if key in known]
    return tuple(SeriesPoint(float(place), value, label=label) for place, label, value in shown)


def _over_time(series: Sequence[Row], cores: Sequence[Row]) -> Html | None:
    """Creates a chart for every quantity that a host has; None without a time series."""
    cards = [card for column, what in OVER_TIME.items() for card in _charts(series, column, what)]
    cards += [card for column, what in CORES_OVER_TIME.items() for card in _charts(cores, column, what)]
    if not cards:
        return None
    note = "Time begins with the measuring window."
    return section("Over time", element("div", *cards, class_="pair"), note=note)


def _charts(series: Sequence[Row], column: str, what: tuple[str, str]) -> Iterator[Html]:
    """Yields the charts of a quantity with the given title and unit, a few hosts in each."""
    title, unit = what
    hosts = list(dict.fromkeys(row["host"] for row in series))
    hosts_with_values = [host for host in hosts if any(row[column] for row in series if row["host"] == host)]
    for first in range(0, len(hosts_with_values), len(KINDS)):
        plotted = [
            _curve(series, column, host, kind) for host, kind in zip(hosts_with_values[first:], KINDS, strict=False)
        ]
        heading = f"{title}{f', {unit}' if unit else ''}"
        chart = line_chart(
            f"{heading}, over time", ChartAxis("time, µs", unit, whole_x=False, x_floor=0.0), plotted, wide=True
        )
        yield element("div", element("h3", heading), legend(plotted), chart, class_="card wide")


def _curve(series: Sequence[Row], column: str, host: str, kind: str) -> ChartSeries:
    """Returns the series of one host."""
    own = [row for row in series if row["host"] == host and row[column] is not None]
    return thinned(ChartSeries(host, kind, tuple(SeriesPoint(row["time_us"], float(row[column])) for row in own)))

"""The picture of the host, and beside it what is known of each of the four domains."""

from __future__ import annotations

from collections.abc import Sequence

from hostnet.pools import rows_of_own_parts
from hostnet.report.charts import meter
from hostnet.report.host import ALL, Host, Way, host_of
from hostnet.report.html import Child, Html, element, facts, join, section
from hostnet.report.links import links_picture
from hostnet.report.load import Row, RunFiles
from hostnet.report.numbers import number, percent, with_ci95
from hostnet.report.picture import badge, compact, host_picture
from hostnet.report.sockets import links_of, sockets_of
from hostnet.report.words import listed

NOTE = (
    "Numbered lanes are the domains; each has a mark at every hop that its lines pass while they hold a credit. "
    "Bars show the mean number of entries in use out of all. A thick lane and a framed bar limit a workload."
)

NOTE_OF_SOCKETS = (
    "Each socket has its own picture. Between the sockets stand the directions of UPI, with the share of its bandwidth "
    "that each uses for lines and all that goes with them. A lane has a mark at UPI where lines cross to another "
    "socket, and at the memory where they are at home."
)


def picture_section(run: RunFiles) -> Html | None:
    """The host with its hops, and its domains."""
    host = host_of(run)
    if not host.pools:
        return None
    cards = [way_card(run, host, way) for way in host.ways]
    sockets, links = sockets_of(run, host), links_of(run)
    title = "The host and its domains"
    if sockets and links:
        between = element("div", links_picture(links), class_="card picture")
        ways = element("div", *cards, class_="ways many-ways")
        return section(title, between, sockets_grid(sockets), ways, note=f"{NOTE} {NOTE_OF_SOCKETS}")
    drawing = element("div", host_picture(host), class_="card picture")
    return section(
        title,
        element("div", drawing, element("div", *cards, class_="ways"), class_="map"),
        note=NOTE,
    )


def sockets_grid(sockets: Sequence[Host]) -> Html:
    """The sockets side by side."""
    cards = [
        element("div", element("h3", f"Socket {socket.socket}"), host_picture(socket), class_="card socket")
        for socket in sockets
    ]
    return element("div", *cards, class_="sockets few" if len(sockets) in (2, 4) else "sockets")


def way_card(run: RunFiles, host: Host, way: Way) -> Html:
    """A domain: its path, credits, latency, throughput, and who holds the credits."""
    row, rows = host.pools[way.domain].row, run.summary.get("domains", [])
    limited = host.binding.get(way.domain, ())
    mark = element(
        "svg", badge(way, 9, 9, binding=bool(limited)), viewBox="0 0 18 18", aria_hidden="true", class_="mark"
    )
    tag = element("span", f"limits {listed(limited)}", class_="tag") if limited else None
    head = element("h3", mark, element("span", way.domain), tag)
    return element(
        "div",
        head,
        element("p", way.words, class_="sub"),
        facts([*way_facts(row, way), *own_facts(run, way)]),
        element("p", little_law(row), class_="law") if little_law(row) else None,
        holders(way, rows),
        class_=f"card way edge-{way.kind}{' binding' if limited else ''}",
    )


def way_facts(row: Row, way: Way) -> list[tuple[str, Child]]:
    """Credits, latency and throughput."""
    capacity, in_use, latency = row["capacity"], row["in_use_mean"], row["latency_mean_ns"]
    used = None
    if in_use is not None:
        words = (
            f"{number(in_use)} of {compact(capacity)} ({percent(in_use / capacity, 0)})" if capacity else number(in_use)
        )
        used = element("span", meter(in_use, capacity, peak=row.get("in_use_max"), kind=way.kind), words, class_="used")
    shared = row.get("shares_capacity_with")
    tail = row.get("latency_p99_ns")
    return [
        (f"Credits in use{f', shared in {shared}' if shared else ''}", used),
        ("Latency", f"{with_ci95(latency, row.get('latency_ci95'))} ns" if latency is not None else None),
        ("99th percentile", f"{number(tail)} ns" if tail is not None else None),
        (
            "Throughput",
            f"{number(row['throughput_gb_per_s'])} GB/s" if row["throughput_gb_per_s"] is not None else None,
        ),
    ]


def own_facts(run: RunFiles, way: Way) -> list[tuple[str, Child]]:
    """The pools by which the domain limits workloads, where those use some parts of it only."""
    own = [row for row in rows_of_own_parts(run.summary) if row["binds"] == way.domain]
    return [(str(row["domain"]), f"{number(row['in_use_mean'])} of {compact(row['capacity'])}") for row in own]


def little_law(row: Row) -> str | None:
    """The three quantities as the law that joins them."""
    in_use, latency, throughput = row["in_use_mean"], row["latency_mean_ns"], row["throughput_gb_per_s"]
    if not in_use or not latency or throughput is None:
        return None
    return f"{number(in_use)} credits × 64 B / {number(latency)} ns ≈ {number(throughput)} GB/s"  # noqa: RUF001


def holders(way: Way, rows: Sequence[Row]) -> Html | None:
    """Which workloads hold the credits, where there are several."""
    own = [row for row in rows if row["domain"] == way.domain and row["part"] == ALL and row["workload"] != ALL]
    known = [(str(row["workload"]), row["in_use_mean"]) for row in own if row["in_use_mean"]]
    if len(own) < 2 or not known:
        return None
    known.sort(key=lambda entry: -entry[1])
    return element(
        "p", join(["Held by ", listed([f"{name} {number(in_use)}" for name, in_use in known])]), class_="sub"
    )

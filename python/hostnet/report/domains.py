"""Section with the picture of the host and a card for each of the four domains."""

from __future__ import annotations

from collections.abc import Sequence

from hostnet.pools import partial_pool_rows
from hostnet.report.charts import meter
from hostnet.report.descriptions import list_text
from hostnet.report.host import ALL, DomainPath, HostView, host_of
from hostnet.report.html import Child, Html, element, fact_list, join, section
from hostnet.report.links import links_picture
from hostnet.report.load import Row, RunFiles
from hostnet.report.numbers import number, percent, with_ci95
from hostnet.report.picture import badge, compact, host_picture
from hostnet.report.sockets import links_of, sockets_of

NOTE = (
    "Numbered lanes are the domains; each has a mark at every hop that its lines pass while they hold a credit. "
    "Bars show the mean number of entries in use out of all. A thick lane and a framed bar limit a workload."
)

NOTE_OF_SOCKETS = (
    "Each socket has its own picture. Arrows between the sockets are the directions of UPI, with the share of its "
    "bandwidth that each uses, including protocol overhead. A lane has a mark at UPI if its lines cross to another "
    "socket, and at the memory of their home socket."
)


def picture_section(run: RunFiles) -> Html | None:
    """Creates the section; None without pools."""
    host = host_of(run)
    if not host.pools:
        return None
    cards = [domain_card(run, host, way) for way in host.ways]
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


def sockets_grid(sockets: Sequence[HostView]) -> Html:
    """Places the pictures of the sockets side by side."""
    cards = [
        element("div", element("h3", f"Socket {socket.socket}"), host_picture(socket), class_="card socket")
        for socket in sockets
    ]
    return element("div", *cards, class_="sockets few" if len(sockets) in (2, 4) else "sockets")


def domain_card(run: RunFiles, host: HostView, domain_path: DomainPath) -> Html:
    """Creates the card of a domain: path, credits, latency, throughput, and holders of its credits."""
    row, rows = host.pools[domain_path.domain].row, run.summary.get("domains", [])
    limited = host.binding.get(domain_path.domain, ())
    mark = element(
        "svg", badge(domain_path, 9, 9, binding=bool(limited)), viewBox="0 0 18 18", aria_hidden="true", class_="mark"
    )
    tag = element("span", f"limits {list_text(limited)}", class_="tag") if limited else None
    head = element("h3", mark, element("span", domain_path.domain), tag)
    return element(
        "div",
        head,
        element("p", domain_path.words, class_="sub"),
        fact_list([*domain_facts(row, domain_path), *own_facts(run, domain_path)]),
        element("p", little_law(row), class_="law") if little_law(row) else None,
        holders_text(domain_path, rows),
        class_=f"card way edge-{domain_path.kind}{' binding' if limited else ''}",
    )


def domain_facts(row: Row, domain_path: DomainPath) -> list[tuple[str, Child]]:
    """Returns credits, latency and throughput of a domain."""
    capacity, in_use, latency = row["capacity"], row["in_use_mean"], row["latency_mean_ns"]
    used = None
    if in_use is not None:
        words = (
            f"{number(in_use)} of {compact(capacity)} ({percent(in_use / capacity, 0)})" if capacity else number(in_use)
        )
        used = element(
            "span", meter(in_use, capacity, peak=row.get("in_use_max"), kind=domain_path.kind), words, class_="used"
        )
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


def own_facts(run: RunFiles, domain_path: DomainPath) -> list[tuple[str, Child]]:
    """Returns the pools by which the domain limits workloads that use only some of its parts."""
    own = [row for row in partial_pool_rows(run.summary) if row["binds"] == domain_path.domain]
    return [(str(row["domain"]), f"{number(row['in_use_mean'])} of {compact(row['capacity'])}") for row in own]


def little_law(row: Row) -> str | None:
    """Formats Little's law for a domain."""
    in_use, latency, throughput = row["in_use_mean"], row["latency_mean_ns"], row["throughput_gb_per_s"]
    if not in_use or not latency or throughput is None:
        return None
    return f"{number(in_use)} credits × 64 B / {number(latency)} ns ≈ {number(throughput)} GB/s"  # noqa: RUF001


def holders_text(domain_path: DomainPath, rows: Sequence[Row]) -> Html | None:
    """Lists the workloads that hold the credits, if there are several."""
    own = [row for row in rows if row["domain"] == domain_path.domain and row["part"] == ALL and row["workload"] != ALL]
    known = [(str(row["workload"]), row["in_use_mean"]) for row in own if row["in_use_mean"]]
    if len(own) < 2 or not known:
        return None
    known.sort(key=lambda entry: -entry[1])
    return element(
        "p", join(["Held by ", list_text([f"{name} {number(in_use)}" for name, in_use in known])]), class_="sub"
    )

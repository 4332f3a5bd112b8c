"""Cards of the classes of traffic beside the picture of their network: rate, limit, reason, and what was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.cluster_view import TAIL, percentiles, throttled_workloads
from hostnet.limit_names import NOT_KNOWN
from hostnet.report.clusters.host_box import badge, kind_of
from hostnet.report.html import Child, Html, element, fact_list
from hostnet.report.numbers import number, percent, with_ci95

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.report.load import Row, RunFiles

CARDS_MAX = 8
"""Maximum number of classes with a card each."""

NO_LIMIT = (NOT_KNOWN, "ended", "nothing measured", "clock", "input", "offered load", "silence", "capture")
"""Limits that hold nothing back, or that are not known."""


def class_cards(run: RunFiles) -> list[Html]:
    """Creates the cards of the first classes, and of the workloads that the control of their host throttles."""
    summary = run.summary
    limits = {row["class"]: row for row in summary.get("limits", ())}
    latencies = {row["class"]: row for row in summary.get("latencies", ())}
    rows = summary.get("classes", ())
    cards = []
    for place, row in enumerate(rows[:CARDS_MAX]):
        name = row["class"]
        own = [flow for flow in run.flows if flow["class"] == name]
        facts = [*ends_facts(own), *trouble_facts(row), *latency_facts(latencies.get(name))]
        cards.append(class_card(place, row, limits.get(name), facts))
    if len(rows) > CARDS_MAX:
        words = f"{len(rows) - CARDS_MAX} more classes are in the table “What limits it” below."
        cards.append(element("p", words, class_="note"))
    return cards + [throttled_card(*reason) for reason in throttled_workloads(summary)]


def class_card(place: int, row: Row, limit: Row | None, facts: Sequence[tuple[str, Child]]) -> Html:
    """Creates the card of a class."""
    mark = element("svg", badge(place, 9, 9), viewBox="0 0 18 18", aria_hidden="true", class_="mark")
    head = element("h3", mark, element("span", row["class"]), limit_tag(limit))
    spread = with_ci95(row["goodput_gbps"], row["goodput_ci95"] or None)
    value, _, half = spread.partition(" ± ")
    rate = element("p", element("b", value), f" ± {half}" if half else None, " Gbps", class_="big")
    why = None if limit is None else element("p", limit["why"], class_="sub")
    return element("div", head, rate, why, fact_list(facts), class_=f"card way edge-{kind_of(place)}{binding(limit)}")


def binding(limit: Row | None) -> str:
    """Returns the style of a card whose class is held back."""
    return "" if limit is None or limit["limit"] in NO_LIMIT else " binding"


def limit_tag(limit: Row | None) -> Html | None:
    """Creates the tag that names a limit and its place."""
    if limit is None or limit["limit"] in NO_LIMIT:
        return None if limit is None else element("span", limit["limit"], class_="tag quiet")
    place = f", {limit['place']}" if limit["place"] else ""
    return element("span", f"limited by {limit['limit']}{place}", class_="tag")


def ends_facts(flows: Sequence[Row]) -> list[tuple[str, Child]]:
    """Returns the number of flows and their hosts."""
    if not flows:
        return []
    begin, serve = (list(dict.fromkeys(row[side] for row in flows)) for side in ("from", "to"))
    return [("Flows", number(len(flows))), ("From", hosts_text(begin)), ("To", hosts_text(serve))]


def hosts_text(hosts: Sequence[str]) -> str:
    """Names a host, or counts several."""
    return hosts[0] if len(hosts) == 1 else f"{len(hosts)} hosts"


def trouble_facts(row: Row) -> list[tuple[str, Child]]:
    """Returns the losses, marks and retransmissions of a class."""
    marked = row["marked_by_host"] / row["sent_packets"] if row["sent_packets"] else 0.0
    by_switch = row["marked_segments"] / row["received_segments"] if row["received_segments"] else 0.0
    nic = row["nic_drop_percent"]
    facts = {
        "Dropped by NICs": f"{number(nic)} %" if nic else None,
        "Dropped in the network": f"{row['fabric_dropped']:,}" if row["fabric_dropped"] else None,
        "Dropped by sockets": f"{row['socket_dropped']:,}" if row["socket_dropped"] else None,
        "Retransmitted": f"{row['retransmitted_packets']:,}" if row["retransmitted_packets"] else None,
        "Timeouts": f"{row['timeouts']:,}" if row["timeouts"] else None,
        "Marked segments": percent(by_switch) if by_switch else None,
        "Packets marked by the host": percent(marked) if marked else None,
    }
    return [(name, value) for name, value in facts.items() if value]


def latency_facts(row: Row | None) -> list[tuple[str, Child]]:
    """Returns the median and the largest percentile of the latency of requests."""
    known = {} if row is None else percentiles(row)
    ends = dict.fromkeys([*list(known)[:1], *list(known)[-1:]])
    return [(f"{TAIL[key][0]} of requests", f"{number(known[key])} µs") for key in ends]


def throttled_card(name: str, limit: str, why: str) -> Html:
    """Creates the card of a workload that the control of its host throttles."""
    head = element("h3", element("span", name), element("span", f"limited by {limit}", class_="tag"))
    return element("div", head, element("p", why, class_="sub"), class_="card way binding")

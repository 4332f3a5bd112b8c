"""Credit pools on the path of a workload, and the names that sentences and tables give them."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Any

from hostnet import _core

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Row = dict[str, Any]

LFB = "LFB"
"""Pool of a stream in the table `domains`. Its domain is C2M-Read or C2M-Write, whichever holds an entry longer."""

LINK_POOLS = ("PCIe posted", "PCIe non-posted")
"""Pools that every PCIe link has."""

PLACE_PREFIXES = ("socket ", "upi ")
"""Prefixes of the parts of a server that are places: sockets, and pairs of a requesting and a responding socket."""

RESPONSE_POOLS = ("UPI data", "UPI answer")
"""Pools of messages from the responding to the requesting socket."""

OTHER_DIRECTIONS = "UPI, other directions"
"""Name of the directions between sockets in which several pools held nothing."""

REMOTE_REQUEST_PLACE = re.compile(r"upi (\d+)-(\d+)")
"""Place between sockets: `upi 0-1` is the traffic that socket 0 requests from socket 1."""

with_directions = _core.with_directions


def pool_row_name(kind: str, domain: str) -> str:
    """Returns the row of the table `domains` that contains the pool of a workload."""
    return LFB if kind == "stream" else domain


def find_pool(facts: Mapping[str, Any], domain: str | None) -> Row | None:
    """Returns the pool of a domain on the path of a workload. With several places, `place` names the fullest."""
    return next((pool for pool in facts.get("pools", ()) if pool["domain"] == domain), None)


def credit_name(kind: str, domain: str | None) -> str:
    """Returns the name of the credits in a pool of a workload, as `limits` shows it beside the name of the domain."""
    if kind == "stream":
        return "LFB entries of its cores"
    return "credits of its links" if domain in LINK_POOLS else "credits"


def rows_by_place(summary: Mapping[str, Any]) -> list[Row]:
    """Returns the rows of `domains` of a server; with several sockets, one row per place instead of their sum.

    One socket or UPI direction cannot use the credits of another.
    """
    places: dict[tuple[str, str], list[Row]] = {}
    for row in summary.get("places") or []:
        places.setdefault((row["domain"], row["workload"]), []).append(row)
    rows: list[Row] = []
    for whole in summary.get("domains") or []:
        own = places.get((whole["domain"], whole["workload"]))
        rows.extend(own or [whole])
    return rows


def row_label(row: Row) -> str:
    """Returns the domain of a row of `domains`, followed by its place if there are several."""
    domain, part = str(row["domain"]), str(row.get("part", ""))
    return f"{domain}, {place_text(domain, part)}" if part.startswith(PLACE_PREFIXES) else domain


def fold_idle_pools(rows: Iterable[Row]) -> Iterator[Row]:
    """Yields rows of pools; those between two sockets that held nothing are merged into one `idle` row.

    A pool that held nothing in any direction keeps a row.
    """
    folded: list[Row] = []
    for domain, group in groupby(rows, key=lambda row: str(row["domain"])):
        own = list(group)
        idle = [
            row for row in own if REMOTE_REQUEST_PLACE.fullmatch(str(row.get("part", ""))) and not row["in_use_mean"]
        ]
        used = [row for row in own if row not in idle]
        if folded and not any(REMOTE_REQUEST_PLACE.fullmatch(str(row.get("part", ""))) for row in own):
            yield merge_idle_rows(folded)
            folded = []
        yield from used
        if idle:
            places = [place_text(domain, str(row["part"])) for row in idle]
            named = f"{domain}, {directions_text(places, len(own))}"
            row = {**dict.fromkeys(idle[0]), "domain": named, "workload": idle[0]["workload"], "idle": True}
            if used:
                folded.append(row)
            else:
                yield row
    if folded:
        yield merge_idle_rows(folded)


def merge_idle_rows(rows: Sequence[Row]) -> Row:
    """Returns one row for idle directions, named after their pool if they belong to one."""
    return rows[0] if len(rows) == 1 else {**rows[0], "domain": OTHER_DIRECTIONS}


def fold_idle_links(rows: Iterable[Row]) -> Iterator[Row]:
    """Yields the UPI links with their `direction`; those without traffic are merged into one `idle` row."""
    told = [{**row, "direction": f"socket {row['from']} to {row['to']}", "idle": not row["gb_per_s"]} for row in rows]
    yield from (row for row in told if not row["idle"])
    idle = [row for row in told if row["idle"]]
    if idle:
        direction = directions_text([row["direction"] for row in idle], len(told))
        yield {**dict.fromkeys(idle[0]), "direction": direction, "idle": True}


def directions_text(idle: Sequence[str], count: int) -> str:
    """Names idle directions between sockets; `count` is the number of all directions."""
    if len(idle) == 1:
        return idle[0]
    return f"all {count} directions" if len(idle) == count else f"{len(idle)} other directions"


def place_text(domain: str, part: str) -> str:
    """Names a place. A place between sockets is named by the direction of its messages, as in UPI tables."""
    request = REMOTE_REQUEST_PLACE.fullmatch(part)
    if request is None:
        return part
    one, other = reversed(request.groups()) if domain in RESPONSE_POOLS else request.groups()
    return f"socket {one} to {other}"


def nonzero_sources(sources: str) -> str:
    """Returns the traffic sources of a channel from the table `channels`, without those of 0.00 GB/s."""
    return ", ".join(source for source in sources.split(", ") if not source.endswith(" 0.00"))


def partial_pool_rows(summary: Mapping[str, Any]) -> list[Row]:
    """Returns rows like those of `domains`, for pools of which a workload uses some parts but not all.

    `binds` names the domain by which such a pool limits its workload.
    """
    whole = {row["domain"]: row for row in summary.get("domains") or [] if row.get("part") == row["workload"] == "all"}
    rows = []
    for facts in summary.get("binding") or []:
        for pool in facts["pools"]:
            name = pool_row_name(facts["kind"], pool["domain"])
            of_a_place = {row["capacity"] for row in summary.get("places") or [] if row["domain"] == name}
            if name not in whole or round(pool["credits"]) in {whole[name]["capacity"], *of_a_place}:
                continue
            rows.append(
                {
                    **dict.fromkeys(whole[name]),
                    "domain": f"{name} of {facts['workload']}",
                    "part": "own",
                    "workload": "all",
                    "capacity": round(pool["credits"]),
                    "in_use_mean": pool["in_use"],
                    "full_share": pool["full_share"],
                    "latency_mean_ns": pool["latency_ns"],
                    "throughput_gb_per_s": pool["gb_per_s"],
                    "binds": pool["domain"],
                }
            )
    return rows

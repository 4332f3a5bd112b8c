"""The pools on the path of a workload, made up of the parts that it uses, as sentences and tables name them."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Row = dict[str, Any]

LFB = "LFB"
"""The pool of a stream, as the table `domains` calls it. C2M-Read or C2M-Write names it, whichever holds it longer."""

LINKS = ("PCIe posted", "PCIe non-posted")
"""Pools that every link has."""

PLACES = ("socket ", "upi ")
"""Prefixes of the parts of a server that are places: sockets, and pairs of one that asks and one that answers."""

ANSWERS = ("UPI data", "UPI answer")
"""Pools of messages that go back from the socket that is asked."""

OTHER_DIRECTIONS = "UPI, other directions"
"""Stands for the directions between sockets in which several pools held nothing."""

ASKED = re.compile(r"upi (\d+)-(\d+)")
"""A place between sockets: `upi 0-1` is what socket 0 requests from socket 1."""

STAGE = re.compile(rf"(UPI [\w-]+) \(at ({ASKED.pattern})")
"""How sentences name a pool or a link between sockets and its place."""


def pool_of(kind: str, domain: str) -> str:
    """The row of the table `domains` that a pool of a workload is some parts of, or all."""
    return LFB if kind == "stream" else domain


def pool_at(facts: Mapping[str, Any], domain: str | None) -> Row | None:
    """The pool of a domain on the path of a workload; `place` says where, if it has several and is fullest there."""
    return next((pool for pool in facts.get("pools", ()) if pool["domain"] == domain), None)


def credits_of(kind: str, domain: str | None) -> str:
    """What the credits of a pool of a workload are, as `limits` has it beside the name of the domain."""
    if kind == "stream":
        return "LFB entries of its cores"
    return "credits of its links" if domain in LINKS else "credits"


def rows_by_place(summary: Mapping[str, Any]) -> list[Row]:
    """Returns the rows of `domains` in the summary of a server; with several sockets, one per place, not their sum.

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


def label_of(row: Row) -> str:
    """Returns the domain of a row of `domains`, with its place if there are several."""
    domain, part = str(row["domain"]), str(row.get("part", ""))
    return f"{domain}, {place_in_words(domain, part)}" if part.startswith(PLACES) else domain


def idle_folded(rows: Iterable[Row]) -> Iterator[Row]:
    """Yields rows of pools; those between two sockets that held nothing share one, which is `idle`.

    A pool that held nothing in any direction has a row of its own.
    """
    folded: list[Row] = []
    for domain, group in groupby(rows, key=lambda row: str(row["domain"])):
        own = list(group)
        idle = [row for row in own if ASKED.fullmatch(str(row.get("part", ""))) and not row["in_use_mean"]]
        used = [row for row in own if row not in idle]
        if folded and not any(ASKED.fullmatch(str(row.get("part", ""))) for row in own):
            yield one_of_idle(folded)
            folded = []
        yield from used
        if idle:
            places = [place_in_words(domain, str(row["part"])) for row in idle]
            named = f"{domain}, {directions_text(places, len(own))}"
            row = {**dict.fromkeys(idle[0]), "domain": named, "workload": idle[0]["workload"], "idle": True}
            if used:
                folded.append(row)
            else:
                yield row
    if folded:
        yield one_of_idle(folded)


def one_of_idle(rows: Sequence[Row]) -> Row:
    """Returns the row of idle directions of one pool, or one for those of several."""
    return rows[0] if len(rows) == 1 else {**rows[0], "domain": OTHER_DIRECTIONS}


def idle_links_folded(rows: Iterable[Row]) -> Iterator[Row]:
    """Yields the directions of UPI, each with its `direction`; those that carried nothing share one that is `idle`."""
    told = [{**row, "direction": f"socket {row['from']} to {row['to']}", "idle": not row["gb_per_s"]} for row in rows]
    yield from (row for row in told if not row["idle"])
    idle = [row for row in told if row["idle"]]
    if idle:
        direction = directions_text([row["direction"] for row in idle], len(told))
        yield {**dict.fromkeys(idle[0]), "direction": direction, "idle": True}


def directions_text(idle: Sequence[str], count: int) -> str:
    """Names idle directions between sockets, of `count` in all."""
    if len(idle) == 1:
        return idle[0]
    return f"all {count} directions" if len(idle) == count else f"{len(idle)} other directions"


def place_in_words(domain: str, part: str) -> str:
    """Names a place; one between sockets by the way that messages of the pool go, as tables of UPI do."""
    asked = ASKED.fullmatch(part)
    if asked is None:
        return part
    one, other = reversed(asked.groups()) if domain in ANSWERS else asked.groups()
    return f"socket {one} to {other}"


def nonzero_sources(sources: str) -> str:
    """Returns what the sources of a channel's traffic move, as the table `channels` has it, without what is 0.00."""
    return ", ".join(source for source in sources.split(", ") if not source.endswith(" 0.00"))


def with_directions(text: str) -> str:
    """A sentence of what limits a workload, with places between sockets in words."""
    return STAGE.sub(lambda stage: f"{stage[1]} (at {place_in_words(stage[1], stage[2])}", text)


def rows_of_own_parts(summary: Mapping[str, Any]) -> list[Row]:
    """Rows like those of the table `domains`, for pools of which a workload uses some parts and not all.

    `binds` names the domain by which such a pool limits its workload.
    """
    whole = {row["domain"]: row for row in summary.get("domains") or [] if row.get("part") == row["workload"] == "all"}
    rows = []
    for facts in summary.get("binding") or []:
        for pool in facts["pools"]:
            name = pool_of(facts["kind"], pool["domain"])
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

"""What a run of the network alone was, and what came of it, in words."""

from __future__ import annotations

from typing import Any

from hostnet.units import share_in_words

Row = dict[str, Any]

FULL = 0.95
"""A link that is busy for this share of the cycles holds up what waits for it."""


def network_text(summary: Row) -> str:
    """The network, in one line."""
    noc, written = summary["noc"], summary["config"]["noc"]
    shape = f"ring of {noc['nodes']}" if noc["topology"] == "ring" else f"mesh {noc['columns']}x{noc['rows']}"
    parts = [shape, *([written["routing"]] if "routing" in written else [])]
    several = f"{written['classes']} classes of " if written["classes"] > 1 else ""
    vcs, flits = (counted(written[key], noun) for key, noun in (("vcs", "virtual channel"), ("vc_flits", "flit")))
    parts.append(f"{several}{vcs} of {flits}")
    parts.append(f"{written['router']['allocation']} allocation")
    return ", ".join([*parts, f"flits of {written['flit']}", written["clock"]])


def packets_text(summary: Row) -> str:
    """The packets, in a few words."""
    config = summary["config"]
    if "trace" in config:
        return f"trace {config['trace']['path']}"
    traffic = config["traffic"]
    spots = traffic.get("hotspots")
    pattern = traffic["pattern"] + (f" {','.join(map(str, spots))}" if spots else "")
    length = counted(traffic["packet_flits"], "flit")
    return f"{pattern}, {traffic['rate']:g} flits/node/cycle, packets of {length}, seed {traffic['seed']}"


def counted(number: int, noun: str) -> str:
    """A number of things."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def fullest(summary: Row) -> Row | None:
    """The link that is busy most, if anything was measured."""
    if not summary["cycles"]["measured"] or not summary["links"]:
        return None
    row: Row = max(summary["links"], key=lambda row: row["flits"])
    return row


def verdict(summary: Row) -> str:
    """Whether the network took what it was offered, and what held it up if it did not. No more than can be told."""
    link, saturation = fullest(summary), summary["saturation"]
    if link is None:
        return "Nothing was measured yet."
    share = share_in_words(link["busy_share"])
    if saturation["saturated"]:
        grown = saturation["backlog_after"] - saturation["backlog_before"]
        start = f"Saturated: {grown:,} more flits were waiting at the end than at the beginning."
        if link["busy_share"] >= FULL:
            return f"{start} {link['link']} is full: busy in {share} of the cycles."
        return (
            f"{start} No link is full (at most {link['link']}, busy in {share} of the cycles): packets wait for "
            "virtual channels, buffers and turns at crossbars before wires are full."
        )
    took = f"The fullest link is {link['link']}, busy in {share} of the cycles."
    if saturation["saturated"] is None:
        return f"Whether the network is saturated cannot be told from this run. {took}"
    mean, alone = (summary["latency"][name]["mean_cycles"] for name in ("packet", "zero_load"))
    waiting = "" if mean is None or not alone else f" Of {mean:.1f} cycles, packets wait {mean - alone:.1f}."
    return f"Not saturated: what is offered is accepted.{waiting} {took}"

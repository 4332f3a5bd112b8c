"""Sentences about a run of a network on a chip alone."""

from __future__ import annotations

from typing import Any

from hostnet.units import share_text

Row = dict[str, Any]

FULL = 0.95
"""Busy share at or above which a link is considered saturated."""


def network_text(summary: Row) -> str:
    """Describes the network in one line."""
    noc, written = summary["noc"], summary["config"]["noc"]
    shape = f"ring of {noc['nodes']}" if noc["topology"] == "ring" else f"mesh {noc['columns']}x{noc['rows']}"
    parts = [shape, *([written["routing"]] if "routing" in written else [])]
    several = f"{written['classes']} classes of " if written["classes"] > 1 else ""
    vcs, flits = (count_text(written[key], noun) for key, noun in (("vcs", "virtual channel"), ("vc_flits", "flit")))
    parts.append(f"{several}{vcs} of {flits}")
    parts.append(f"{written['router']['allocation']} allocation")
    return ", ".join([*parts, f"flits of {written['flit']}", written["clock"]])


def packets_text(summary: Row) -> str:
    """Describes the packets."""
    config = summary["config"]
    if "trace" in config:
        return f"trace {config['trace']['path']}"
    traffic = config["traffic"]
    spots = traffic.get("hotspots")
    pattern = traffic["pattern"] + (f" {','.join(map(str, spots))}" if spots else "")
    length = count_text(traffic["packet_flits"], "flit")
    return f"{pattern}, {traffic['rate']:g} flits/node/cycle, packets of {length}, seed {traffic['seed']}"


def count_text(number: int, noun: str) -> str:
    """Formats a number of things."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def most_loaded_link(summary: Row) -> Row | None:
    """Returns the busiest link, or None if nothing was measured."""
    if not summary["cycles"]["measured"] or not summary["links"]:
        return None
    row: Row = max(summary["links"], key=lambda row: row["flits"])
    return row


def saturation_text(summary: Row) -> str:
    """Says whether the network accepted its offered load, and its bottleneck if not."""
    link, saturation = most_loaded_link(summary), summary["saturation"]
    if link is None:
        return "Nothing was measured yet."
    share = share_text(link["busy_share"])
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
        return f"This run does not show whether the network is saturated. {took}"
    mean, alone = (summary["latency"][name]["mean_cycles"] for name in ("packet", "zero_load"))
    waiting = "" if mean is None or not alone else f" Of {mean:.1f} cycles, packets wait {mean - alone:.1f}."
    return f"Not saturated: what is offered is accepted.{waiting} {took}"

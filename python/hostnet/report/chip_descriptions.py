"""Sentences about a run of a chip."""

from __future__ import annotations

from typing import Any

from hostnet.notes import STOPPED
from hostnet.units import format_percent

PLACEMENTS = {
    "edge": "NIs at the edge",
    "per-tile": "NIs in every tile",
    "split": "NIs split between tiles and edge",
    "numa": "loads and stores without NIs",
}

MODES = {
    "turns": "one core after the other",
    "sync": "every core one at a time",
    "async": "as many as the work queues hold",
}


PATTERNS = {
    "uniform": "of all other chips",
    "distance": "of the chips {hops} away",
    "shift": "of one chip {hops} away",
}


def chip_headline(summary: dict[str, Any]) -> str:
    """Describes the chip in one line."""
    config = summary["config"]
    chip, noc = config["chip"], config["noc"]
    name = chip.get("preset", "custom chip")
    columns, rows = chip["columns"], chip["rows"]
    if noc["topology"] == "mesh":
        tiles, network = f"{columns} x {rows} tiles", f"mesh routed {noc['routing']}"
    else:
        tiles, network = f"{columns} LLC tiles of {rows} cores", "NOC-Out"
    text = f"{name}, {tiles} at {chip['clock']}, {PLACEMENTS[config['ni']['placement']]}, {network}"
    if "rack" not in summary:
        return text
    rack = summary["rack"]
    return f"{rack['chips']} chips on a torus of {' x '.join(map(str, rack['size']))}: {text}"


def chip_workload(summary: dict[str, Any]) -> str:
    """Describes the workload of its cores in one line."""
    workload, rack = summary["config"]["workload"], summary["config"]["rack"]
    count = rack.get("hops", 0)
    hops = f"{count} hop{'s' if count > 1 else ''}"
    hops = f"{hops} away" if "rack" not in summary else PATTERNS[rack["pattern"]].format(hops=hops)
    kinds = f"{workload['writes']} % writes, all else reads," if workload["op"] == "mixed" else f"{workload['op']}s"
    what = f"{kinds} of {workload['size']}, {hops}, by cores {workload['cores']}"
    return f"{what}, {MODES[workload['mode']]}; seed {summary['seed']}"


def chip_reason(summary: dict[str, Any]) -> str:
    """Explains the result."""
    limit = summary["limit"]
    if limit is None or not summary["operations"]:
        return "No operation ended in the window, so there is nothing to explain."
    mean = ", as the mean of all chips," if "rack" in summary else ","
    fullest = f"the fullest link, {limit['link']}{mean} is busy {format_percent(limit['share'], 1)} of the time"
    if limit["by"] == "latency":
        return f"Nothing is full: {fullest}. The latency is the sum of its parts."
    if limit["by"] == "link":
        return f"The network on the chip limits: {fullest}."
    return (
        f"No link is full: {fullest}. Operations wait for each other elsewhere: in queues, pipelines, or buffers "
        "behind messages that are blocked; hostnet explain raises every limit alone and says which of them helps."
    )


def chip_notes(summary: dict[str, Any]) -> list[str]:
    """Returns notes on the validity of the results."""
    notes = []
    if not summary["complete"]:
        notes.append(STOPPED)
    elif not summary["stable"]:
        change = summary["change"]
        differ = "were not compared" if change is None else f"differ by {format_percent(change, 1)}"
        notes.append(f"the last windows {differ}; run.window and run.max make the run longer")
    return notes
